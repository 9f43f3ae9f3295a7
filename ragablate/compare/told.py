"""How the terms of an analysis are put into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragablate.compare import phrases, sentences
from ragablate.compare.inference.states import FEWEST_CHANGED, floor_changed
from ragablate.compare.labels import Licence, denial
from ragablate.compare.numbers import (
    about,
    between,
    confidence_text,
    count,
    margin_text,
    p_text,
    plain,
)
from ragablate.records import Analysis, Effect, Factor, State, Study

STATES: dict[State, str] = {
    "up": "up",
    "down": "down",
    "flat": "within the margin",
    "unclear": "not decided",
    "refused": "not measured",
}
"""A state in a list of terms."""


@dataclass(frozen=True, slots=True)
class Teller:
    """The words of one analysis."""

    study: Study
    """The study."""
    analysis: Analysis
    """The analysis."""

    @property
    def measure(self) -> str:
        """The measure in words."""
        return phrases.measure(self.study, self.analysis.measure)

    @property
    def judges_answers(self) -> bool:
        """Whether more of the measure means better answers."""
        known = self.study.measures.get(self.analysis.measure)
        return known is None or (known.stage == "read" and known.higher_is_better is True)

    @property
    def directions(self) -> tuple[str, str]:
        """What a rise and a fall of the measure are."""
        known = self.study.measures.get(self.analysis.measure)
        good = known is None or known.higher_is_better is True
        return ("better", "worse") if good else ("up", "down")

    @property
    def margin(self) -> str:
        """The declared margin."""
        return margin_text(self.analysis.margin)

    # ── what was done ───────────────────────────────────────────────────────────────────

    def replacing(self, factor: Factor) -> str:
        """The exchange of one variable's level, as a gerund."""
        if self.analysis.kind == "attribution":
            return f"taking the {factor.variable} of the other pipeline"
        return phrases.replacement(factor.variable, factor.control_level, factor.level)

    def everything(self) -> str:
        """The exchange of every variable, as a gerund."""
        factors = self.analysis.factors
        if self.analysis.kind == "attribution":
            return f"taking {listing([f'the {f.variable}' for f in factors])} of the other pipeline"
        doing = listing([self.replacing(factor) for factor in factors])
        return f"{doing}{' together' if len(factors) > 1 else ''}"

    # ── numbers ─────────────────────────────────────────────────────────────────────────

    def moves(self, effect: Effect) -> str:
        """How many questions changed and which way."""
        changed = effect.better + effect.worse
        if not changed:
            return "no question changed"
        up, down = self.directions
        return f"{count(changed, 'question')} changed: {effect.better} {up}, {effect.worse} {down}"

    def test(self, effect: Effect) -> str:
        """The p-value, with Holm's adjustment where the family raises it."""
        if effect.p is None or effect.p_adjusted is None:
            return "no test"
        kind = "exact" if effect.p_exact else "Monte Carlo"
        holm = "" if effect.p_adjusted == effect.p else f", Holm {p_text(effect.p_adjusted)}"
        return f"{kind} p = {p_text(effect.p)}{holm}"

    def statistics(self, effect: Effect) -> str:
        """Interval, test and counts, without the brackets."""
        if effect.ci95 is None:
            return self.moves(effect)
        interval = f"{confidence_text(effect.ci95)} {between(effect.ci95, phrases.places(effect))}"
        return f"{interval}; {self.test(effect)}; {self.moves(effect)}"

    def equivalence(self, effect: Effect) -> str:
        """The interval equivalence is judged by, and the counts."""
        if effect.ci90 is None:
            return self.moves(effect)
        interval = f"{confidence_text(effect.ci90)} {between(effect.ci90, 3)}"
        return f"{interval}; {self.moves(effect)}"

    def figure(self, effect: Effect) -> str:
        """Estimate, interval, test and counts: ``+0.11 (95 % CI …)``."""
        flat = effect.state == "flat"
        inside = self.equivalence(effect) if flat else self.statistics(effect)
        return f"{phrases.number(effect)} ({inside})"

    def item(self, effect: Effect) -> str:
        """Estimate and interval with the state, for a list of terms."""
        if effect.ci95 is None or effect.effect is None:
            return STATES["refused"]
        interval = f"{confidence_text(effect.ci95)} {between(effect.ci95, phrases.places(effect))}"
        return f"{phrases.number(effect)} ({interval}; {self.test(effect)}; {STATES[effect.state]})"

    # ── sentences ───────────────────────────────────────────────────────────────────────

    def headline(self, effect: Effect, doing: str, held: str) -> tuple[str, ...]:
        """What a change did, and what the data leave open where it is unclear."""
        opening = f"On {phrases.questions(effect)}, {held},"
        if effect.state in ("up", "down"):
            return (f"{opening} {doing} changed {self.measure} by {self.figure(effect)}.",)
        if effect.state == "flat":
            return (
                f"{opening} {doing} made no difference larger than the margin of {self.margin} "
                f"to {self.measure}: {self.figure(effect)}.",
            )
        return (
            f"{opening} it is not decided whether {doing} changes {self.measure}: "
            f"{self.figure(effect)}.",
            *self.still_open(effect),
        )

    def association(self, effect: Effect, licence: Licence) -> str:
        """A difference between two arms that is put down to nothing."""
        reasons = " ".join(phrases.sentence(reason) for reason in licence.reasons)
        return (
            f"On {phrases.questions(effect)}, {self.measure} differs by "
            f"{phrases.number(effect)} between '{effect.arms[1]}' and '{effect.arms[0]}' "
            f"({self.statistics(effect)}), and no term is attributed. "
            f"{denial(licence.label, 'what was changed')}. {reasons}"
        )

    def still_open(self, effect: Effect) -> tuple[str, ...]:
        """Why an effect is unclear, and what would decide it."""
        changed = effect.better + effect.worse
        found = []
        if 0 < changed < max(FEWEST_CHANGED, floor_changed(1, self.study.alpha)):
            found.append(
                f"Only {count(changed, 'question')} changed; at least {FEWEST_CHANGED} must "
                "change before any difference can be detected."
            )
        if effect.detail == "borderline":
            found.append("The test and the interval do not agree, so nothing is claimed.")
        if effect.detail == "errors could flip it":
            found.append("The missing answers could flip this.")
        else:
            found.append(sentences.planning(effect))
        return tuple(found)

    def apart(self, effect: Effect | None, doing: str) -> tuple[str, ...]:
        """What a change did where the right answer is to abstain."""
        if effect is None or effect.control_mean is None or effect.treatment_mean is None:
            return ()
        at = phrases.places(effect)
        span = f"from {plain(effect.control_mean, at)} to {plain(effect.treatment_mean, at)}"
        return (
            f"On {phrases.questions(effect)}, where the right answer is to abstain and which "
            f"count apart, {self.measure} goes {span} on {doing}: {self.figure(effect)}, "
            f"{STATES[effect.state]}.",
        )

    def settle(self, effects: Iterable[Effect]) -> str:
        """How many questions would decide what is open, as a phrase; empty where nothing is."""
        unclear = [effect for effect in effects if effect.state == "unclear"]
        if any(effect.detail == "errors could flip it" for effect in unclear):
            return "fill in the missing answers: run the same command again"
        needed = [(e.needed_n, e) for e in unclear if e.needed_n is not None]
        if not needed:
            return ""
        most, effect = max(needed, key=lambda pair: pair[0])
        if most <= effect.n:
            return f"more than the {effect.n:,} questions of this set, to decide {effect.measure}"
        return (
            f"about {about(most)} {effect.population} questions to decide {effect.measure} "
            f"(this set has {effect.n:,})"
        )


def listing(items: Sequence[str]) -> str:
    """Items as a phrase: ``a``, ``a and b``, ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def capital(text: str) -> str:
    """A phrase with its first letter raised."""
    return text[:1].upper() + text[1:]

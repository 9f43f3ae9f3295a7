"""A ladder in words, for somebody who has to decide what to mend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragablate.compare import phrases
from ragablate.compare.case import Case
from ragablate.compare.inference.intervals import rate_interval
from ragablate.compare.ladder_naming import Ranked
from ragablate.compare.ladder_rungs import (
    DISTRACTOR,
    GATE,
    JOINT,
    LABEL,
    READER,
    READER_OR_LABEL,
    Climb,
)
from ragablate.compare.ladder_terms import Terms, reader_and_label
from ragablate.compare.numbers import (
    about,
    between,
    confidence_text,
    count,
    decimals,
    p_text,
    percent,
    plain,
    rate_between,
)
from ragablate.compare.populations import clusters
from ragablate.compare.scores import mean_of
from ragablate.records import Agreement, Share, Term

_NAMES = {
    GATE: "the gate",
    DISTRACTOR: "distractors",
    READER: "the reader",
    LABEL: "source or label",
    READER_OR_LABEL: "reader or label",
}


@dataclass(frozen=True, slots=True)
class Ladder:
    """Everything a ladder found, ready to be told."""

    climbed: Climb
    """The questions on their rungs."""
    case: Case
    """The oracle context against control without its gate."""
    terms: Terms
    """What is lost where."""
    ranked: Ranked
    """Which loss is the largest."""
    dependent: tuple[int, Terms | None]
    """Questions the reader never answers without context, and the terms on them."""
    agreement: tuple[Agreement, ...]
    """Log buckets and first fixing rungs."""
    shares: tuple[Share, ...]
    """Sufficiency, necessity and refusals."""
    averaged: tuple[Term, ...] = ()
    """Assembly and retrieval over both orders of repairing them, where that was asked for."""

    @property
    def places(self) -> int:
        """Decimals that losses are written with."""
        return decimals(len(self.climbed.complete), self.case.contrast.margin)

    @property
    def gated(self) -> bool:
        """Whether control has a gate, which the first rung takes out."""
        return self.climbed.steps[0].name == GATE

    def share(self, name: str) -> Share | None:
        """One of the shares, where it was measured."""
        return next((share for share in self.shares if share.name == name), None)


def name_of(stage: str) -> str:
    """A stage or term as it is called within a sentence."""
    return _NAMES.get(stage, stage)


def opening(ladder: Ladder) -> str:
    """What control lacks, and where it is lost."""
    case, at = ladder.case, ladder.places
    score = float(ladder.climbed.mean(ladder.climbed.steps[0].before))
    terms = ladder.terms.by_name
    losses = [f"{name_of(t.name)} {plain(t.value, at)}" for t in terms.values() if t.name != JOINT]
    joint = plain(terms[JOINT].value, at)
    return (
        f"On {phrases.questions(case.primary)}, with reader {case.study.reader} held fixed, "
        f"control scores {plain(score, at)} on {case.contrast.measure}. The "
        f"{plain(1 - score, at)} it lacks is lost to {', '.join(losses)}; {joint} takes more than "
        "one fix."
    )


def gap(ladder: Ladder) -> str:
    """What exactly the gold would change."""
    case = ladder.case
    name = phrases.measure(case.study, case.contrast.measure)
    start = "Without its gate and with" if ladder.gated else "With"
    return f"{start} exactly the gold as context, {phrases.brief(case, case.primary, name)}."


def naming(ladder: Ladder) -> tuple[str, ...]:
    """The stage that loses the most, or those among which it is."""
    ranked, terms = ladder.ranked, ladder.terms.by_name
    if ranked.named:
        term = terms[ranked.named]
        stage = phrases.sentence(name_of(term.name))[:-1]
        verb = "lose" if term.name == DISTRACTOR else "loses"
        return (f"{stage} {verb} the most, more than every other stage: {_loss(ladder, term)}.",)
    if not ranked.candidates:
        return ("No stage loses anything on these questions.",)
    top, *others = ranked.candidates
    value = plain(terms[top].value, ladder.places)
    if not others:
        return (
            f"The largest loss is that of {name_of(top)} ({value}), but it is not detected by "
            "itself, so no stage is named.",
        )
    rest = listed([f"{name_of(o)} ({plain(terms[o].value, ladder.places)})" for o in others])
    apart = ", source or label apart," if LABEL in terms and terms[LABEL].value else ""
    return (
        f"Which stage{apart} loses the most is not decided: the largest loss, that of "
        f"{name_of(top)} ({value}), cannot be told from that of {rest}.",
    )


def _loss(ladder: Ladder, term: Term) -> str:
    at, interval = ladder.places, term.ci95
    if interval is None:
        return plain(term.value, at)
    if term.p is None or term.p_adjusted is None:
        limits = f"{confidence_text(interval)} {rate_between(interval, at)}"
        return f"{plain(term.value, at)} ({limits}; {count(term.fixed, 'question')})"
    return (
        f"{plain(term.value, at)} ({confidence_text(interval)} {between(interval, at)}; exact "
        f"p = {p_text(term.p)}, Holm {p_text(term.p_adjusted)}; the repair fixed {term.fixed} and "
        f"broke {term.broke})"
    )


def worsened(ladder: Ladder) -> Iterator[str]:
    """Repairs that made answers worse."""
    for term in ladder.terms.terms:
        if term.p is not None and term.state == "down":
            yield (f"Repairing {name_of(term.name)} made answers worse: {_loss(ladder, term)}.")


def reasons(ladder: Ladder) -> tuple[str, ...]:
    """Losses by what was observed of them."""
    found = [
        f"{name_of(term.name)} ({_parts(ladder, term)})"
        for term in ladder.terms.terms
        if term.name != JOINT and any(term.reasons.values())
    ]
    if not found:
        return ()
    return (f"What was observed where answers were lost, not proven to be why: {listed(found)}.",)


def _parts(ladder: Ladder, term: Term) -> str:
    parts = sorted(term.reasons.items(), key=lambda part: (-part[1], part[0]))
    return ", ".join(
        f"{reason.replace('_', ' ')} {plain(value, ladder.places)}" for reason, value in parts
    )


def joint(ladder: Ladder) -> tuple[str, ...]:
    """Questions that more than one fix is needed for, if they matter."""
    term = ladder.terms.by_name[JOINT]
    if term.value <= ladder.case.contrast.margin:
        return ()
    return (
        f"{percent(term.value)} of the questions need more than one fix: their evidence was not "
        "in the context, and supplying it was not enough. They are charged to no stage.",
    )


def reader_or_label(ladder: Ladder) -> tuple[str, ...]:
    """Reader and label together, since the split rests on a judge nobody has checked."""
    terms = ladder.terms.by_name
    if LABEL not in terms:
        return ()
    lost = [float(v) for v in reader_and_label(ladder.climbed)]
    if not any(lost):
        return ()
    interval = rate_interval(lost, clusters=clusters(ladder.case.study, ladder.climbed.qids))
    at = ladder.places
    text = (
        f"Reader and label together lose {plain(mean_of(lost), at)} ({confidence_text(interval)} "
        f"{rate_between(interval, at)}); how that splits rests on the measured faithfulness, "
        "which no human label has checked."
    )
    audit = terms[LABEL].fixed
    if audit:
        text += (
            f" {count(audit, 'answer')} supported by the gold in every claim and yet marked "
            f"wrong: have a person read {'it' if audit == 1 else 'them'}."
        )
    return (text,)


def dependent(ladder: Ladder) -> tuple[str, ...]:
    """The losses where memory cannot hide them."""
    n, terms = ladder.dependent
    total = len(ladder.climbed.complete)
    if n == total:
        return (
            "The reader answers none of these questions without context: memory hides no loss.",
        )
    if terms is None:
        return ()
    listed = ", ".join(
        f"{name_of(t.name)} {plain(t.value, ladder.places)}" for t in terms.terms if t.name != JOINT
    )
    return (
        f"On the {n:,} of {total:,} questions that the reader never answers without context the "
        f"losses are: {listed}.",
    )


def association(ladder: Ladder) -> str:
    """Why the losses are no attribution."""
    licence = ladder.case.licence
    kind = "an association" if licence.label == "descriptive" else licence.label
    reasons = " ".join(phrases.sentence(reason) for reason in licence.reasons)
    return f"These losses cannot be put down to the stages: the ladder is {kind}. {reasons}".strip()


def to_tell_apart(ladder: Ladder) -> str:
    """What would decide which of the candidates loses the most; empty where that is decided."""
    candidates = ladder.ranked.candidates
    if len(candidates) < 2:
        return ""
    effects: Mapping[str, int | None] = {
        effect.measure: effect.needed_n for effect in ladder.ranked.against
    }
    pair = f"{candidates[0]} minus {candidates[1]}"
    n, wanted = len(ladder.climbed.complete), effects.get(pair)
    text = f"to tell {name_of(candidates[0])} from {name_of(candidates[1])}"
    if wanted is None or wanted <= n:
        return f"more than the {n:,} questions of this set, {text}"
    return f"about {about(wanted)} answerable questions {text} (this set has {n:,})"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence, the last joined by *and*."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"

"""Effects, signals and proofs as short texts: the cells of every report.

Nothing here is escaped; that is for the report to do, which knows where the text will stand.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.compare.numbers import between, decimals, p_text, plain, rate_between, signed
from ragablate.records import AnalysisResult, Effect, Interval, Proof, Signal, Term
from ragablate.report.tables import NOTHING

STATES = {
    "up": "▲ up",
    "down": "▼ down",
    "flat": "≈ flat",
    "unclear": "? unclear",
    "refused": "✗ refused",
}
"""How a state is shown: never by colour alone."""

LOSSES = {**STATES, "up": "▲ loss", "down": "▼ no loss, a gain"}
"""The same of a ladder's terms: what a stage loses rises, which is no good news."""

ROLES = {
    "B": "control",
    "B'": "its gate taken out",
    "A": "evicted gold put back",
    "D": "all gold put in",
    "S": "gold in front",
    "O": "gold alone",
}
"""What is done to the context on each rung of a ladder."""

MARKS = {"pass": "✓", "fail": "✗", "warn": "!", "not_checked": "?"}
"""How the outcome of a proof is shown."""

HELD_FIXED = ("INV-2", "INV-5", "INV-3")
"""Invariants that show what was held fixed, the strongest first."""
TOOK_EFFECT = ("INV-12",)
"""The invariant that shows that the treatment was applied."""
ONE_CHANGE = ("INV-4",)
"""The invariant that shows that nothing else was."""

WEIGHED = " (lost by the reader → lost upstream of it)"
"""What the two means of ``upstream minus reader`` are."""

STANDARD_ERRORS = "SE like these / these"
"""Head of the column of standard errors: for questions like these, for exactly these."""

_POPULATIONS = {
    "retrieval-dependent": "answerable, never right without context",
    "evidence full": "answerable, all evidence in control's context",
    "evidence not full": "answerable, evidence lacking in control's context",
    "kept present": "answerable, all evidence in both contexts",
}


def population(effect: Effect) -> str:
    """The questions an effect is about."""
    return _POPULATIONS.get(effect.population, effect.population)


def number(effect: Effect) -> str:
    """The estimate, signed."""
    if effect.effect is None:
        return NOTHING
    return signed(effect.effect, decimals(effect.n, effect.margin))


def means(effect: Effect) -> str:
    """Mean in control and in treatment."""
    if effect.control_mean is None or effect.treatment_mean is None:
        return NOTHING
    places = decimals(effect.n, effect.margin)
    return f"{plain(effect.control_mean, places)} → {plain(effect.treatment_mean, places)}"


def interval(effect: Effect) -> str:
    """The interval at 1 - alpha."""
    if effect.ci95 is None:
        return NOTHING
    return between(effect.ci95, decimals(effect.n, effect.margin))


def standard_errors(effect: Effect) -> str:
    """The standard error for questions like these and, where known, for these alone."""
    if effect.se_super is None:
        return NOTHING
    places = decimals(effect.n, effect.margin) + 1
    alone = NOTHING if effect.se_set is None else plain(effect.se_set, places)
    return f"{plain(effect.se_super, places)} / {alone}"


def probability(value: float | None) -> str:
    """A p-value."""
    return NOTHING if value is None else p_text(value)


def moves(effect: Effect) -> str:
    """Questions that got better, got worse and stayed the same."""
    if effect.effect is None:
        return NOTHING
    return f"{effect.better} / {effect.worse} / {effect.same}"


def state(effect: Effect, detail: bool = True) -> str:
    """What the data say, with what qualifies it."""
    text = STATES[effect.state]
    return f"{text} ({effect.detail})" if detail and effect.detail else text


def firm(text: str) -> str:
    """Text that is not broken at its spaces: numbers that belong together."""
    return text.replace(" ", "\u00a0")


def rate(signal: Signal | None) -> str:
    """The mean of a stage signal."""
    if signal is None or signal.mean is None:
        return NOTHING
    return plain(signal.mean)


def rate_interval(signal: Signal) -> str:
    """The interval of a stage signal; empty where it has none."""
    return "" if signal.ci95 is None else rate_between(signal.ci95)


def failed(proofs: Sequence[Proof]) -> tuple[Proof, ...]:
    """Proofs that did not pass."""
    return tuple(proof for proof in proofs if proof.status != "pass")


def proved(proofs: Sequence[Proof], invariants: Sequence[str]) -> tuple[str, ...]:
    """What the given invariants found, in the order they are given."""
    return tuple(p.text for name in invariants for p in proofs if p.invariant == name)


def tally(proofs: Sequence[Proof]) -> str:
    """How many checks passed."""
    return f"{len(proofs) - len(failed(proofs))} of {len(proofs)} checks passed"


def unmoved(effects: Sequence[Effect]) -> str:
    """How many measures that were settled before the change stayed where they were."""
    controls = [e for e in effects if e.role == "control" and e.effect is not None]
    if not controls:
        return ""
    still = sum(not e.better + e.worse for e in controls)
    return f"{still} of {len(controls)} upstream measures unmoved"


def coverage(effects: Sequence[Effect]) -> str:
    """Coverage of the intervals of effects, such as ``95 %``."""
    return covered([effect.ci95 for effect in effects])


def covered(intervals: Sequence[Interval | None]) -> str:
    """Coverage of the intervals that are shown, such as ``95 %``."""
    found = [interval.confidence for interval in intervals if interval is not None]
    return f"{100 * found[0]:g} %" if found else "95 %"


def term(found: Term) -> str:
    """The mean of a term, signed."""
    return signed(found.value, 3)


def term_state(found: Term, lost: bool) -> str:
    """What the data say of a term.

    Args:
        found: The term.
        lost: Whether it is what a stage loses.
    """
    return (LOSSES if lost else STATES)[found.state]


def rungs(order: str) -> str:
    """The letters of a ladder's order explained, such as ``B control · A …``."""
    name, _, steps = order.partition(" ")
    if name != "ladder":
        return ""
    return " · ".join(f"{role} {ROLES[role]}" for role in steps.split(">") if role in ROLES)


def gathered(texts: Sequence[str]) -> tuple[str, ...]:
    """Findings of the steps of a design, those that say the same in one."""
    steps: dict[str, list[str]] = {}
    for text in texts:
        step, colon, said = text.partition(": ")
        is_step = bool(colon) and " to " in step
        steps.setdefault(said if is_step else text, []).extend([step] if is_step else [])
    return tuple(f"{', '.join(own)}: {said}" if own else said for said, own in steps.items())


def together(result: AnalysisResult) -> str:
    """What terms add up to: what control lacks, or a signed difference between arms."""
    return share(result.total) if result.kind == "ladder" else signed(result.total, 3)


def term_interval(found: Term) -> str:
    """The interval of a term."""
    return NOTHING if found.ci95 is None else between(found.ci95, 3)


def share(value: float) -> str:
    """A mean of an arm or a share, to the places terms are shown with, so that they add up."""
    return plain(value, 3)

"""The parts sentences are made of: what was changed, on which questions, with what result."""

from __future__ import annotations

from ragablate.compare.arms import family, without_gate
from ragablate.compare.case import Case
from ragablate.compare.numbers import (
    between,
    confidence_text,
    count,
    decimals,
    p_text,
    plain,
    signed,
)
from ragablate.compare.populations import (
    ANSWERABLE,
    EVIDENCE_FULL,
    EVIDENCE_NOT_FULL,
    KEPT_PRESENT,
    RETRIEVAL_DEPENDENT,
    UNANSWERABLE,
)
from ragablate.compare.scores import EVIDENCE_IN_CONTEXT, EVIDENCE_RETRIEVED
from ragablate.records import Contrast, Effect, Study

_WHERE = {
    EVIDENCE_FULL: "with all the evidence in the context",
    EVIDENCE_NOT_FULL: "without all the evidence in the context",
    KEPT_PRESENT: "with all the evidence in the context of both arms",
    RETRIEVAL_DEPENDENT: "the reader is never right on without context",
}


def names(study: Study, contrast: Contrast) -> tuple[str, str]:
    """What the variable is in control (empty where unknown) and in the treatment."""
    treatment = contrast.level or study.arms.get(contrast.treatment, contrast.treatment)
    return contrast.control_level, treatment


def action(case: Case) -> str:
    """What was done to the control, as a gerund: ``replacing retriever bm25 by dense``."""
    contrast = case.contrast
    fixed = {
        "oracle": "showing the reader exactly the gold evidence in place of its own context",
        "closed_book": "showing the reader no passages at all",
        "necessity": "taking all gold out of the context",
        "placebo": "asking again with nothing changed",
    }
    return fixed.get(contrast.kind) or replacement(contrast.variable, *names(case.study, contrast))


def replacement(variable: str, old: str, new: str) -> str:
    """The exchange of a variable's level, as a gerund; ``old`` is empty where it is unknown."""
    if "." in variable:
        origin = f" from {old}" if old else ""
        return f"changing {variable}{origin} to {new}"
    if not old:
        return f"setting {variable} to {new}"
    return f"replacing {variable} {old} by {new}"


def held_fixed(case: Case) -> str:
    """What was held fixed, as a clause."""
    if case.contrast.kind == "reader":
        return "with every context held fixed byte for byte"
    reader = f"with reader {case.study.reader} held fixed"
    if without_gate(case.study, case.contrast) is not None:
        return f"{reader} and the gate taken out of the control"
    return reader


def measure(study: Study, name: str) -> str:
    """A measure in words; what was *retrieved* always says how deep."""
    if name == EVIDENCE_RETRIEVED:
        return f"evidence retrieved (top {study.top_k})"
    if "retrieved" in name:
        return f"{name} (top {study.top_k})"
    return "evidence in the context" if name == EVIDENCE_IN_CONTEXT else name


def questions(effect: Effect) -> str:
    """How many questions of which kind, with their clusters and replicates."""
    if effect.population in (ANSWERABLE, UNANSWERABLE):
        text = count(effect.n, f"{effect.population} question")
    else:
        text = f"{count(effect.n, 'question')} {_WHERE.get(effect.population, effect.population)}"
    extras = []
    if effect.clusters is not None:
        extras.append(f"in {count(effect.clusters, 'cluster')}")
    if effect.replicates > 1:
        extras.append(f"each decoded {effect.replicates} times")
    return f"{text} ({', '.join(extras)})" if extras else text


def places(effect: Effect) -> int:
    """Decimals an effect is written with."""
    return decimals(effect.n, effect.margin)


def number(effect: Effect) -> str:
    """The estimate of an effect, signed."""
    return signed(effect.effect or 0.0, places(effect))


def moves(case: Case, effect: Effect) -> str:
    """How many questions changed and which way."""
    changed = effect.better + effect.worse
    if not changed:
        return "no question changed"
    known = case.study.measures.get(effect.measure)
    good = known is None or known.higher_is_better is True
    up, down = ("better", "worse") if good else ("up", "down")
    return f"{count(changed, 'question')} changed: {effect.better} {up}, {effect.worse} {down}"


def test_text(case: Case, effect: Effect) -> str:
    """The p-value with its kind, and with Holm's adjustment where there is a family."""
    if effect.p is None:
        return ""
    kind = "exact" if effect.p_exact else "Monte Carlo"
    text = f"{kind} p = {p_text(effect.p)}"
    in_family = effect.role == "primary" and case.contrast.kind != "placebo"
    if in_family and effect.p_adjusted is not None and len(family(case.study)) > 1:
        by = "max-T" if case.study.correction == "maxt" else "Holm"
        text += f", {by} {p_text(effect.p_adjusted)}"
    return text


def statistics(case: Case, effect: Effect) -> str:
    """Interval, test and counts of an effect, without the brackets."""
    if effect.ci95 is None:
        return moves(case, effect)
    interval = f"{confidence_text(effect.ci95)} {between(effect.ci95, places(effect))}"
    return f"{interval}; {test_text(case, effect)}; {moves(case, effect)}"


def equivalence(case: Case, effect: Effect) -> str:
    """The interval equivalence is judged by, to three places, and the counts."""
    if effect.ci90 is None:
        return moves(case, effect)
    interval = f"{confidence_text(effect.ci90)} {between(effect.ci90, 3)}"
    return f"{signed(effect.effect or 0.0, 3)}, {interval}; {moves(case, effect)}"


def brief(case: Case, effect: Effect | None, name: str) -> str:
    """What became of a measure, as a clause: rose, fell, did not move, or is open.

    That nothing changed on this set is said as such, which is not yet *flat*.
    """
    if effect is None or effect.control_mean is None or effect.treatment_mean is None:
        return f"{name} was not measured"
    at = places(effect)
    if not effect.better + effect.worse:
        few = ", too few questions to call it flat" if effect.state == "unclear" else ""
        return f"{name} changed on no question (it is {plain(effect.control_mean, at)}){few}"
    span = f"from {plain(effect.control_mean, at)} to {plain(effect.treatment_mean, at)}"
    if effect.state in ("up", "down"):
        verb = "rose" if effect.state == "up" else "fell"
        return f"{name} {verb} {span} ({number(effect)}; {statistics(case, effect)})"
    if effect.state == "flat":
        return f"{name} did not move by more than the margin ({equivalence(case, effect)})"
    return (
        f"whether {name} moved is not decided ({span}, {number(effect)}; "
        f"{statistics(case, effect)})"
    )


def sentence(text: str) -> str:
    """A clause as a sentence: first letter raised, full stop added."""
    return text[:1].upper() + text[1:].rstrip(".") + "."

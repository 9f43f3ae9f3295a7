"""The two paths of a mediation: through the evidence, and through everything else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ragablate.compare.cells import Weights
from ragablate.compare.effects import Sample, effects_of
from ragablate.compare.families import Estimand, contrast_of, step
from ragablate.compare.inference.factorial import mediation
from ragablate.compare.populations import KEPT_PRESENT, evidence_full
from ragablate.compare.several import Opened
from ragablate.records import Effect, Term

EVIDENCE = "evidence path"
OTHER = "other path"
TOTAL = "total"

ROLES = ("B", "c01", "c10", "R")

GAINED = "gained"
LOST = "lost"
KEPT = "kept"
ABSENT = "absent"
TRANSITIONS = (GAINED, LOST, KEPT, ABSENT)
_POPULATIONS = {
    GAINED: "evidence gained",
    LOST: "evidence lost",
    KEPT: KEPT_PRESENT,
    ABSENT: "evidence in neither",
}


def total() -> Estimand:
    """The swapped stage minus control."""
    return step(TOTAL, "B", "R")


def paths() -> tuple[Estimand, Estimand]:
    """Both paths, each the mean of its two orders; they add up to the total."""
    split = mediation(*np.eye(len(ROLES)))
    return _estimand(EVIDENCE, split.evidence), _estimand(OTHER, split.other)


def orders() -> tuple[Estimand, ...]:
    """Both paths in both orders: one of either path with the complementary other add up too.

    The evidence path on control's passages is the natural indirect effect, and the other
    path on the treatment's evidence the natural direct one; the other two are those of the
    opposite order.
    """
    return (
        step("evidence path, control's distractors", "B", "c01"),
        step("other path, treatment's evidence", "c01", "R"),
        step("evidence path, treatment's distractors", "c10", "R"),
        step("other path, control's evidence", "B", "c10"),
    )


def _estimand(name: str, values: np.ndarray) -> Estimand:
    weights: Weights = {r: Fraction(float(v)) for r, v in zip(ROLES, values, strict=True)}
    return Estimand(name, weights, ("B", "R"))


# ── what became of the evidence ─────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Transitions:
    """The total split by what became of the evidence; descriptive, and exact."""

    terms: tuple[Term, ...]
    """Share of the questions times their mean difference: they add up to the total."""
    effects: Mapping[str, Effect]
    """By transition the mean difference on its questions, where there are at least two. On
    *kept* and *absent* it must not move if the stage acts through the evidence alone."""


def transitions(found: Opened) -> Transitions | None:
    """Split the total by whether all evidence was in the context before and after the swap.

    ``None`` where that was not measured of every question.
    """
    arms = (found.analysis.arms["B"], found.analysis.arms["R"])
    members: dict[str, list[str]] = {name: [] for name in TRANSITIONS}
    for qid in found.scores.qids:
        before, after = (evidence_full(found.table, arm, qid) for arm in arms)
        if before is None or after is None:
            return None
        members[_transition(before, after)].append(qid)
    samples = {name: _sample(found, name, qids) for name, qids in members.items()}
    large = {name: s for name, s in samples.items() if len(s.pairs.qids) > 1}
    effects = dict(zip(large, effects_of(list(large.values()), found.study), strict=True))
    n = len(found.scores.qids)
    return Transitions(
        tuple(_term(name, samples[name], effects.get(name), n) for name in TRANSITIONS), effects
    )


def _transition(before: bool, after: bool) -> str:
    if before == after:
        return KEPT if before else ABSENT
    return GAINED if after else LOST


def _sample(found: Opened, name: str, qids: list[str]) -> Sample:
    contrast = contrast_of(found.analysis, ("B", "R"))
    pairs = found.scores.only(qids).pairs(total().weights)
    return Sample(
        contrast,
        (contrast.control, contrast.treatment),
        found.analysis.measure,
        _POPULATIONS[name],
        "cell",
        pairs,
    )


def _term(name: str, sample: Sample, effect: Effect | None, n: int) -> Term:
    differences = sample.pairs.differences
    return Term(
        name=name,
        value=math.fsum(differences) / n,
        n=len(differences),
        fixed=sum(d > 0 for d in differences),
        broke=sum(d < 0 for d in differences),
        ci95=None,
        p=None,
        p_adjusted=None,
        state="refused" if effect is None else effect.state,
        effect="" if effect is None else effect.id,
    )

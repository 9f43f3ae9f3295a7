"""Families of terms: weighted sums of arms, tested together under Holm's adjustment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ragablate.compare.cells import Cells, Weights
from ragablate.compare.effects import Draft, Sample, decision, drafts, finish, refused
from ragablate.compare.inference.multiplicity import holm
from ragablate.compare.inference.states import Decision, decide_with_missing
from ragablate.edges import edges
from ragablate.records import Analysis, Contrast, Effect, Study, Term


@dataclass(frozen=True, slots=True)
class Estimand:
    """What a term is the mean of: a weighted sum of arms whose weights cancel."""

    name: str
    """Name of the term."""
    weights: Weights
    """By role."""
    roles: tuple[str, str]
    """The two arms it leads from and to, for its record."""

    @property
    def bound(self) -> float:
        """Largest absolute value that scores in [0, 1] allow."""
        return float(sum((w for w in self.weights.values() if w > 0), Fraction(0)))


def step(name: str, before: str, after: str) -> Estimand:
    """The difference of two arms."""
    return Estimand(name, {after: Fraction(1), before: Fraction(-1)}, (before, after))


@dataclass(frozen=True, slots=True)
class Family:
    """Terms that are judged together."""

    effects: tuple[Effect, ...]
    """In the order of the estimands."""
    weights: tuple[Weights, ...]
    """Of each."""
    clusters_changed: tuple[int | None, ...]
    """Clusters in which each adds up to something; ``None`` where no key repeats."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The effects as terms."""
        return tuple(term_of(effect) for effect in self.effects)

    def __getitem__(self, name: str) -> Effect:
        return next(effect for effect in self.effects if effect.measure == name)


def term_of(effect: Effect) -> Term:
    """An effect that was measured, as a term."""
    return Term(
        name=effect.measure,
        value=effect.effect or 0.0,
        n=effect.n,
        fixed=effect.better,
        broke=effect.worse,
        ci95=effect.ci95,
        p=effect.p,
        p_adjusted=effect.p_adjusted,
        state=effect.state,
        effect=effect.id,
    )


def judge_family(
    scores: Cells, estimands: Sequence[Estimand], analysis: Analysis, study: Study
) -> Family:
    """Estimate, test and judge terms as one family.

    Where answers are missing the full state of a term must be the same on the common
    questions and at both worst cases, each in its place within the family.
    """
    samples = [_sample(scores, estimand, analysis) for estimand in estimands]
    found = drafts(samples, study)
    ps = [1.0 if draft is None else draft.flip.p for draft in found]
    adjusted = holm(ps)
    worst = [_worst(scores, estimands, samples, side, study) for side in (0, 1)]
    effects = []
    for i, (sample, draft) in enumerate(zip(samples, found, strict=True)):
        if draft is None:
            effects.append(refused(sample))
            continue
        decided = decision(draft, adjusted[i], study.alpha)
        if scores.unmeasured:
            low, high = (_placed(side[i], ps, i, study.alpha) for side in worst)
            decided = decide_with_missing(decided, low, high)
        effects.append(finish(draft, decided, adjusted[i], study))
    units = (None if draft is None else draft.flip.clusters_changed for draft in found)
    return Family(tuple(effects), tuple(e.weights for e in estimands), tuple(units))


def _worst(
    scores: Cells,
    estimands: Sequence[Estimand],
    samples: Sequence[Sample],
    side: int,
    study: Study,
) -> list[Draft | None]:
    """The terms with every missing answer at its worst; nothing to test where none is missing."""
    if not scores.unmeasured:
        return [None] * len(samples)
    pairs = (scores.worst(estimand.weights, side) for estimand in estimands)
    return drafts([replace(s, pairs=p) for s, p in zip(samples, pairs, strict=True)], study)


def _placed(draft: Draft | None, ps: Sequence[float], place: int, alpha: float) -> Decision:
    """The decision if this draft had stood in its place of the family."""
    if draft is None:
        return Decision("refused")
    own = [draft.flip.p if i == place else p for i, p in enumerate(ps)]
    return decision(draft, holm(own)[place], alpha)


def _sample(scores: Cells, estimand: Estimand, analysis: Analysis) -> Sample:
    contrast = contrast_of(analysis, estimand.roles)
    return Sample(
        contrast,
        (contrast.control, contrast.treatment),
        estimand.name,
        scores.population,
        "term",
        scores.pairs(estimand.weights),
        estimand.bound,
        mixed=len(estimand.weights) > 2,
    )


def contrast_of(analysis: Analysis, roles: tuple[str, str]) -> Contrast:
    """Two arms of an analysis as a contrast that carries the id of the analysis.

    A single step is the contrast its proofs are about. What changes several variables at
    once says so in its variable.
    """
    for edge in edges(analysis):
        if edge.roles == roles:
            return replace(edge.contrast, id=analysis.id)
    return replace(
        edges(analysis)[0].contrast,
        id=analysis.id,
        variable="+".join(factor.variable for factor in analysis.factors),
        level=roles[1],
        control=analysis.arms[roles[0]],
        treatment=analysis.arms[roles[1]],
    )

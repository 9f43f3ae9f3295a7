"""From paired scores to an effect: estimate, test, intervals, state and what would decide it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragablate.compare.inference.intervals import mean_interval
from ragablate.compare.inference.power import detectable_effect, needed_n, needed_n_flat
from ragablate.compare.inference.randomization import SignFlip, sign_flips
from ragablate.compare.inference.sequential import confidence_sequence
from ragablate.compare.inference.states import Decision, decide
from ragablate.compare.populations import clusters
from ragablate.compare.scores import Pairs, mean_of
from ragablate.compare.standard_errors import over_decodes, over_questions
from ragablate.records import Contrast, Effect, Interval, Study

Role = Literal["primary", "signal", "cell", "slice", "control", "term"]

_ZERO = 1e-9


@dataclass(frozen=True, slots=True)
class Sample:
    """Paired scores of one measure on one population, before any inference."""

    contrast: Contrast
    """The contrast it belongs to."""
    arms: tuple[str, str]
    """Control and treatment."""
    measure: str
    """What is compared."""
    population: str
    """On which questions."""
    role: Role
    """What the effect is for."""
    pairs: Pairs
    """The scores."""
    bound: float = 1.0
    """Largest absolute difference that is possible."""
    mixed: bool = False
    """Whether a side is a sum or an average of several arms."""

    @property
    def id(self) -> str:
        """``<contrast>:<measure>:<population>``."""
        return f"{self.contrast.id}:{self.measure}:{self.population}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A sample with its test and intervals, waiting for the family it is judged in."""

    sample: Sample
    """What was measured."""
    flip: SignFlip
    """Exact or Monte Carlo sign-flip test."""
    ci95: Interval
    """Interval at 1 - alpha."""
    ci90: Interval
    """Interval at 1 - 2 alpha."""
    keys: tuple[str, ...] | None
    """Cluster of each question, where a key repeats."""


def drafts(samples: Sequence[Sample], study: Study) -> list[Draft | None]:
    """Test samples and put intervals around them; ``None`` where there are fewer than two pairs.

    Random sign flips are shared by all samples with equal clusters, which changes no p-value
    and saves drawing them again.
    """
    found: list[Draft | None] = [None] * len(samples)
    groups: dict[tuple[str, ...] | None, list[int]] = {}
    for i, sample in enumerate(samples):
        if len(sample.pairs.qids) > 1:
            groups.setdefault(clusters(study, sample.pairs.qids), []).append(i)
    for keys, members in groups.items():
        columns = [samples[i].pairs.differences for i in members]
        flips = sign_flips(columns, clusters=keys, seed=study.seed)
        for i, differences, flip in zip(members, columns, flips, strict=True):
            ci95, ci90 = _intervals(samples[i], differences, keys, study)
            found[i] = Draft(samples[i], flip, ci95, ci90, keys)
    return found


def _intervals(
    sample: Sample, differences: Sequence[float], keys: tuple[str, ...] | None, study: Study
) -> tuple[Interval, Interval]:
    """At 1 - alpha and at 1 - 2 alpha, over all looks where a sequence was declared."""
    levels = tuple(1 - tails * study.alpha for tails in (1, 2))
    if study.planned_n is not None:
        wide, narrow = (
            confidence_sequence(differences, planned_n=study.planned_n, confidence=level)
            for level in levels
        )
        return wide, narrow
    wide, narrow = (
        mean_interval(
            differences,
            replicates=sample.pairs.replicates,
            clusters=keys,
            confidence=level,
            bound=sample.bound,
            mixed=sample.mixed,
        )
        for level in levels
    )
    return wide, narrow


def decision(drafted: Draft, p_adjusted: float, alpha: float) -> Decision:
    """The state of a draft, given its p-value within the family and the level of that family."""
    sample = drafted.sample
    return decide(
        ci95=drafted.ci95,
        ci90=drafted.ci90,
        p_adjusted=p_adjusted,
        changed=drafted.flip.changed,
        margin=sample.contrast.margin,
        alpha=alpha,
        n=len(sample.pairs.qids),
        clusters_changed=drafted.flip.clusters_changed,
    )


def finish(drafted: Draft, decided: Decision, p_adjusted: float, study: Study) -> Effect:
    """The effect a draft has become once its state is decided."""
    sample, flip = drafted.sample, drafted.flip
    pairs = sample.pairs
    n = len(pairs.qids)
    needed, detectable = _planning(drafted, study) if decided.state == "unclear" else (None, None)
    return Effect(
        id=sample.id,
        contrast=sample.contrast.id,
        arms=sample.arms,
        measure=sample.measure,
        population=sample.population,
        role=sample.role,
        n=n,
        unmeasured=pairs.unmeasured,
        clusters=None if drafted.keys is None else len(set(drafted.keys)),
        replicates=pairs.replicates,
        control_mean=mean_of(pairs.control),
        treatment_mean=mean_of(pairs.treatment),
        effect=mean_of(pairs.differences),
        better=flip.better,
        worse=flip.worse,
        same=n - flip.changed,
        ci95=drafted.ci95,
        ci90=drafted.ci90,
        p=flip.p,
        p_adjusted=p_adjusted,
        margin=sample.contrast.margin,
        state=decided.state,
        detail=decided.detail,
        needed_n=needed,
        detectable=detectable,
        p_exact=flip.exact,
        se_super=over_questions(pairs, drafted.keys),
        se_set=over_decodes(pairs),
    )


def refused(sample: Sample) -> Effect:
    """An effect without a number: too few pairs, or an invariant that forbids one."""
    pairs = sample.pairs
    return Effect(
        id=sample.id,
        contrast=sample.contrast.id,
        arms=sample.arms,
        measure=sample.measure,
        population=sample.population,
        role=sample.role,
        n=len(pairs.qids),
        unmeasured=pairs.unmeasured,
        clusters=None,
        replicates=pairs.replicates,
        control_mean=None,
        treatment_mean=None,
        effect=None,
        better=0,
        worse=0,
        same=0,
        ci95=None,
        ci90=None,
        p=None,
        p_adjusted=None,
        margin=sample.contrast.margin,
        state="refused",
        detail="",
        needed_n=None,
        detectable=None,
    )


def effects_of(samples: Sequence[Sample], study: Study) -> list[Effect]:
    """Effects outside any family: their p-values are adjusted for nothing."""
    found = zip(samples, drafts(samples, study), strict=True)
    return [
        refused(sample) if drafted is None else _unadjusted(drafted, study)
        for sample, drafted in found
    ]


def _unadjusted(drafted: Draft, study: Study) -> Effect:
    """A negative control that did not move is *flat* by construction, whatever its n."""
    decided = decision(drafted, drafted.flip.p, study.alpha)
    if drafted.sample.role == "control" and not drafted.flip.changed:
        decided = Decision("flat")
    return finish(drafted, decided, drafted.flip.p, study)


def _sums(values: Sequence[float], keys: Sequence[str]) -> list[float]:
    groups: dict[str, list[float]] = {}
    for value, key in zip(values, keys, strict=True):
        groups.setdefault(key, []).append(value)
    return [math.fsum(group) for group in groups.values()]


def _planning(drafted: Draft, study: Study) -> tuple[int, float | None]:
    """Questions that would decide a difference of the margin, and what this n can show.

    The spread seen (the share of questions changed, for 0/1 scores) and the declared margin
    enter, never the observed effect; that only tells which of the two formulas is wanted,
    the one for *flat* or the one for a difference.
    """
    bound = drafted.sample.bound
    differences = [d / bound for d in drafted.sample.pairs.differences]
    n, margin = len(differences), drafted.sample.contrast.margin / bound
    spread = min(1.0, math.fsum(d * d for d in differences) / n)
    inflation = _design_effect(differences, drafted.keys)
    if abs(mean_of(differences)) < margin:
        needed = needed_n_flat(spread, margin, alpha=study.alpha, power=study.power)
    else:
        needed = needed_n(spread, margin, alpha=study.alpha, power=study.power)
    effective = max(2, int(n / inflation))
    detectable = detectable_effect(effective, spread, alpha=study.alpha, power=study.power)
    return math.ceil(needed * inflation), None if detectable is None else detectable * bound


def _design_effect(differences: Sequence[float], keys: Sequence[str] | None) -> float:
    """How many times more questions clustering asks for; 1 where questions stand alone."""
    if keys is None:
        return 1.0
    mean = mean_of(differences)
    centred = [d - mean for d in differences]
    total = math.fsum(d * d for d in centred)
    if total <= _ZERO:
        return len(differences) / len(set(keys))
    return max(1.0, math.fsum(s * s for s in _sums(centred, keys)) / total)

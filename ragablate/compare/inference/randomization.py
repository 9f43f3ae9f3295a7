"""Sign-flip (randomization) tests of paired differences, exact wherever that is possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragablate.compare.inference import lattice, montecarlo
from ragablate.compare.inference.arrays import (
    TIE,
    ZERO,
    Floats,
    Integers,
    cluster_codes,
    cluster_sums,
    vector,
)
from ragablate.compare.inference.lattice import mcnemar_exact
from ragablate.compare.inference.stepdown import max_t

__all__ = ["SignFlip", "max_t", "mcnemar_exact", "sign_flip", "sign_flips"]

Codes = NDArray[np.intp] | None

_EXACT_WORK = 1_000_000_000
"""Where the exact distribution would take more operations, signs are drawn instead."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """A two-sided sign-flip test of paired differences."""

    p: float
    """p-value in (0, 1]."""
    statistic: float
    """Sum of the differences."""
    exact: bool
    """Whether every sign pattern was accounted for, rather than a random sample."""
    changed: int
    """Questions whose difference is not 0."""
    better: int
    """Questions whose difference is positive."""
    worse: int
    """Questions whose difference is negative."""
    clusters_changed: int | None = None
    """Clusters whose summed difference is not 0; ``None`` where no cluster key repeats."""


@dataclass(frozen=True, slots=True)
class _Problem:
    """One test reduced to integers: what is flipped, and what was observed."""

    magnitudes: Integers
    """Absolute differences (or cluster sums) that are not 0, largest first."""
    total: int
    """Their observed signed sum."""
    unit: float
    """Integers that make up a difference of 1."""
    on_lattice: bool
    """Whether the integers are the differences themselves, not a rounding of them."""

    @property
    def slack(self) -> int:
        """How far apart two sums may be and still count as tied."""
        return 0 if self.on_lattice else int(TIE * int(self.magnitudes.sum()))


def sign_flip(
    differences: ArrayLike,
    *,
    clusters: Sequence[str] | None = None,
    denominator: int | None = None,
    resamples: int = 19_999,
    seed: int = 0,
    midp: bool = False,
) -> SignFlip:
    """Two-sided randomization test that paired differences are symmetric about 0.

    1. The statistic is the absolute sum of the differences; under the hypothesis every sign
       pattern is equally likely. Where a cluster key repeats, whole clusters are flipped.
    2. Differences that are multiples of one small fraction are scaled to integers and the
       distribution is computed exactly, for any number of questions; 0/1 scores give the
       exact McNemar test.
    3. Other differences with at most 20 changed units are enumerated, also exact.
    4. The rest is Monte Carlo: p = (1 + hits) / (resamples + 1), so never 0. Sums tie within
       1e-9 of the absolute sum. Units are sorted before signs are drawn, so the order of
       questions does not matter.

    No difference at all gives p = 1. The bits of p do not depend on the machine.

    Sources: Fisher's randomization test; Phipson and Smyth, "Permutation p-values should
    never be zero"; Fagerland, Lydersen and Laake for the mid-p.

    Args:
        differences: Treatment minus control, one number a question.
        clusters: Cluster key of each question; keys that never repeat change nothing.
        denominator: The differences are multiples of its inverse (the number of replicates,
            say). A hint: where it does not hold, or is ``None``, one up to 120 is looked for.
        resamples: Random sign patterns drawn where the test is not exact.
        seed: Seed of the random sign patterns.
        midp: Whether ties with the observed sum count by half.

    Raises:
        EvidenceError: There are no differences, or one is not finite.
    """
    return sign_flips(
        [differences],
        clusters=clusters,
        denominator=denominator,
        resamples=resamples,
        seed=seed,
        midp=midp,
    )[0]


def sign_flips(
    columns: Sequence[ArrayLike],
    *,
    clusters: Sequence[str] | None = None,
    denominator: int | None = None,
    resamples: int = 19_999,
    seed: int = 0,
    midp: bool = False,
) -> tuple[SignFlip, ...]:
    """``sign_flip`` of several columns of differences on the same questions, sharing the flips.

    Each result equals that of ``sign_flip`` on its column alone.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    arrays = [vector(column) for column in columns]
    codes = [cluster_codes(clusters, len(array)) for array in arrays]
    problems = [_problem(*pair, denominator) for pair in zip(arrays, codes, strict=True)]
    drawn = [i for i, problem in enumerate(problems) if not _is_exact(problem)]
    table = _side_by_side([problems[i].magnitudes for i in drawn])
    sums = montecarlo.flipped_sums(table, resamples=resamples, seed=seed)
    ps = {
        i: _monte_carlo_p(problems[i], column, midp) for i, column in zip(drawn, sums, strict=True)
    }
    return tuple(
        _result(
            arrays[i],
            codes[i],
            problems[i],
            p=ps[i] if i in ps else _exact_p(problems[i], midp),
            exact=i not in ps,
        )
        for i in range(len(arrays))
    )


def _problem(array: Floats, codes: Codes, denominator: int | None) -> _Problem:
    """Scale differences, or their cluster sums, to integers."""
    found = lattice.find_denominator(array, denominator)
    if found is None:
        values = array if codes is None else cluster_sums(array, codes)
        values = np.where(np.abs(values) < ZERO, 0.0, values)
        integers, unit = montecarlo.scaled(values)
    else:
        integers, unit = np.rint(array * found).astype(np.int64), float(found)
        if codes is not None:
            integers = np.bincount(codes, weights=integers).astype(np.int64)
    magnitudes = np.sort(np.abs(integers[integers != 0]))[::-1]
    total = int(integers.sum())
    if found is not None and magnitudes.size:
        common = int(np.gcd.reduce(magnitudes))
        magnitudes, total, unit = magnitudes // common, total // common, unit / common
    return _Problem(magnitudes, total, unit, found is not None)


def _side_by_side(columns: Sequence[Integers]) -> Integers:
    """Columns of different length as one table, filled with zeros below."""
    table = np.zeros((max(map(len, columns), default=0), len(columns)), dtype=np.int64)
    for i, column in enumerate(columns):
        table[: len(column), i] = column
    return table


def _is_exact(problem: _Problem) -> bool:
    """Whether the whole distribution is computed."""
    few = len(problem.magnitudes) <= montecarlo.ENUMERATED
    return few or (problem.on_lattice and lattice.work(problem.magnitudes) <= _EXACT_WORK)


def _exact_p(problem: _Problem, midp: bool) -> float:
    """p-value over all sign patterns."""
    if not problem.magnitudes.size:
        return 1.0
    if problem.on_lattice:
        return lattice.two_sided(problem.magnitudes, problem.total, midp=midp)
    sums = montecarlo.all_sums(problem.magnitudes)
    hits, above = _reached(problem, sums)
    return ((hits + above) / 2 if midp else hits) / len(sums)


def _monte_carlo_p(problem: _Problem, sums: Integers, midp: bool) -> float:
    """p-value over drawn sign patterns, the observed one among them."""
    hits, above = _reached(problem, sums)
    return ((1 + hits + above) / 2 if midp else 1 + hits) / (len(sums) + 1)


def _reached(problem: _Problem, sums: Integers) -> tuple[int, int]:
    """How many sums are as far from 0 as the observed one, and how many are farther."""
    size, observed = np.abs(sums), abs(problem.total)
    hits = int(np.count_nonzero(size >= observed - problem.slack))
    return hits, int(np.count_nonzero(size > observed + problem.slack))


def _result(array: Floats, codes: Codes, problem: _Problem, *, p: float, exact: bool) -> SignFlip:
    """The test with its counts of questions."""
    better = int(np.count_nonzero(array >= ZERO))
    worse = int(np.count_nonzero(array <= -ZERO))
    return SignFlip(
        p=p,
        statistic=problem.total / problem.unit if problem.on_lattice else math.fsum(array.tolist()),
        exact=exact,
        changed=better + worse,
        better=better,
        worse=worse,
        clusters_changed=None if codes is None else len(problem.magnitudes),
    )

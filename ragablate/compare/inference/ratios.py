"""Bootstrap intervals of ratios, the one place where no closed form is good enough."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ragablate.compare.inference.arrays import (
    Floats,
    check_level,
    cluster_codes,
    cluster_sums,
    vector,
)
from ragablate.compare.inference.intervals import mean_interval
from ragablate.compare.inference.lattice import find_denominator
from ragablate.errors import EvidenceError
from ragablate.records import Interval

RESAMPLES = 10_000


def bca(
    statistic: Callable[..., NDArray[np.float64]],
    data: Sequence[ArrayLike],
    *,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Bias-corrected and accelerated bootstrap interval of a statistic of summed columns.

    1. Questions (whole clusters where a key repeats, as their column sums) are resampled
       jointly in all columns.
    2. The statistic is called with the resampled columns and ``axis``, as scipy does, and
       must depend on them through sums alone.
    3. scipy's BCa limits, rounded to 12 decimals.

    Rows are sorted first, so the order of questions does not matter. ``None`` where the
    resampled statistics do not vary or are not all finite: such an interval would claim
    certainty that resampling cannot give.

    Source: Efron, "Better bootstrap confidence intervals".

    Args:
        statistic: Vectorized function of the columns.
        data: Columns, one number a question each.
        clusters: Cluster key of each question.
        confidence: Nominal coverage.
        resamples: Bootstrap resamples.
        seed: Seed of the resampling.
    """
    check_level(confidence)
    columns = [vector(column, "values") for column in data]
    codes = cluster_codes(clusters, len(columns[0]))
    if codes is not None:
        columns = [cluster_sums(column, codes) for column in columns]
    if len(columns[0]) < 2:
        return None
    order = np.lexsort(tuple(columns))
    ordered = tuple(column[order] for column in columns)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        result = stats.bootstrap(
            ordered,
            statistic,
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, 2_000_000 // len(order)),
            confidence_level=confidence,
            method="BCa",
            random_state=np.random.Generator(np.random.PCG64(seed)),
        )
    low, high = (float(limit) for limit in result.confidence_interval)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return None
    return Interval(round(low, 12) + 0.0, round(high, 12) + 0.0, confidence, "bca")


def ratio_interval(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    replicates: int = 1,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Interval of the ratio of two means over the same questions.

    ``None`` where the denominator's own interval contains 0, so that the ratio is not
    defined well enough to print, or where resampling cannot bound it.

    Args:
        numerator: One number a question.
        denominator: One number a question.
        replicates: Decodes averaged into each score.
        clusters: Cluster key of each question.
        confidence: Nominal coverage.
        resamples: Bootstrap resamples.
        seed: Seed of the resampling.

    Raises:
        EvidenceError: Numerator and denominator do not hold the same number of questions.
    """
    above, below = vector(numerator, "numerators"), vector(denominator, "denominators")
    if len(above) != len(below):
        raise EvidenceError(
            f"{len(above)} numerators and {len(below)} denominators do not pair: a ratio needs "
            "both on the same questions."
        )
    limits = mean_interval(
        below, replicates=replicates, clusters=clusters, confidence=confidence, bound=2.0
    )
    if limits.low <= 0.0 <= limits.high:
        return None
    return bca(
        _ratio,
        _as_integers(above, below),
        clusters=clusters,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )


def _as_integers(above: Floats, below: Floats) -> tuple[Floats, Floats]:
    """Both columns times one factor, rounded, so that all their sums are exact.

    Resampled ratios that are equal to the observed one then tie with it on every machine.
    """
    both = np.concatenate((above, below))
    factor = float(find_denominator(both) or 0)
    if not factor:
        largest = len(both) * float(np.abs(both).max())
        factor = math.ldexp(1.0, 52 - math.frexp(largest)[1])
    return np.rint(above * factor), np.rint(below * factor)


def _ratio(above: Floats, below: Floats, axis: int = -1) -> Floats:
    """Ratio of sums along an axis."""
    return np.asarray(above.sum(axis=axis) / below.sum(axis=axis), dtype=np.float64)

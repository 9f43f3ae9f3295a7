"""Confidence intervals of paired mean differences and of rates that hold at small samples.

Limits are rounded to 12 decimals, so that mathematical libraries that disagree in a last
bit give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from ragablate.compare.inference.arrays import (
    ZERO,
    Floats,
    check_level,
    cluster_codes,
    cluster_sizes,
    cluster_sums,
    vector,
)
from ragablate.compare.inference.score import cluster_moments, clustered_limits, paired_limits
from ragablate.errors import EvidenceError
from ragablate.records import Interval

ENOUGH_MOVES = 10
"""Questions that must improve, and as many get worse, before the pseudo-questions shrink."""


def normal_quantile(confidence: float) -> float:
    """The two-sided standard normal quantile, 1.96 at 0.95."""
    check_level(confidence)
    return NormalDist().inv_cdf((1.0 + confidence) / 2.0)


def mean_interval(
    differences: ArrayLike,
    *,
    replicates: int = 1,
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    bound: float = 1.0,
    mixed: bool = False,
) -> Interval:
    """Interval of a mean paired difference, by the rule that fits the differences.

    1. A cluster key repeats: ``clustered``.
    2. No question changed, or one replicate of two arms and all differences -1, 0 or 1:
       ``tango``.
    3. Otherwise: ``augmented_t``.

    Args:
        differences: Treatment minus control, one number a question.
        replicates: Decodes averaged into each score.
        clusters: Cluster key of each question.
        confidence: Nominal coverage.
        bound: The largest absolute difference that is possible: 1, or 2 for an interaction.
        mixed: Whether they are sums or averages of more than two arms, whose values may be
            others than those that happened to be seen.
    """
    array = vector(differences)
    if cluster_codes(clusters, len(array)) is not None and clusters is not None:
        return clustered(array, clusters, confidence=confidence, bound=bound)
    whole = np.abs(array - np.rint(array)) < ZERO
    changed = np.abs(array) >= ZERO
    within = bool(whole.all()) and bool((np.abs(array) < 1.5).all())
    binary = replicates == 1 and within and not mixed
    if binary or not changed.any():
        better = int(np.count_nonzero(array >= ZERO))
        return tango(better, int(changed.sum()) - better, len(array), confidence=confidence)
    return augmented_t(array, replicates=replicates, confidence=confidence, bound=bound)


def tango(better: int, worse: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Score interval of the mean of paired differences in {-1, 0, 1}.

    1. The score statistic of a difference d is (b - c - n d) / sqrt(n (2 q + d (1 - d))),
       with q the share that got worse, estimated under d.
    2. The interval holds every d whose statistic is within the normal quantile; its two
       ends are found by bisection.

    Nothing changed gives ±z²/(n + z²). Everything changed in one direction gives a limit
    at ±1. The limits do not depend on the order of questions, and swapping ``better`` and
    ``worse`` mirrors them.

    Source: Tango, "Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design" (1998).

    Raises:
        EvidenceError: ``n`` is 0, or fewer than the questions that changed.
    """
    z = normal_quantile(confidence)
    if n < 1 or better < 0 or worse < 0 or better + worse > n:
        raise EvidenceError(
            f"{better} better and {worse} worse of {n} questions is no paired result: "
            "count each question once."
        )
    low, high = paired_limits(better, worse, n, z)
    return _interval(low, high, confidence, "tango")


def wilson(successes: float, n: float, *, confidence: float = 0.95) -> Interval:
    """Score interval of a rate.

    ``n`` may be an effective number (of clusters, say) and ``successes`` its fractional
    share. The limits stay in [0, 1] and never meet.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference".

    Raises:
        EvidenceError: ``n`` is not positive, or fewer than ``successes``.
    """
    z = normal_quantile(confidence)
    if not (n > 0 and 0 <= successes <= n * (1 + 1e-12)):
        raise EvidenceError(f"{successes} of {n} is no rate: it needs at least one question.")
    rate = min(1.0, successes / n)
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if rate == 0.0 else max(0.0, centre - half)
    high = 1.0 if rate == 1.0 else min(1.0, centre + half)
    return _interval(low, high, confidence, "wilson")


def rate_interval(
    values: ArrayLike, *, clusters: Sequence[str] | None = None, confidence: float = 0.95
) -> Interval:
    """Wilson interval of a mean of values in [0, 1], with the number of clusters for n.

    Raises:
        EvidenceError: A value lies outside [0, 1].
    """
    array = vector(values, "rates")
    if float(array.min()) < -ZERO or float(array.max()) > 1.0 + ZERO:
        raise EvidenceError("rates must lie in [0, 1]: a share of something is never outside.")
    codes = cluster_codes(clusters, len(array))
    n = len(array) if codes is None else int(codes.max()) + 1
    mean = min(1.0, max(0.0, math.fsum(array.tolist()) / len(array)))
    return wilson(mean * n, n, confidence=confidence)


def augmented_t(
    differences: ArrayLike,
    *,
    replicates: int = 1,
    confidence: float = 0.95,
    bound: float = 1.0,
) -> Interval:
    """Interval of a mean difference by t after adding one question won and one lost.

    1. Two pseudo-questions, +1 and -1, get weight a each: 1/replicates where at least 10
       questions improved and at least 10 got worse, else 1.
    2. N = n + 2a, m = sum L / N, v = (sum L² + 2a) / N - m².
    3. m ± t(n - 1) sqrt(v / N), cut at ±bound.

    The pseudo-questions stand for changes too rare to have been seen. One question alone
    gives the whole range. The interval is not centred at the plain mean, which is the
    estimate to print.

    Source: the adjustment of Bonett and Price, "Adjusted Wald confidence interval for a
    difference of binomial proportions based on paired data", carried to fractions.

    Args:
        differences: Treatment minus control, one number a question.
        replicates: Decodes averaged into each score.
        confidence: Nominal coverage.
        bound: The largest absolute difference that is possible.
    """
    check_level(confidence)
    if replicates < 1:
        raise ValueError(f"replicates must be at least 1, got {replicates}")
    array = vector(differences)
    better = int(np.count_nonzero(array >= ZERO))
    worse = int(np.count_nonzero(array <= -ZERO))
    weight = 1.0 / replicates if min(better, worse) >= ENOUGH_MOVES else 1.0
    size = len(array) + 2.0 * weight
    mean = math.fsum(array.tolist()) / size
    variance = (math.fsum((array * array).tolist()) + 2.0 * weight) / size - mean * mean
    half = _t_quantile(len(array) - 1, confidence) * math.sqrt(variance / size)
    return _clipped(mean, half, _reach(array, bound), confidence, "augmented t")


def cluster_t(
    differences: ArrayLike,
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    bound: float = 1.0,
) -> Interval:
    """Cluster-robust t interval of a mean difference, with one cluster won and one lost.

    1. Two pseudo-clusters of the average size n/G, all +1 and all -1, are appended.
    2. m = sum L / N with N = n + 2 n/G; the variance of m is the sum over clusters, the
       pseudo ones included, of (S_g - n_g m)², divided by N².
    3. m ± t(G - 1) standard errors, cut at ±bound.

    Where nothing changed it is ±z²/(G + z²). A single cluster gives the whole range. With
    one question in every cluster it is the augmented t interval.

    Sources: Cameron, Gelbach and Miller, "Bootstrap-based improvements for inference with
    clustered errors"; pseudo-clusters as in ``augmented_t``.

    Args:
        differences: Treatment minus control, one number a question.
        clusters: Cluster key of each question.
        confidence: Nominal coverage.
        bound: The largest absolute difference that is possible.
    """
    z = normal_quantile(confidence)
    array = vector(differences)
    codes = cluster_codes(clusters, len(array))
    if codes is None:
        codes = np.arange(len(array))
    sums, sizes = cluster_sums(array, codes), cluster_sizes(codes)
    groups = len(sums)
    if not (np.abs(array) >= ZERO).any():
        half = z * z / (groups + z * z)
        return _interval(-half, half, confidence, "cluster t")
    mean, variance = cluster_moments(sums, sizes)
    half = _t_quantile(groups - 1, confidence) * math.sqrt(variance)
    return _clipped(mean, half, _reach(array, bound), confidence, "cluster t")


def clustered(
    differences: ArrayLike,
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    bound: float = 1.0,
) -> Interval:
    """Interval of a mean difference of clusters: ``cluster_t``, widened by score limits.

    1. The limits of ``cluster_t``.
    2. Each limit that does not exclude 0 moves out to ``clustered_limits`` at t(G - 1), where
       those lie further out. A limit that excludes 0 stays.

    When few clusters were seen to move, the symmetric t falls short on the side of the moves
    that were missed, and a difference as large as the margin would pass for flat. Widening
    never takes away a difference that ``cluster_t`` tells from 0. The method reads
    ``cluster t`` where no limit moved and ``cluster t + score`` where one did.

    Args:
        differences: Treatment minus control, one number a question.
        clusters: Cluster key of each question.
        confidence: Nominal coverage.
        bound: The largest absolute difference that is possible.
    """
    robust = cluster_t(differences, clusters, confidence=confidence, bound=bound)
    array = vector(differences)
    codes = cluster_codes(clusters, len(array))
    if codes is None or not codes.any() or not (np.abs(array) >= ZERO).any():
        return robust
    sums, sizes = cluster_sums(array, codes), cluster_sizes(codes)
    quantile = _t_quantile(len(sums) - 1, confidence)
    score_low, score_high = clustered_limits(array, sums, sizes, quantile)
    low = robust.low if robust.low > 0 else min(robust.low, score_low)
    high = robust.high if robust.high < 0 else max(robust.high, score_high)
    widened = _interval(low, high, confidence, "cluster t + score")
    return robust if (widened.low, widened.high) == (robust.low, robust.high) else widened


def _t_quantile(df: int, confidence: float) -> float:
    """Two-sided t quantile; infinite without degrees of freedom."""
    return float(stdtrit(df, (1.0 + confidence) / 2.0)) if df > 0 else math.inf


def _reach(array: Floats, bound: float) -> float:
    """The largest difference that is possible, as far as the data do not contradict it."""
    return max(bound, float(np.abs(array).max()))


def _clipped(mean: float, half: float, reach: float, confidence: float, method: str) -> Interval:
    """Limits at mean ± half, within ±reach."""
    return _interval(max(-reach, mean - half), min(reach, mean + half), confidence, method)


def _interval(low: float, high: float, confidence: float, method: str) -> Interval:
    """The interval with both limits rounded, and no negative zero."""
    return Interval(round(low, 12) + 0.0, round(high, 12) + 0.0, confidence, method)

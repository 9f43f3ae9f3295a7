"""Score limits of a mean paired difference, of questions and of whole clusters."""

from __future__ import annotations

import math
from collections.abc import Callable

from ragablate.compare.inference.arrays import Floats


def paired_limits(better: float, worse: float, n: float, quantile: float) -> tuple[float, float]:
    """Differences d whose score statistic is within the quantile: the lowest and the highest.

    The statistic is (b - c - n d) / sqrt(n (2 q + d (1 - d))), with q the share that got
    worse, estimated under d. Nothing changed gives ±quantile² / (n + quantile²). Swapping
    ``better`` and ``worse`` mirrors the limits. The counts may be fractional: effective
    numbers of questions.

    Source: Tango, "Equivalence test and confidence interval for the difference in
    proportions for the paired-sample design" (1998).

    Args:
        better: Questions that improved.
        worse: Questions that got worse; with ``better`` at most ``n``.
        n: All questions, positive.
        quantile: Two-sided quantile of the confidence level.
    """
    if better < worse:
        low, high = paired_limits(worse, better, n, quantile)
        return -high, -low
    if better == 0:
        half = quantile * quantile / (n + quantile * quantile)
        return -half, half
    estimate = (better - worse) / n

    def holds(d: float) -> bool:
        deviation = quantile * math.sqrt(_variance(better, worse, n, d))
        return abs(better - worse - n * d) <= deviation

    return _edge(holds, estimate, -1.0), _edge(holds, estimate, 1.0)


def _variance(b: float, c: float, n: float, d: float) -> float:
    """Variance n (2 q + d (1 - d)), q the likeliest share that got worse given d."""
    linear = -b - c + (2 * n - b + c) * d
    root = math.sqrt(max(0.0, linear * linear + 8 * n * c * d * (1.0 - d)))
    q = (root - linear) / (4 * n)
    return max(0.0, n * (2.0 * q + d * (1.0 - d)))


def _edge(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Where ``holds`` turns false between a point where it is true and one beyond it."""
    if holds(outside):
        return outside
    for _ in range(60):
        middle = (inside + outside) / 2.0
        if holds(middle):
            inside = middle
        else:
            outside = middle
    return (inside + outside) / 2.0


def clustered_limits(
    array: Floats, sums: Floats, sizes: Floats, quantile: float
) -> tuple[float, float]:
    """Score limits at the effective number of questions that the clusters leave.

    1. Two pseudo-clusters, all +1 and all -1, are appended. Their size is that of the
       cluster in which a random question lies, sum n_g² / n.
    2. The design effect D is the variance of the mean by clusters over that of questions
       which move alone: (sum of (S_g - n_g m)²) / (sum |L| + 2 sum n_g² / n - N m²).
    3. ``paired_limits`` of (sum of gains) / D, (sum of losses) / D and n / D.

    Where clusters of one size move as a whole, D is that size and the limits are those of the
    clusters, each counted as one question. Differences beyond ±1 are scaled to ±1 and back.

    Source of the effective numbers: Rao and Scott, "A simple method for the analysis of
    clustered binary data" (1992); size-weighted cluster size: Kish, "Survey Sampling".

    Args:
        array: Treatment minus control, one number a question.
        sums: Sum of each cluster.
        sizes: Questions in each cluster, in the same order.
        quantile: Two-sided quantile of the confidence level.
    """
    n = float(len(array))
    reach = max(1.0, max(map(abs, array.tolist())))
    gains = math.fsum(x for x in array.tolist() if x > 0) / reach
    losses = math.fsum(-x for x in array.tolist() if x < 0) / reach
    pseudo = math.fsum((sizes * sizes).tolist()) / n
    mean, variance = cluster_moments(sums / reach, sizes, pseudo)
    total = n + 2 * pseudo
    alone = gains + losses + 2 * pseudo - total * mean * mean
    effect = variance * total * total / alone
    low, high = paired_limits(gains / effect, losses / effect, n / effect, quantile)
    return reach * low, reach * high


def cluster_moments(
    sums: Floats, sizes: Floats, pseudo: float | None = None
) -> tuple[float, float]:
    """Mean and its variance with one cluster won and one lost in.

    Args:
        sums: Sum of each cluster.
        sizes: Questions in each cluster.
        pseudo: Size of the two pseudo-clusters; the average size if ``None``.
    """
    n = math.fsum(sizes.tolist())
    size = n / len(sizes) if pseudo is None else pseudo
    total = n + 2 * size
    mean = math.fsum(sums.tolist()) / total
    residuals = [*(sums - sizes * mean).tolist(), size * (1 - mean), size * (-1 - mean)]
    return mean, math.fsum(r * r for r in residuals) / (total * total)

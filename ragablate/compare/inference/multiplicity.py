"""Adjustments for asking more than one question of the same data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc

from ragablate.compare.inference.arrays import cluster_codes, cluster_sizes, cluster_sums, vector
from ragablate.compare.inference.lattice import never_zero
from ragablate.compare.inference.score import cluster_moments


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjusted p-values, in the order given.

    The i-th smallest of k is multiplied by k - i + 1, raised to the largest before it (so
    that a larger p never becomes the more significant) and cut at 1. An empty family gives
    an empty tuple.

    Source: Holm, "A simple sequentially rejective multiple test procedure".
    """
    _check(ps)
    adjusted, largest = [1.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[i]))
        adjusted[i] = largest
    return tuple(adjusted)


def benjamini_hochberg(ps: Sequence[float]) -> tuple[float, ...]:
    """Benjamini and Hochberg's adjusted p-values (false discovery rate), in the order given.

    The i-th smallest of k is multiplied by k / i and lowered to the smallest after it.

    Source: Benjamini and Hochberg, "Controlling the false discovery rate".
    """
    _check(ps)
    adjusted, smallest = [1.0] * len(ps), 1.0
    for i, at in reversed(list(enumerate(sorted(range(len(ps)), key=lambda i: ps[i]), start=1))):
        smallest = min(smallest, max(ps[at], len(ps) * ps[at] / i))
        adjusted[at] = smallest
    return tuple(adjusted)


def _check(ps: Sequence[float]) -> None:
    for p in ps:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"a p-value must lie in [0, 1], got {p}")


def welch_gate(
    groups: Mapping[str, ArrayLike],
    clusters: Mapping[str, Sequence[str]] | None = None,
    *,
    min_size: int = 10,
) -> float:
    """p-value that all slices have the same mean difference: the gate before slices are read.

    1. Slices with fewer than ``min_size`` questions, or with one cluster only, are left out.
    2. Each slice's variance has one question won and one lost added:
       v = (sum L² + 2)/(n + 2) - (sum L/(n + 2))². Where a cluster key repeats it is that of
       the cluster sums, with one cluster won and one lost added.
    3. Welch's F on the slice means with weights n / v.

    Fewer than two slices left gives 1. Slice labels are not permuted: that would reject when
    slices differ in noise alone.

    Source: Welch, "On the comparison of several mean values: an alternative approach".

    Args:
        groups: Differences by slice value.
        clusters: Cluster keys by slice value, in the same order as the differences.
        min_size: Smallest slice taken in.
    """
    slices = []
    for name in sorted(groups):
        array = vector(groups[name], f"differences of slice {name!r}")
        if len(array) >= min_size:
            codes = cluster_codes(None if clusters is None else clusters[name], len(array))
            if codes is None:
                codes = np.arange(len(array))
            sums, sizes = cluster_sums(array, codes), cluster_sizes(codes)
            if len(sums) > 1:
                mean = math.fsum(array.tolist()) / len(array)
                variance = cluster_moments(sums, sizes)[1] * (len(sums) + 2) / len(sums)
                slices.append((mean, 1.0 / variance, len(sums)))
    return _welch(slices) if len(slices) > 1 else 1.0


def _welch(slices: Sequence[tuple[float, float, int]]) -> float:
    """p-value of Welch's F from the mean, weight and number of units of each slice."""
    k, total = len(slices), math.fsum(weight for _, weight, _ in slices)
    centre = math.fsum(mean * weight for mean, weight, _ in slices) / total
    between = math.fsum(w * (mean - centre) ** 2 for mean, w, _ in slices) / (k - 1)
    spread = math.fsum((1 - w / total) ** 2 / (units - 1) for _, w, units in slices)
    f = between / (1 + 2 * (k - 2) / (k * k - 1) * spread)
    p = float(fdtrc(k - 1, (k * k - 1) / (3 * spread), f))
    return never_zero(float(f"{p:.12g}"))

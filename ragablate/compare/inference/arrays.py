"""Checked arrays of per-question differences, and their sums by cluster."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragablate.errors import EvidenceError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ZERO = 1e-9
"""Differences of scores in [0, 1] that are smaller than this are rounding, not change."""

TIE = 1e-9
"""Sums that differ by less than this share of the absolute sum are tied."""


def vector(values: ArrayLike, what: str = "differences") -> Floats:
    """One finite number a question, as a flat array.

    Raises:
        EvidenceError: There is no value, a value is NaN or infinite, or the array is not flat.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise EvidenceError(
            f"{what} must be one number a question, got an array of shape {array.shape}: "
            "average the replicates first."
        )
    if array.size == 0:
        raise EvidenceError(f"{what} are empty: no question is left to compare.")
    finite = np.isfinite(array)
    if not finite.all():
        at = int(np.argmin(finite))
        raise EvidenceError(
            f"{what} hold {array[at]} at position {at}: drop unmeasured questions before comparing."
        )
    return array


def cluster_codes(clusters: Sequence[str] | None, n: int) -> NDArray[np.intp] | None:
    """Cluster number of each question, or ``None`` where no key repeats.

    Raises:
        EvidenceError: There is not one key a question.
    """
    if clusters is None:
        return None
    if len(clusters) != n:
        raise EvidenceError(
            f"{len(clusters)} cluster keys for {n} questions: give one key a question."
        )
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(key, len(numbers)) for key in clusters]
    return None if len(numbers) == n else np.asarray(codes, dtype=np.intp)


def cluster_sums(values: Floats, codes: NDArray[np.intp]) -> Floats:
    """Sum of each cluster, correctly rounded, so that the order of questions is irrelevant."""
    members: list[list[float]] = [[] for _ in range(int(codes.max()) + 1)]
    for value, code in zip(values.tolist(), codes.tolist(), strict=True):
        members[code].append(value)
    return np.asarray([math.fsum(group) for group in members], dtype=np.float64)


def cluster_sizes(codes: NDArray[np.intp]) -> Floats:
    """Questions in each cluster."""
    return np.bincount(codes).astype(np.float64)


def check_level(confidence: float) -> None:
    """Refuse a confidence level that is not strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {confidence}")

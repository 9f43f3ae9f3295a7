"""Westfall-Young step-down: one family of contrasts under joint sign flips."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ragablate.compare.inference import montecarlo
from ragablate.compare.inference.arrays import (
    TIE,
    Floats,
    Integers,
    cluster_codes,
    cluster_sums,
    vector,
)


def max_t(
    matrix: ArrayLike,
    *,
    clusters: Sequence[str] | None = None,
    resamples: int = 19_999,
    seed: int = 0,
) -> Floats:
    """Family-adjusted p-values of several contrasts on the same questions.

    1. The statistic of a column is |sum L| / sqrt(sum L^2), over cluster sums where a
       cluster key repeats.
    2. Questions (or clusters) are flipped jointly in all columns.
    3. Step-down: columns are ordered by their statistic, and each is compared with the
       largest statistic among itself and the columns below it, with a running maximum.

    A column without any difference gets 1. Uses correlation between columns that Holm
    ignores.

    Source: Westfall and Young, "Resampling-based multiple testing"; Boytsov, Belova and
    Westfall, "Deciding on an adjustment for multiplicity in IR experiments".

    Args:
        matrix: Differences, one row a question, one column a contrast.
        clusters: Cluster key of each question.
        resamples: Random sign patterns.
        seed: Seed of the random sign patterns.

    Returns:
        One adjusted p-value a column, in the order of the columns.
    """
    table = np.asarray(matrix, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"matrix must have one row a question, got shape {table.shape}")
    columns = [vector(column) for column in table.T]
    codes = cluster_codes(clusters, len(table))
    if codes is not None:
        columns = [cluster_sums(column, codes) for column in columns]
    rows = np.column_stack([montecarlo.scaled(column)[0] for column in columns])
    norms = np.asarray([math.sqrt(math.fsum((c * c).tolist())) for c in rows.T.astype(float)])
    norms[norms == 0.0] = np.inf
    observed = np.abs(rows.sum(axis=0)) / norms
    sums = montecarlo.flipped_sums(_canonical(rows), resamples=resamples, seed=seed)
    return _step_down(observed, np.abs(sums) / norms[:, None])


def _step_down(observed: Floats, flipped: Floats) -> Floats:
    """Adjusted p-values from observed statistics and their joint distribution."""
    adjusted = np.ones(len(observed))
    largest = np.zeros(flipped.shape[1])
    order = np.argsort(-observed, kind="stable")
    for column in order[::-1]:
        largest = np.maximum(largest, flipped[column])
        hits = int(np.count_nonzero(largest >= observed[column] * (1.0 - TIE)))
        adjusted[column] = (1 + hits) / (flipped.shape[1] + 1)
    adjusted[order] = np.maximum.accumulate(adjusted[order])
    return adjusted


def _canonical(rows: Integers) -> Integers:
    """The rows up to sign, in an order that neither shuffling nor swapping arms changes."""
    first = np.take_along_axis(rows, np.argmax(rows != 0, axis=1)[:, None], axis=1)
    upright = rows * np.where(first < 0, -1, 1)
    return upright[np.lexsort(upright.T[::-1])]

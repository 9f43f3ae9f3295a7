"""Passages that are near everything, and how much of their similarity is taken away.

Hubs appear in high-dimensional nearest neighbours of themselves (Radovanović, Nanopoulos and
Ivanović 2010): a few passages lie near the centre and are returned for any search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragablate.retrieve.exact import Matrix, search


def penalised(
    passages: Matrix, measure: str, weight: float, neighbours: int, block: int
) -> NDArray[np.float32]:
    """Passages with a column more: the inner product with a query ending in 1 is lowered.

    Args:
        passages: One row a passage.
        measure: ``centre`` or ``neighbours``, as ``penalties`` has it.
        weight: How much of it is taken away.
        neighbours: Of how many.
        block: Rows multiplied at once.
    """
    found = penalties(passages, measure, neighbours, block) * -weight
    return np.hstack([passages[:], found[:, None].astype(np.float32)])


def penalties(passages: Matrix, measure: str, neighbours: int, block: int) -> NDArray[np.float64]:
    """How near each passage is to everything.

    ``centre`` is the inner product with the mean of all passages: taken away whole, it ranks as
    similarities do that are centred at that mean (Suzuki et al. 2013). ``neighbours`` is half
    the mean inner product with its nearest other passages: taken away whole, it ranks as
    cross-domain similarity local scaling does (CSLS; Conneau et al. 2018), with passages in the
    place of the searches, which are not known beforehand.
    """
    count = passages.shape[0]
    if measure == "centre":
        mean = passages[:].astype(np.float64).mean(axis=0)
        found: NDArray[np.float64] = passages[:].astype(np.float64) @ mean
        return found
    near = min(neighbours, count - 1)
    if near < 1:
        return np.zeros(count)
    rows, scores = search(passages, passages, near + 1, block)
    own = rows == np.arange(count)[:, None]
    # Where a passage has equals it may be none of its own nearest: then the last is left out.
    own[~own.any(axis=1), -1] = True
    others = np.where(own, 0.0, scores)
    return np.asarray(others.sum(axis=1) / near / 2)


def queries_of(asked: NDArray[np.float32]) -> NDArray[np.float32]:
    """Queries for penalised passages."""
    return np.hstack([asked, np.ones((len(asked), 1), dtype=np.float32)])

"""Exact search by inner product: nothing approximate, ties included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_QUERIES = 512
_WIDEST = 1 << 22


class Matrix(Protocol):
    """Rows that can be read in parts; a NumPy array is one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        ...

    def __getitem__(self, chosen: slice | NDArray[np.int64], /) -> NDArray[np.float32]:
        """The chosen rows."""
        ...


def search(
    queries: Matrix,
    passages: Matrix,
    k: int,
    block: int = 8192,
    rows: NDArray[np.int64] | None = None,
    digits: int | None = None,
    mask: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ``k`` rows of ``passages`` with the largest inner product, for each query.

    1. Blocks of passages are multiplied in single precision. Kept is what lies above the
       ``k``-th best so far, less twice the largest error such a product can have.
    2. Products of what is kept are summed again in double precision, each pair by itself, so
       that neither block, batch, threads nor library of linear algebra can change a score.
    3. Scores are rounded to ``digits`` and cut at ``k``; ties go by ascending row, also at
       the cut.

    Args:
        queries: One row a query, finite.
        passages: One row a passage, finite.
        k: How many rows are wanted; all where there are fewer.
        block: How many passages are multiplied at once.
        rows: Rows that may be found, ascending; ``None`` for all.
        digits: Significant digits of a score; ``None`` for all.
        mask: Of all rows, those that may be found: the others are multiplied and skipped, which
            finds what ``rows`` finds. Not both.

    Returns:
        Rows and scores, best first, of shape (queries, ``k`` or the number of passages).
    """
    count = passages.shape[0] if rows is None else len(rows)
    k = min(k, count if mask is None else int(mask.sum()))
    asked = queries.shape[0]
    found = np.zeros((asked, k), dtype=np.int64)
    scores = np.zeros((asked, k), dtype=np.float64)
    if k == 0:
        return found, scores
    for start in range(0, asked, _QUERIES):
        part = queries[start : start + _QUERIES]
        for number, candidates in enumerate(
            _candidates(part, passages, k, block, rows, digits, mask)
        ):
            products = inner_products(part[number], passages, candidates)
            if digits is not None:
                products = rounded(products, digits)
            best = np.lexsort((candidates, -products))[:k]
            found[start + number] = candidates[best]
            scores[start + number] = products[best]
    return found, scores


def rounded(scores: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Scores to so many significant digits; order is kept, but for ties that come about."""
    return np.array([float(f"{score:.{digits}g}") for score in scores.tolist()]) + 0.0


class _Pool:
    """What may be among the best ``k`` of one query."""

    def __init__(self) -> None:
        self.rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.scores: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        self.kth = -np.inf

    def offer(
        self, rows: NDArray[np.int64], scores: NDArray[np.float32], k: int, slack: float
    ) -> None:
        """Take in what is at most ``slack`` below the ``k``-th best."""
        chosen = np.flatnonzero(scores >= self.kth - slack)
        if not chosen.size:
            return
        self.rows = np.concatenate([self.rows, rows[chosen]])
        self.scores = np.concatenate([self.scores, scores[chosen]])
        if len(self.rows) > k:
            self.kth = float(np.partition(self.scores, -k)[-k])
            kept = self.scores >= self.kth - slack
            self.rows, self.scores = self.rows[kept], self.scores[kept]


def _candidates(
    queries: NDArray[np.float32],
    passages: Matrix,
    k: int,
    block: int,
    rows: NDArray[np.int64] | None,
    digits: int | None,
    mask: NDArray[np.bool_] | None,
) -> list[NDArray[np.int64]]:
    """Rows that may be among the best ``k`` of each query."""
    pools = [_Pool() for _ in queries]
    lengths = np.linalg.norm(queries.astype(np.float64), axis=1).tolist()
    # A bound on the relative error of a sum of so many products in single precision.
    error = 2.0 * (queries.shape[1] + 2) * float(np.finfo(np.float32).eps)
    # Whatever is rounded to the score of the k-th best is less than this share below it.
    step = 0.0 if digits is None else 2.0 * 10.0 ** (1 - digits)
    longest = 0.0
    for chosen in _blocks(passages.shape[0], block, rows):
        part = passages[chosen]
        numbers = np.arange(chosen.start, chosen.stop) if isinstance(chosen, slice) else chosen
        longest = max(longest, float(np.sqrt(np.einsum("ij,ij->i", part, part).max())) * 1.001)
        products = queries @ part.T
        if mask is not None:
            inside = mask[numbers]
            numbers, products = numbers[inside], products[:, inside]
        for pool, scores, length in zip(pools, products, lengths, strict=True):
            reach = length * longest
            pool.offer(numbers, scores, k, (2.0 * error + step) * reach)
    return [pool.rows for pool in pools]


def _blocks(
    count: int, block: int, rows: NDArray[np.int64] | None
) -> Sequence[slice | NDArray[np.int64]]:
    if rows is None:
        return [slice(start, min(start + block, count)) for start in range(0, count, block)]
    return [rows[start : start + block] for start in range(0, len(rows), block)]


def inner_products(
    query: NDArray[np.float32], passages: Matrix, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Inner products in double precision; a pair's sum does not depend on the other pairs."""
    step = max(1, _WIDEST // max(1, len(query)))
    wide = query.astype(np.float64)
    parts = [
        (passages[rows[start : start + step]].astype(np.float64) * wide).sum(axis=1)
        for start in range(0, len(rows), step)
    ]
    return np.concatenate(parts)

"""Late interaction: the best match of every token of a search, passage by passage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token vectors of passages, end to end."""

    vectors: Floats
    """One row a token."""
    starts: NDArray[np.int64]
    """The first row of each passage, and the end of the last."""

    @classmethod
    def of(cls, passages: Iterable[Floats]) -> Tokens:
        """Of one matrix a passage; a passage may have no token."""
        matrices = list(passages)
        ends = np.cumsum([0, *(len(m) for m in matrices)], dtype=np.int64)
        return cls(np.concatenate(matrices or [np.zeros((0, 1), np.float32)]), ends)

    def best(self, query: Floats) -> Floats:
        """MaxSim (Khattab and Zaharia 2020) by token: shape (tokens of the query, passages).

        The largest inner product of each token of the query with any token of a passage; -1
        with a passage without a token. Passages are multiplied in blocks that the query's
        length and the passages alone decide on.
        """
        count = len(self.starts) - 1
        found = np.full((len(query), count), -1.0, dtype=np.float32)
        if not len(query):
            return found
        held = np.flatnonzero(np.diff(self.starts))
        step = max(1, _CELLS // len(query))
        for part in _parts(self.starts, held, step):
            low, high = self.starts[part[0]], self.starts[part[-1] + 1]
            products = query @ self.vectors[low:high].T
            found[:, part] = np.maximum.reduceat(products, self.starts[part] - low, axis=1)
        return found


def _parts(
    starts: NDArray[np.int64], held: NDArray[np.int64], step: int
) -> Sequence[NDArray[np.int64]]:
    """Runs of passages with about ``step`` tokens each, none of a run empty."""
    if not len(held):
        return []
    numbers = (starts[held + 1] - 1) // step
    return np.split(held, np.flatnonzero(np.diff(numbers)) + 1)

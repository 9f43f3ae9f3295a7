"""``rank_bm25.BM25Okapi`` behind the interface of the sparse index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragablate.retrieve.bm25_index import Floats, Rows


class LibraryIndex:
    """BM25 of the package rank-bm25, which walks every passage for every query term.

    Args:
        tokens: One sequence of tokens a passage; without any token at all nothing is found
            (the library itself divides by zero there).
        k1: Above 0: at 0 the library divides by zero for passages without the term.
        b: As in the library.
        epsilon: As in the library.
    """

    def __init__(
        self, tokens: Sequence[Sequence[str]], k1: float, b: float, epsilon: float
    ) -> None:
        from rank_bm25 import BM25Okapi

        self._bm25 = BM25Okapi(tokens, k1=k1, b=b, epsilon=epsilon) if any(tokens) else None

    def scores(self, tokens: Sequence[str]) -> tuple[Rows, Floats]:
        """Rows that hold at least one of ``tokens``, ascending, and the library's scores."""
        held = [] if self._bm25 is None else self._bm25.doc_freqs
        rows = [row for row, counts in enumerate(held) if any(token in counts for token in tokens)]
        found = np.array(rows, dtype=np.int64)
        if self._bm25 is None or not rows:
            return found, np.zeros(0)
        # With b = 1 the library divides 0 by 0 for empty passages, which match nothing.
        with np.errstate(invalid="ignore"):
            return found, self._bm25.get_scores(list(tokens))[found]

"""The retriever's own order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Item, Ranking


class NoReranker:
    """The candidates in the retriever's order, cut.

    Args:
        top_k: How many are kept; ``None`` keeps all.
    """

    cheap = True
    keeps_scores = True

    def __init__(self, top_k: int | None = 10) -> None:
        self.top_k = top_k

    def problems(self) -> list[str]:
        """A cut that keeps nothing."""
        return cut_problems(self.top_k)

    def rerank(self, corpus: Corpus, requests: Sequence[RerankRequest]) -> Iterator[Item[Ranking]]:
        """The first ``top_k`` candidates."""
        for problem in self.problems():
            raise AdapterError(f"reranker: {problem}")
        for request in requests:
            yield Item(request.id, request.candidates[: self.top_k])


def cut_problems(top_k: int | None) -> list[str]:
    """What is wrong with a cut of a ranking."""
    if top_k is not None and top_k < 1:
        return [f"top_k is {top_k}: give a number of passages from 1, or null to keep all"]
    return []

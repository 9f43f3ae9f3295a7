"""Only passages that hold today: by their status and their dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Item, Passage, Ranking
from ragablate.rerank.none import cut_problems


class Status:
    """The candidates in the retriever's order, less those whose metadata say they do not hold.

    A passage without the metadata that a rule asks for is kept: nothing speaks against it.

    Args:
        allowed: Values of ``key`` that hold; empty lets every value hold.
        key: Where a passage's status stands in its metadata.
        day: The day to hold on, as ``YYYY-MM-DD``: passages that begin later or ended before
            are left out; empty asks for no day.
        begins: Where the first day stands in the metadata, as ISO 8601.
        ends: Where the last day stands.
        top_k: How many are kept; ``None`` keeps all.
    """

    cheap = True
    keeps_scores = True

    def __init__(
        self,
        allowed: Sequence[str] = ("current", "active", "published"),
        key: str = "status",
        day: str = "",
        begins: str = "effective_from",
        ends: str = "effective_until",
        top_k: int | None = 10,
    ) -> None:
        self.allowed = allowed
        self.key = key
        self.day = day
        self.begins = begins
        self.ends = ends
        self.top_k = top_k

    def problems(self) -> list[str]:
        """A cut that keeps nothing, a day that is none."""
        found = cut_problems(self.top_k)
        if self.day and not _is_day(self.day):
            found.append(f"day is {self.day!r}: give a day as YYYY-MM-DD, or nothing")
        if not self.allowed and not self.day:
            found.append("neither allowed nor day is given, so that nothing would be left out")
        return found

    def rerank(self, corpus: Corpus, requests: Sequence[RerankRequest]) -> Iterator[Item[Ranking]]:
        """The first ``top_k`` candidates that hold."""
        for problem in self.problems():
            raise AdapterError(f"reranker: {problem}")
        for request in requests:
            held = [hit for hit in request.candidates if self._holds(corpus.by_pid[hit.pid])]
            yield Item(request.id, tuple(held[: self.top_k]))

    def _holds(self, passage: Passage) -> bool:
        status = passage.meta.get(self.key)
        if self.allowed and status is not None and str(status) not in self.allowed:
            return False
        begins, ends = (str(passage.meta.get(key) or "")[:10] for key in (self.begins, self.ends))
        if not self.day:
            return True
        return not (begins and begins > self.day) and not (ends and ends < self.day)


def _is_day(text: str) -> bool:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False

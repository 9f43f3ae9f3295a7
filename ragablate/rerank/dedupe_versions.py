"""Of passages that are versions of one another, the newest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Hit, Item, Passage, Ranking
from ragablate.rerank.none import cut_problems
from ragablate.text.normalize import answer_tokens

_LENGTH = 3


class DedupeVersions:
    """The candidates in the retriever's order, one of each group of near-identical ones.

    Two passages are versions of one another where their runs of three words overlap by at
    least ``overlap`` (Jaccard similarity; Broder, "On the resemblance and containment of
    documents"). Groups grow around the best-ranked passage. The newest takes the place and
    score of the best-ranked of its group; without dates that is the best-ranked itself.

    Args:
        overlap: From where on two passages are versions, above 0 and at most 1.
        date: Where a passage's date stands in its metadata, as ISO 8601.
        top_k: How many are kept; ``None`` keeps all.
    """

    cheap = True
    keeps_scores = True

    def __init__(
        self, overlap: float = 0.5, date: str = "updated_at", top_k: int | None = 10
    ) -> None:
        self.overlap = overlap
        self.date = date
        self.top_k = top_k

    def problems(self) -> list[str]:
        """A cut that keeps nothing, an overlap out of range."""
        found = cut_problems(self.top_k)
        number = isinstance(self.overlap, int | float) and not isinstance(self.overlap, bool)
        if not number or not 0 < self.overlap <= 1:
            found.append(f"overlap is {self.overlap!r}: give a number above 0 and at most 1")
        return found

    def rerank(self, corpus: Corpus, requests: Sequence[RerankRequest]) -> Iterator[Item[Ranking]]:
        """The first ``top_k`` groups, each by its newest passage."""
        for problem in self.problems():
            raise AdapterError(f"reranker: {problem}")
        for request in requests:
            yield Item(request.id, tuple(self._grouped(corpus, request.candidates)[: self.top_k]))

    def _grouped(self, corpus: Corpus, candidates: Ranking) -> list[Hit]:
        groups: list[tuple[frozenset[tuple[str, ...]], list[Hit]]] = []
        for hit in candidates:
            own = _runs(corpus.by_pid[hit.pid])
            for runs, group in groups:
                if _similarity(own, runs) >= self.overlap:
                    group.append(hit)
                    break
            else:
                groups.append((own, [hit]))
        kept = [Hit(self._newest(corpus, group), group[0].score) for _, group in groups]
        return sorted(kept, key=lambda hit: (-hit.score, hit.pid))

    def _newest(self, corpus: Corpus, group: Sequence[Hit]) -> str:
        dated = [(str(corpus.by_pid[hit.pid].meta.get(self.date) or ""), hit.pid) for hit in group]
        newest = max(date for date, _ in dated)
        return next(pid for date, pid in dated if date == newest)


def _runs(passage: Passage) -> frozenset[tuple[str, ...]]:
    found = answer_tokens(passage.text)
    if len(found) < _LENGTH:
        return frozenset([tuple(found)])
    return frozenset(zip(*(found[i:] for i in range(_LENGTH)), strict=False))


def _similarity(a: frozenset[tuple[str, ...]], b: frozenset[tuple[str, ...]]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0

"""No retrieval: nothing is found, whatever is searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Item, Ranking


class NoRetriever:
    """A retriever that finds nothing: every ranking is empty."""

    cheap = True

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Answer every search with an empty ranking."""
        for request in requests:
            yield Item(request.id, ())

"""What a retriever built for the corpora it saw last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ragablate.records import Corpus

T = TypeVar("T")


class Kept(Generic[T]):
    """Indexes by the digest of their corpus; the one unused for longest goes first.

    Args:
        size: How many to keep. Two, because a chunker as treatment alternates between two
            corpora.
    """

    def __init__(self, size: int = 2) -> None:
        self.size = size
        self._by_digest: dict[str, T] = {}

    def get(self, corpus: Corpus, build: Callable[[Corpus], T]) -> T:
        """The index of ``corpus``, built by ``build`` where it is not kept."""
        if corpus.digest in self._by_digest:
            found = self._by_digest.pop(corpus.digest)
        else:
            found = build(corpus)
        self._by_digest[corpus.digest] = found
        while len(self._by_digest) > self.size:
            del self._by_digest[next(iter(self._by_digest))]
        return found

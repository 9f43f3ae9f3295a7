"""Small pieces searched, the passage around them passed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.chunk.cutting import check
from ragablate.protocols import Chunker
from ragablate.records import Document, Passage, SearchedPassage


class Parent:
    """Retrieve small, pass large: the passages of one chunker, searched in the pieces of another.

    A passage is found by its best piece and ranks where that does; reranker, assembler and
    reader see the passage. ``depth`` of a retriever counts pieces.

    Args:
        large: Cuts documents into the passages.
        small: Cuts each passage into what is searched.
    """

    def __init__(self, large: Chunker, small: Chunker) -> None:
        self.large = large
        self.small = small

    def problems(self) -> list[str]:
        """Those of the two chunkers."""
        found = []
        for name in ("large", "small"):
            ask = getattr(getattr(self, name), "problems", None)
            found += [f"{name}: {problem}" for problem in ask()] if ask else []
        return found

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order; raises AdapterError where a knob has no meaning."""
        check(self.problems())
        for large in self.large.chunk(documents):
            own = Document(large.pid, large.text, large.title, large.meta)
            pieces = tuple((p.start, p.start + len(p.text)) for p in self.small.chunk([own]))
            yield SearchedPassage(
                large.pid,
                large.text,
                large.title,
                large.doc_id,
                large.start,
                large.meta,
                getattr(large, "preface", ""),
                pieces,
            )

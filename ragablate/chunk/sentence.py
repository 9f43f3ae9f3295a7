"""Passages of a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.chunk.cutting import check, packed, passages, size_problems
from ragablate.records import Document, Passage
from ragablate.text.sentences import sentences


class Sentence:
    """``size`` whole sentences that share ``overlap`` sentences with the passage before.

    Headings, list items and table rows count as sentences; Thai, which marks no sentence ends,
    is cut at line ends only.

    Args:
        size: Sentences of a passage; the last of a document may have fewer.
        overlap: Sentences at its beginning that the passage before has at its end.
    """

    def __init__(self, size: int = 3, overlap: int = 0) -> None:
        self.size = size
        self.overlap = overlap

    def problems(self) -> list[str]:
        """Numbers without a meaning."""
        return size_problems(self.size, self.overlap, "sentences")

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order; raises AdapterError where a knob has no meaning."""
        check(self.problems())
        for document in documents:
            spans = sentences(document.text)
            ones = [1] * len(spans)
            yield from passages(document, packed(spans, ones, self.size, self.overlap))

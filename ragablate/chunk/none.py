"""Documents as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.records import Document, Passage


class NoChunker:
    """One passage a document, under the document's id."""

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Whole documents, in order, with their titles and metadata."""
        for document in documents:
            yield Passage(
                pid=document.doc_id,
                text=document.text,
                title=document.title,
                doc_id=document.doc_id,
                meta=document.meta,
            )

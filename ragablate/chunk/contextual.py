"""Passages searched together with what they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.chunk.cutting import check
from ragablate.chunk.headings import Section, sections
from ragablate.protocols import Chunker
from ragablate.records import Document, Passage, SearchedPassage


class Contextual:
    """Another chunker's passages, each searched behind the title and headings it stands under.

    Needs no model. The reader is shown the passage as it is; its offsets stay those of its own
    text.

    Args:
        chunker: Cuts the documents.
        wording: What is searched in front of a passage; ``{path}`` stands for the title and
            the headings, outermost first.
        separator: What joins those.
    """

    def __init__(
        self, chunker: Chunker, wording: str = "From {path}.", separator: str = ", "
    ) -> None:
        self.chunker = chunker
        self.wording = wording
        self.separator = separator

    def problems(self) -> list[str]:
        """A wording without its place, and the chunker's own problems."""
        ask = getattr(self.chunker, "problems", None)
        found = list(ask()) if ask else []
        if "{path}" not in self.wording:
            found.append("wording has no {path}: put it where title and headings belong")
        return found

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order; raises AdapterError where a knob has no meaning."""
        check(self.problems())
        for document in documents:
            known = sections(document.text)
            for passage in self.chunker.chunk([document]):
                yield prefaced(passage, self._preface(document, known, passage))

    def _preface(self, document: Document, known: Sequence[Section], passage: Passage) -> str:
        # The section of its first characters; the last that begins at or before them.
        path = next((s.path for s in reversed(known) if s.start <= passage.start), ())
        names = list(dict.fromkeys(name for name in (document.title, *path) if name))
        return self.wording.replace("{path}", self.separator.join(names)) if names else ""


def prefaced(passage: Passage, preface: str) -> Passage:
    """The passage, searched behind a text; as it is where that is empty."""
    if not preface:
        return passage
    return SearchedPassage(
        passage.pid,
        passage.text,
        passage.title,
        passage.doc_id,
        passage.start,
        passage.meta,
        preface,
        getattr(passage, "pieces", ()),
    )

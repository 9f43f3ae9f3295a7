"""Passages of one section each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.chunk.cutting import Span, check, packed, passages, size_problems
from ragablate.chunk.headings import Section, sections
from ragablate.records import Document, Passage
from ragablate.text.sentences import sentences
from ragablate.text.tokens import (
    WORDS,
    count_tokens,
    tokenizer_identity,
    tokenizer_problems,
)


class Sections:
    """Each section of a Markdown document, its heading included; long ones cut at sentences.

    Args:
        deepest: Largest level of a heading that begins a passage, 1 to 6.
        size: Most tokens of a passage; ``None`` keeps sections whole. A sentence that is
            longer stands alone.
        tokenizer: What a token is: see ``chunker=fixed``.
        heading_path: Whether a passage's title names the headings it stands under; both the
            search and the reader see titles.
        separator: What joins them.
    """

    def __init__(
        self,
        deepest: int = 6,
        size: int | None = 400,
        tokenizer: str = WORDS,
        heading_path: bool = True,
        separator: str = " > ",
    ) -> None:
        self.deepest = deepest
        self.size = size
        self.tokenizer = tokenizer
        self.heading_path = heading_path
        self.separator = separator

    def problems(self) -> list[str]:
        """Numbers without a meaning, a tokenizer that is not there."""
        found = tokenizer_problems(self.tokenizer)
        if not isinstance(self.deepest, int) or not 1 <= self.deepest <= 6:
            found.append(f"deepest is {self.deepest!r}: give a level of heading from 1 to 6")
        return found + (size_problems(self.size, 0) if self.size is not None else [])

    def identity(self) -> dict[str, object]:
        """A tokenizer file by its digest."""
        return {"tokenizer": tokenizer_identity(self.tokenizer)}

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order; raises AdapterError where a knob has no meaning."""
        check(self.problems())
        for document in documents:
            for section in sections(document.text, self.deepest):
                names = dict.fromkeys(name for name in (document.title, *section.path) if name)
                title = self.separator.join(names) if self.heading_path else document.title
                yield from passages(document, self._spans(document.text, section), title)

    def _spans(self, text: str, section: Section) -> Iterator[Span]:
        whole = text[section.start : section.end]
        if self.size is None or count_tokens(whole, self.tokenizer) <= self.size:
            yield section.start, section.end
            return
        spans = [(section.start + a, section.start + b) for a, b in sentences(whole)]
        lengths = [count_tokens(text[a:b], self.tokenizer) for a, b in spans]
        yield from packed(spans, lengths, self.size)

"""Passages of a fixed number of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.chunk.cutting import check, passages, size_problems, windows
from ragablate.records import Document, Passage
from ragablate.text.tokens import WORDS, tokenizer_identity, tokenizer_problems


class Fixed:
    """Stretches of ``size`` tokens that share ``overlap`` tokens with the one before.

    Args:
        size: Tokens of a passage; the last of a document may have fewer.
        overlap: Tokens at its beginning that the passage before has at its end.
        tokenizer: What a token is: ``words`` (a letter in scripts without spaces), the path
            of a ``tokenizer.json`` or the name of a Hugging Face model.
    """

    def __init__(self, size: int = 200, overlap: int = 0, tokenizer: str = WORDS) -> None:
        self.size = size
        self.overlap = overlap
        self.tokenizer = tokenizer

    def problems(self) -> list[str]:
        """Lengths without a meaning, a tokenizer that is not there."""
        return size_problems(self.size, self.overlap) + tokenizer_problems(self.tokenizer)

    def identity(self) -> dict[str, object]:
        """A tokenizer file by its digest."""
        return {"tokenizer": tokenizer_identity(self.tokenizer)}

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order; raises AdapterError where a knob has no meaning."""
        check(self.problems())
        for document in documents:
            spans = windows(document.text, self.size, self.overlap, self.tokenizer)
            yield from passages(document, spans)

"""Passages cut where the text itself breaks, by a library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from ragablate.chunk.cutting import check, passages, size_problems
from ragablate.errors import MissingExtra
from ragablate.records import Document, Passage
from ragablate.text.tokens import WORDS, count_tokens, tokenizer_identity, tokenizer_problems

CHARACTERS = "characters"
_BATCH = 64
_PACKAGE = "semantic_text_splitter"


class Recursive:
    """The largest pieces that fit ``size``, cut at blank lines if possible, else at line ends,
    sentences, words, characters: what other libraries call recursive splitting.

    The cutting is that of the library semantic-text-splitter.

    Args:
        size: Longest passage.
        overlap: How much of the passage before a passage may repeat.
        tokenizer: What ``size`` and ``overlap`` count: ``characters``, ``words`` (far slower),
            the path of a ``tokenizer.json`` or the name of a Hugging Face model.
        markdown: Whether blocks of Markdown (headings, lists, tables, code) are cut points.
    """

    def __init__(
        self,
        size: int = 1000,
        overlap: int = 0,
        tokenizer: str = CHARACTERS,
        markdown: bool = False,
    ) -> None:
        self.size = size
        self.overlap = overlap
        self.tokenizer = tokenizer
        self.markdown = markdown

    def problems(self) -> list[str]:
        """Lengths without a meaning, a tokenizer or the library that is not there."""
        found = size_problems(self.size, self.overlap, self.tokenizer)
        if self.tokenizer != CHARACTERS:
            found += tokenizer_problems(self.tokenizer)
        if find_spec(_PACKAGE) is None:
            found.append(str(MissingExtra("semantic-text-splitter", "chunk", "chunker=recursive")))
        return found

    def identity(self) -> dict[str, object]:
        """A tokenizer file by its digest, and the version of the library that cuts."""
        try:
            library = version("semantic-text-splitter")
        except PackageNotFoundError:
            library = ""
        return {"tokenizer": [tokenizer_identity(self.tokenizer), library]}

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order; raises AdapterError where a knob has no meaning."""
        check(self.problems())
        splitter = self._splitter()
        remaining = iter(documents)
        while batch := list(islice(remaining, _BATCH)):
            # Several at once, so that the library can use every processor.
            cut = splitter.chunk_all_indices([_well_formed(document.text) for document in batch])
            for document, pieces in zip(batch, cut, strict=True):
                yield from passages(document, ((at, at + len(text)) for at, text in pieces))

    def _splitter(self) -> Any:
        import semantic_text_splitter as library

        kind = library.MarkdownSplitter if self.markdown else library.TextSplitter
        knobs: dict[str, Any] = {"capacity": self.size, "overlap": self.overlap}
        if self.tokenizer == CHARACTERS:
            return kind(**knobs)
        if self.tokenizer == WORDS:
            return kind.from_callback(count_tokens, **knobs)
        if self.tokenizer.endswith(".json"):
            return kind.from_huggingface_tokenizer_file(str(Path(self.tokenizer)), **knobs)
        from tokenizers import Tokenizer

        name, _, revision = self.tokenizer.partition("@")
        tokenizer = Tokenizer.from_pretrained(name, revision=revision or "main")
        return kind.from_huggingface_tokenizer(tokenizer, **knobs)


def _well_formed(text: str) -> str:
    """The same text, as long, with a mark for each lone surrogate, which no UTF-8 can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text

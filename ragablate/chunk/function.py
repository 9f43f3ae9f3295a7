"""A researcher's own chunker, as a plain function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragablate.chunk.cutting import Span, passages
from ragablate.errors import AdapterError
from ragablate.failures import RAISED
from ragablate.functions import function_problems, function_version, load_function, one_line
from ragablate.records import Document, Passage

_WHERE = "chunker.function"


class FunctionChunker:
    """Passages at the places that a function ``(text) -> [(start, end), …]`` names.

    The places are characters of the document's text, so offsets are exact and gold stays
    resolvable whatever is left out. A document that holds the same page twice, as it was
    extracted and as it was transcribed, lets two functions compare the two.

    Args:
        function: ``package.module:name``.
        version: What stands for the function's source in the fingerprint; change it when
            the function comes to cut otherwise. Empty takes a hash of its source.
        args: Further keyword arguments for the function.
    """

    def __init__(
        self, function: str, version: str = "", args: Mapping[str, Any] | None = None
    ) -> None:
        self.function = function
        self.version = version
        self.args = args

    def problems(self) -> list[str]:
        """A function that cannot be found."""
        return function_problems(self.function, _WHERE)

    def identity(self) -> dict[str, object]:
        """The function's version, or its source."""
        return {"version": function_version(self.function, self.version)}

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order.

        Raises:
            AdapterError: The function raised, or named something other than places in the
                text: a corpus cannot be measured in part.
        """
        function = load_function(self.function, _WHERE)
        for document in documents:
            where = f"{_WHERE} {self.function} on document '{document.doc_id}'"
            try:
                named = list(function(document.text, **(self.args or {})))
            except RAISED as error:
                raise AdapterError(f"{where} raised {one_line(error)}") from error
            spans = [_span(each, len(document.text), where) for each in named]
            yield from passages(document, dict.fromkeys(spans))


def _span(each: Any, length: int, where: str) -> Span:
    try:
        start, end = (int(value) for value in each)
    except (TypeError, ValueError) as error:
        raise AdapterError(f"{where} gave {each!r:.60}: give pairs of start and end") from error
    if not 0 <= start <= end <= length:
        raise AdapterError(
            f"{where} gave ({start}, {end}), which is no stretch of its {length} characters"
        )
    return start, end

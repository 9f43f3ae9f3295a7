"""Passages from stretches of a document, and stretches that hold a number of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragablate.errors import AdapterError
from ragablate.records import Document, Passage
from ragablate.text.tokens import token_spans

Span = tuple[int, int]
"""First character and one past the last, in a document."""


def passages(
    document: Document, spans: Iterable[Span], title: str | None = None
) -> Iterator[Passage]:
    """One passage a stretch, under ``doc_id:start-end``: the same stretch has the same pid
    whichever chunker cut it. White space around a stretch and blank stretches are left out.

    Args:
        document: What is cut; its title and metadata go to every passage.
        spans: In characters of its text.
        title: Another title.
    """
    for start, end in spans:
        start, end = trimmed(document.text, start, end)
        if start < end:
            yield Passage(
                pid=f"{document.doc_id}:{start}-{end}",
                text=document.text[start:end],
                title=document.title if title is None else title,
                doc_id=document.doc_id,
                start=start,
                meta=document.meta,
            )


def trimmed(text: str, start: int, end: int) -> Span:
    """A stretch without white space around it; empty where there is nothing else."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return (start + left, start + len(piece.rstrip())) if left < len(piece) else (start, start)


def windows(text: str, size: int, overlap: int, tokenizer: str) -> Iterator[Span]:
    """Stretches of ``size`` tokens, each beginning ``overlap`` tokens before the last one ended.

    Together they hold the whole text. The last may be shorter, but has a token of its own.
    """
    starts = [start for start, _ in token_spans(text, tokenizer)]
    if starts:
        starts[0] = 0
    for first in range(0, max(len(starts) - overlap, min(len(starts), 1)), size - overlap):
        end = starts[first + size] if first + size < len(starts) else len(text)
        yield starts[first], end


def packed(
    spans: Sequence[Span], lengths: Sequence[int], size: int, overlap: int = 0
) -> Iterator[Span]:
    """Neighbouring stretches joined as long as together they have at most ``size`` tokens.

    One that is longer stands alone.

    Args:
        spans: In order, without gaps that matter.
        lengths: Tokens of each.
        size: Most tokens of a joined stretch.
        overlap: How many of the last stretches begin the next one too, where they fit.
    """
    first = 0
    while first < len(spans):
        last, length = first, lengths[first]
        while last + 1 < len(spans) and length + lengths[last + 1] <= size:
            last += 1
            length += lengths[last]
        yield spans[first][0], spans[last][1]
        if last + 1 == len(spans):
            return
        first = max(first + 1, last + 1 - overlap)


def size_problems(size: object, overlap: object, unit: str = "tokens") -> list[str]:
    """A length or an overlap that cuts nothing."""
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        return [f"size is {size!r}: give a number of {unit} from 1"]
    if not isinstance(overlap, int) or isinstance(overlap, bool) or not 0 <= overlap < size:
        return [f"overlap is {overlap!r}: give a number of {unit} from 0 to below size ({size})"]
    return []


def check(problems: Sequence[str]) -> None:
    """Raise AdapterError with the first problem."""
    if problems:
        raise AdapterError(f"chunker: {problems[0]}")

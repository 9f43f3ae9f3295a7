"""Where the sections of a Markdown text are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_MAY_HEAD = re.compile(r"^ {0,3}(?:#{1,6}(?:\s|$)|=+\s*$|-+\s*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading, up to the next."""

    start: int
    """First character, of the heading."""
    body: int
    """First character after the heading's lines."""
    end: int
    """One past the last character."""
    path: tuple[str, ...]
    """The headings it stands under, outermost first, its own last; empty before the first."""


def sections(text: str, deepest: int = 6) -> list[Section]:
    """The sections of a text, in order; they hold all of it.

    Headings are those of CommonMark (``#`` and underlined ones, not within code), outside
    lists and quotations.

    Args:
        text: Markdown, or any text: without a heading it is one section.
        deepest: Largest level of a heading that begins a section.
    """
    starts = _line_starts(text)
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    start = body = 0
    for level, first, last, name in _headings(text):
        if level > deepest:
            continue
        if starts[first] > start:
            found.append(Section(start, body, starts[first], tuple(n for _, n in path)))
        path = [(depth, known) for depth, known in path if depth < level] + [(level, name)]
        start, body = starts[first], starts[min(last, len(starts) - 1)]
    if start < len(text) or not found:
        found.append(Section(start, body, len(text), tuple(n for _, n in path)))
    return found


def _line_starts(text: str) -> list[int]:
    """Offset of every line, and the end of the text."""
    return [0, *(match.end() for match in _LINE_ENDS.finditer(text)), len(text)]


def _headings(text: str) -> list[tuple[int, int, int, str]]:
    """Level, first line, line after the last, and name."""
    if not _MAY_HEAD.search(text):
        return []
    # Their line count must not depend on characters that the parser replaces.
    tokens = _parser().parse(text)
    return [
        (int(token.tag[1]), token.map[0], token.map[1], " ".join(inline.content.split()))
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.map
    ]


@lru_cache(maxsize=1)
def _parser() -> Any:
    """CommonMark's blocks as far as headings depend on them; inline marks stay as they are."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero").enable(["heading", "lheading", "fence", "code", "html_block"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser

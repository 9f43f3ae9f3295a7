"""A terminal page: text and tables that stay readable at any width, with and without colour."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ragablate.report.escape import clean
from ragablate.report.tables import Table, broken, fit

GAP = 2
"""Cells between two columns of a table."""
_WIDEST = 110
_UNBOUNDED = 100
"""Width where the output is no terminal and nothing else is asked for."""
_ASCII = str.maketrans(
    {"→": "->", "▲": "^", "▼": "v", "≈": "=", "✓": "+", "✗": "x", "•": "-", "·": "|", "–": "-",
     "±": "+/-", "…": "..."}
)  # fmt: skip

Style = Callable[[int, str], str]
"""The style of a cell, by the index of its column and its text."""


def no_style(column: int, text: str) -> str:
    """Every cell plain."""
    return ""


class _Lasting(Console):
    """A console that falls silent when its reader leaves, so that the work goes on."""

    def on_broken_pipe(self) -> None:
        """Print nothing from now on."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


class Page:
    """What is printed on. Text is cleaned and never read as markup.

    Args:
        stream: Where it goes; standard output by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        file = sys.stdout if stream is None else stream
        self.terminal = bool(getattr(file, "isatty", lambda: False)())
        plain = not self.terminal or bool(os.environ.get("NO_COLOR"))
        self.console = _Lasting(
            file=file,
            force_terminal=self.terminal,
            color_system=None if plain else "auto",
            width=None if self.terminal or os.environ.get("COLUMNS") else _UNBOUNDED,
            markup=False,
            highlight=False,
            emoji=False,
        )
        self.ascii = not self.console.encoding.lower().startswith("utf")

    @property
    def width(self) -> int:
        """Cells of a line; no longer than can be read with ease."""
        return min(self.console.width, _WIDEST)

    def text(self, text: str, style: str = "") -> Text:
        """Untrusted text, ready to be printed."""
        shown = clean(text)
        if self.ascii:
            encoding = self.console.encoding
            shown = shown.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
        return Text(shown, style=style)

    def join(self, *parts: tuple[str, str]) -> Text:
        """Several texts with a style each, on one line."""
        return Text(" ").join(self.text(text, style) for text, style in parts if text)

    def heading(self, title: str) -> None:
        """The title of a part of the page, with a rule to the edge."""
        text = self.text(title, "bold")
        self.blank()
        if text.cell_len + len(" ──") > self.width:
            self.line(text)
            return
        rule = self._rule(self.width - text.cell_len - 1)
        self.verbatim(Text(" ").join([text, Text(rule, style="dim")]))

    def line(self, text: Text, indent: int = 0, first: Text | None = None) -> None:
        """A paragraph, its lines indented alike.

        Args:
            text: What it says.
            indent: Cells before it.
            first: What stands before the first line, in the indentation of the others.
        """
        start = Text(" " * indent)
        mark = first if first is not None else Text()
        lines = text.wrap(self.console, max(1, self.width - indent - mark.cell_len))
        for number, line in enumerate(lines):
            before = mark if not number else Text(" " * mark.cell_len)
            self.verbatim(start + before + line)

    def bullet(self, text: Text, indent: int = 0, mark: Text | None = None) -> None:
        """An item of a list."""
        self.line(text, indent, (self.text("•", "dim") if mark is None else mark) + Text(" "))

    def blank(self) -> None:
        """An empty line."""
        self.console.print()

    def verbatim(self, text: Text) -> None:
        """A line that is never broken, so that it can be copied."""
        text.rstrip()
        self.console.print(text, soft_wrap=True)

    def table(self, table: Table, style: Style = no_style, asides: Sequence[Text] = ()) -> None:
        """A table, less the columns that do not fit; one block a row where too few would be left.

        Args:
            table: The table.
            style: Styles of its cells.
            asides: What is said of each row in a line of its own below it.
        """
        fitted = fit(table, self.width, GAP, cell_len)
        if fitted is None:
            self._stack(table, style, asides)
            return
        shown, widths = fitted
        self._header(shown, widths)
        kept = [table.columns.index(column) for column in shown.columns]
        for number, row in enumerate(shown.rows):
            cells = [
                [self.text(line, style(index, cell)) for line in broken(cell, width, cell_len)]
                if not place
                else [self.text(cell, style(index, cell))]
                for place, (index, cell, width) in enumerate(zip(kept, row, widths, strict=True))
            ]
            self._row(shown, widths, cells)
            if asides:
                self.line(asides[number], GAP)

    def _header(self, table: Table, widths: Sequence[int]) -> None:
        lines = [broken(c.header, w, cell_len) for c, w in zip(table.columns, widths, strict=True)]
        height = max(map(len, lines))
        cells = [
            [self.text(line, "dim") for line in [""] * (height - len(header)) + header]
            for header in lines
        ]
        self._row(table, widths, cells)
        total = sum(widths) + GAP * (len(widths) - 1)
        self.verbatim(Text(self._rule(total), style="dim"))

    def _row(self, table: Table, widths: Sequence[int], cells: Sequence[Sequence[Text]]) -> None:
        for number in range(max(map(len, cells))):
            line = []
            for column, width, cell in zip(table.columns, widths, cells, strict=True):
                text = cell[number].copy() if number < len(cell) else Text()
                text.align("right" if column.right else "left", width)
                line.append(text)
            self.verbatim(Text(" " * GAP).join(line))

    def _rule(self, length: int) -> str:
        return ("-" if self.ascii else "─") * length

    def _stack(self, table: Table, style: Style, asides: Sequence[Text]) -> None:
        for number, row in enumerate(table.rows):
            self.line(self.text(row[0], style(0, row[0]) or "bold"))
            pairs = [
                self.join((column.header, "dim"), (cell, style(index, cell)))
                for index, (column, cell) in enumerate(zip(table.columns, row, strict=True))
                if index
            ]
            between = Text(" | " if self.ascii else " · ", style="dim")
            for line in packed(pairs, self.width - GAP, between):
                self.line(line, GAP)
            if asides:
                self.line(asides[number], GAP)


def packed(parts: Sequence[Text], width: int, between: Text) -> Iterable[Text]:
    """Lines that hold as many unbroken parts as fit."""
    line: list[Text] = []
    for part in parts:
        if line and between.join([*line, part]).cell_len > width:
            yield between.join(line)
            line = []
        line.append(part)
    if line:
        yield between.join(line)

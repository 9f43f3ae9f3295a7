"""A terminal page: text and tables that stay readable at any width, with and without colour."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from ragablate.report.escape import clean
from ragablate.report.tables import Table, fit

GAP = 2
"""Cells between two columns of a table."""
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


class Page:
    """What is printed on. Text is cleaned and never read as markup.

    Args:
        stream: Where it goes; standard output by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        file = sys.stdout if stream is None else stream
        self.terminal = bool(getattr(file, "isatty", lambda: False)())
        plain = not self.terminal or bool(os.environ.get("NO_COLOR"))
        self.console = Console(
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
        """Cells of a line."""
        return self.console.width

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
        """The title of a part of the page."""
        self.console.print()
        self.console.print(Rule(self.text(title, "bold"), align="left", style="dim"))

    def line(self, text: Text, indent: int = 0) -> None:
        """A paragraph, its lines indented alike."""
        self.console.print(Padding(text, (0, 0, 0, indent)))

    def bullet(self, text: Text, indent: int = 0, mark: Text | None = None) -> None:
        """An item of a list."""
        grid = RichTable.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(self.text("•", "dim") if mark is None else mark, text)
        self.console.print(Padding(grid, (0, 0, 0, indent)))

    def blank(self) -> None:
        """An empty line."""
        self.console.print()

    def verbatim(self, text: Text) -> None:
        """A line that is never broken, so that it can be copied."""
        self.console.print(text, soft_wrap=True)

    def table(self, table: Table, style: Style = no_style) -> None:
        """A table, less the columns that do not fit; one block a row where too few would be left."""
        fitted = fit(table, self.width, GAP, cell_len)
        if fitted is None:
            self._stack(table, style)
            return
        shown, widths = fitted
        kept = [table.columns.index(column) for column in shown.columns]
        grid = RichTable(
            box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0),
            header_style="dim",
        )  # fmt: skip
        for column, width in zip(shown.columns, widths, strict=True):
            grid.add_column(
                self.text(column.header),
                justify="right" if column.right else "left",
                width=width,
                vertical="top",
                overflow="fold",
            )
        for row in shown.rows:
            cells = zip(kept, row, strict=True)
            grid.add_row(*(self._cell(cell, style(index, cell)) for index, cell in cells))
        self.console.print(grid)

    def _cell(self, cell: str, style: str) -> Text:
        """A cell; a second line is an aside."""
        first, *rest = cell.split("\n")
        return Text("\n").join([self.text(first, style), *(self.text(r, "dim") for r in rest)])

    def _stack(self, table: Table, style: Style) -> None:
        for row in table.rows:
            first, *rest = row[0].split("\n")
            self.line(self.text(first, style(0, row[0]) or "bold"))
            for aside in rest:
                self.line(self.text(aside, "dim"), 2)
            pairs = [
                self.join((column.header, "dim"), (cell, style(index, cell)))
                for index, (column, cell) in enumerate(zip(table.columns, row, strict=True))
                if index
            ]
            for line in packed(pairs, self.width - 2, self.text(" · ", "dim")):
                self.line(line, 2)


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

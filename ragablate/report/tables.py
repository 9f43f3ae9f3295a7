"""Tables: what they hold, how they are written in Markdown, how they fit a narrow screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

NOTHING = "–"
"""Stands in a cell that has no value."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    header: str
    """What stands above it."""
    right: bool = False
    """Whether its cells are aligned to the right, as numbers are."""
    expendable: int = 0
    """Where the width does not suffice, columns go in descending order of this; 0 stays."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of equal length under named columns."""

    columns: tuple[Column, ...]
    """From left to right; the first names the row."""
    rows: tuple[tuple[str, ...], ...]
    """Cells as text."""

    def without(self, index: int) -> Table:
        """The table less one column."""
        return Table(
            self.columns[:index] + self.columns[index + 1 :],
            tuple(row[:index] + row[index + 1 :] for row in self.rows),
        )

    def without_empty(self) -> Table:
        """The table less the columns in which nothing stands."""
        kept = self
        for index in reversed(range(1, len(self.columns))):
            if all(row[index] in ("", NOTHING) for row in self.rows):
                kept = kept.without(index)
        return kept


def pipes(table: Table) -> str:
    """A table in GitHub's Markdown; its cells must be Markdown already."""
    lines = [
        _line([column.header for column in table.columns]),
        _line(["---:" if column.right else "---" for column in table.columns]),
        *(_line(row) for row in table.rows),
    ]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def fit(
    table: Table, width: int, gap: int, length: Callable[[str], int]
) -> tuple[Table, tuple[int, ...]] | None:
    """The table with as many columns as fit, and how wide each is.

    The first column may be broken between words and headers between their words; numbers
    never are. ``None`` where not even the columns that must stay fit.

    Args:
        table: The table, its cells on one line each.
        width: Cells of the screen.
        gap: Cells between two columns.
        length: Cells a text takes.
    """
    while True:
        narrow = tuple(_narrow(table, i, length) for i in range(len(table.columns)))
        spare = width - sum(narrow) - gap * (len(narrow) - 1)
        if spare >= 0:
            return table, _widen(table, narrow, spare, length)
        droppable = [i for i, column in enumerate(table.columns) if column.expendable]
        if not droppable:
            return None
        table = table.without(max(droppable, key=lambda i: table.columns[i].expendable))


def _narrow(table: Table, index: int, length: Callable[[str], int]) -> int:
    """The least a column needs: whole numbers, whole words of its header and of names."""
    cells = [row[index] for row in table.rows]
    words = [word for cell in cells for word in (cell.split() if index == 0 else [cell])]
    return max(map(length, (*table.columns[index].header.split(), *words)), default=0)


def _widen(
    table: Table, narrow: Sequence[int], spare: int, length: Callable[[str], int]
) -> tuple[int, ...]:
    """Give the first column what its cells need, then the headers, as far as there is room."""
    widths = list(narrow)
    for index, column in enumerate(table.columns):
        cells = [row[index] for row in table.rows] if index == 0 else []
        wanted = max(map(length, (column.header, *cells)))
        more = max(0, min(spare, wanted - widths[index]))
        widths[index] += more
        spare -= more
    return tuple(widths)

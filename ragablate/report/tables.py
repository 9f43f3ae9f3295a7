"""Tables: what they hold, how they are written in Markdown, how they fit a narrow screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

NOTHING = "–"
"""Stands in a cell that has no value."""

_HEADER_LINES = 2


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

    The first column may be broken between words, headers too, preferably into two lines;
    numbers never are. ``None`` where not even the columns that must stay fit.

    Args:
        table: The table.
        width: Cells of the screen.
        gap: Cells between two columns.
        length: Cells a text takes.
    """
    while True:
        narrow = [_narrow(table, i, length) for i in range(len(table.columns))]
        spare = width - sum(narrow) - gap * (len(narrow) - 1)
        if spare >= 0:
            return table, _widened(table, narrow, spare, length)
        droppable = [i for i, column in enumerate(table.columns) if column.expendable]
        if not droppable:
            return None
        table = table.without(max(droppable, key=lambda i: table.columns[i].expendable))


def _narrow(table: Table, index: int, length: Callable[[str], int]) -> int:
    """The least a column needs: whole numbers, whole words of its header and of names."""
    cells = [row[index] for row in table.rows]
    words = [word for cell in cells for word in (cell.split() if index == 0 else [cell])]
    return max(map(length, (*table.columns[index].header.split(), *words)), default=0)


def _widened(
    table: Table, narrow: Sequence[int], spare: int, length: Callable[[str], int]
) -> tuple[int, ...]:
    """Give the first column what its cells need, then headers two lines, while there is room."""
    widths = list(narrow)
    for index, column in enumerate(table.columns):
        wanted = widths[index]
        if index == 0:
            wanted = max(map(length, (column.header, *(row[0] for row in table.rows))))
        while len(broken(column.header, wanted, length)) > _HEADER_LINES:
            wanted += 1
        more = min(spare, wanted - widths[index])
        widths[index] += more
        spare -= more
    return tuple(widths)


def broken(text: str, width: int, length: Callable[[str], int]) -> list[str]:
    """Text broken between words into lines of at most ``width`` cells, longer words apart."""
    lines: list[str] = []
    for word in text.split():
        if lines and length(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines

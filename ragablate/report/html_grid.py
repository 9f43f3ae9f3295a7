"""Tables of the page: what stands in a cell, and how it is to look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.records import Signal, Term
from ragablate.report import figures
from ragablate.report.tables import NOTHING, Column, Table


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. Its texts are untrusted; the page escapes them."""

    text: str
    """What it says."""
    below: tuple[str, ...] = ()
    """Smaller lines under it."""
    look: str = ""
    """``code``, ``strong``, ``muted`` or the state it is coloured by."""
    shade: int = 0
    """How dark its ground is, from 0 to 5."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with a caption; the first cell of a row names it."""

    caption: str
    """What it shows."""
    columns: tuple[Column, ...]
    """From left to right."""
    rows: tuple[tuple[Cell, ...], ...]
    """Cells by row."""
    crossed: bool = False
    """Whether columns are states of the same kind as rows, so that their heads are upright."""

    def without_empty(self) -> Grid:
        """The table less the columns in which nothing stands."""
        kept = [
            i
            for i in range(len(self.columns))
            if i == 0 or any(row[i].text not in ("", NOTHING) for row in self.rows)
        ]
        return Grid(
            self.caption,
            tuple(self.columns[i] for i in kept),
            tuple(tuple(row[i] for i in kept) for row in self.rows),
            self.crossed,
        )


def plain(caption: str, table: Table, first: str = "code") -> Grid:
    """A table of plain texts.

    Args:
        caption: What it shows.
        table: Its texts.
        first: How the cells of the first column look.
    """
    rows = tuple((Cell(row[0], look=first), *map(Cell, row[1:])) for row in table.rows)
    return Grid(caption, table.columns, rows)


def rated(signal: Signal, size: int) -> Cell:
    """A stage signal with its interval, and its n where that is not ``size``."""
    if signal.mean is None:
        return Cell(NOTHING, look="muted")
    below = [figures.rate_interval(signal)]
    if signal.n != size:
        below.append(f"n = {signal.n:,}")
    return Cell(figures.rate(signal), tuple(line for line in below if line))


def terms(caption: str, found: Sequence[Term], total: str = "", lost: bool = False) -> Grid:
    """Terms of an analysis.

    Args:
        caption: What they are.
        found: The terms.
        total: What they add up to, where they do.
        lost: Whether they are what stages lose.
    """
    columns = (
        Column("term"),
        Column("mean", right=True),
        Column(f"{figures.covered([t.ci95 for t in found])} interval", right=True),
        Column("p (Holm)", right=True),
        Column("raised / lowered", right=True),
        Column("n", right=True),
        Column("state"),
        Column("observed reasons (not proven to be why)"),
    )
    rows = [_term(term, lost) for term in found]
    if total:
        rows.append((Cell("together"), Cell(total, look="strong"), *(Cell(NOTHING),) * 6))
    return Grid(caption, columns, tuple(rows)).without_empty()


def _term(term: Term, lost: bool) -> tuple[Cell, ...]:
    reasons = [f"{name} {figures.share(value)}" for name, value in sorted(term.reasons.items())]
    return (
        Cell(term.name, look="strong"),
        Cell(figures.term(term), look="strong"),
        Cell(figures.term_interval(term)),
        Cell(figures.probability(term.p_adjusted)),
        Cell(f"{term.fixed} / {term.broke}"),
        Cell(f"{term.n:,}"),
        Cell(figures.term_state(term, lost), look=term.state),
        Cell(", ".join(reasons) or NOTHING),
    )

"""What became of failures between two sides, on a terminal page."""

from __future__ import annotations

from ragablate.bundle.read import Bundle
from ragablate.compare.moves import Moves
from ragablate.report.page import Page
from ragablate.report.surfaced import moved_from_control, surfaced
from ragablate.report.tables import Column, Table

_LOG = "ragablate.dataset.traces.Traces"


def print_moves(page: Page, title: str, moved: Moves) -> None:
    """What became of each failure: the verdict, and the matrix before (rows) to after."""
    page.heading(title)
    page.line(page.text(f"{moved.verdict}: {moved.sentence}"))
    befores = sorted({before for before, _ in moved.counts})
    afters = sorted({after for _, after in moved.counts})
    columns = (Column("before \\ after"), *(Column(after, right=True) for after in afters))
    rows = tuple(
        (before, *(f"{moved.counts.get((before, after), 0):,}" for after in afters))
        for before in befores
    )
    page.table(Table(columns, rows))


def print_replayed(page: Page, bundle: Bundle) -> None:
    """Over a log that was replayed, whether each change mended incidents or renamed them."""
    if bundle.plan["config"]["dataset"].get("_target_") != _LOG:
        return
    for arm, moved in moved_from_control(bundle, surfaced(bundle)).items():
        print_moves(page, f"The log's questions, control to {arm}", moved)

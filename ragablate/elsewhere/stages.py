"""The stages of a log side by side, as the command line and the report tell them."""

from __future__ import annotations

from dataclasses import dataclass

from ragablate.compare.numbers import percent
from ragablate.diagnose.facts import Facts
from ragablate.diagnose.grid import Grid, distractor_text, grid
from ragablate.diagnose.patterns import Rate, patterns, signals
from ragablate.elsewhere.shaping import Shaped
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table

ASSOCIATION = (
    "Two logs side by side are a description: what else changed between them is not looked at. "
    "To prove it, change one thing: ragablate run 'experiment=[swap_retriever,swap_reader]'."
)


@dataclass(frozen=True, slots=True)
class Stages:
    """What the stages of one log did."""

    signals: tuple[Rate, ...]
    """Side by side, in the order of the pipeline."""
    grid: Grid
    """Evidence against faithfulness."""
    patterns: tuple[str, ...]
    """What they show together."""


def stages(facts: Facts, supported: float) -> Stages:
    """The stages of one log.

    Args:
        facts: Its answers.
        supported: Least share of supported claims of an answer that its prompt supports.
    """
    return Stages(signals(facts, supported), grid(facts, supported), patterns(facts, supported))


def print_stages(page: Page, found: Stages) -> None:
    """Signals, the four cells, and the patterns; nothing where no question has gold."""
    if not any(rate.n for rate in found.signals):
        return
    page.heading("Stage by stage, over answerable questions with gold")
    columns = (Column("signal"), Column("rate", right=True), Column("95 %", right=True),
               Column("answers", right=True), Column("unmeasured", right=True))  # fmt: skip
    page.table(Table(columns, tuple(map(_rate_row, found.signals))))
    if found.grid.measured:
        _print_grid(page, found.grid)
    for text in found.patterns:
        page.bullet(page.text(text))


def _rate_row(rate: Rate) -> tuple[str, ...]:
    limits = rate.interval
    shown = "–" if limits is None else f"{percent(limits.low)} to {percent(limits.high)}"
    mean = "–" if rate.mean is None else percent(rate.mean)
    return rate.name, mean, shown, f"{rate.n:,}", f"{rate.unmeasured:,}"


def _print_grid(page: Page, found: Grid) -> None:
    page.heading("Was the evidence there, and does the answer keep to it")
    columns = (Column("evidence"), Column("answer"), Column("answers", right=True),
               Column("wrong", right=True), Column("declined", right=True))  # fmt: skip
    rows = tuple(
        (c.evidence, c.answer, f"{c.answers:,}", "–" if c.failed is None else f"{c.failed:,}",
         f"{c.refused:,}")
        for c in found.cells
    )  # fmt: skip
    page.table(Table(columns, rows))
    if found.unmeasured:
        page.line(page.text(f"{found.unmeasured:,} answers are in no cell: support was not judged, "
                            "or the log does not say what was shown."))  # fmt: skip
    for cell in found.cells:
        if cell.answers and cell.failed != 0:
            where = f"{cell.evidence}, {cell.answer}: {cell.reading}"
            page.bullet(page.text(f"{where}. Where to look: {cell.look}."))
    told = distractor_text(found.distractors)
    if told:
        page.bullet(page.text(told))


def print_shapes(page: Page, found: Shaped) -> None:
    """How evidence and faithfulness moved between two logs, overall and by slice."""
    page.heading("The shape of the change")
    columns = (Column("questions"), Column("evidence"), Column("faithfulness"), Column("right"),
               Column("reading"))  # fmt: skip
    rows = [(f"all {found.questions:,}", found.overall), *found.slices.items()]
    page.table(Table(columns, tuple(
        (name, one.evidence, one.faithfulness, one.score, one.name) for name, one in rows
    )))  # fmt: skip
    one = found.overall
    page.line(page.text(f"{one.text}." + (f" Look at {one.owner}." if one.owner else "")))
    if one.settle:
        page.line(page.text(f"To settle it: {one.settle}."))
    if found.slices:
        page.line(page.text("Slices are exploratory: they say where to look first."))
    page.line(page.text(ASSOCIATION))

"""Abstentions crossed with answerability and with the evidence the reader saw, as counts."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.bundle.read import Bundle
from ragablate.judge.abstention_by_evidence import (
    WITH_EVIDENCE,
    WITH_LOOKALIKE,
    WITHOUT_EVIDENCE,
    WITHOUT_LOOKALIKE,
)
from ragablate.records import Verdict
from ragablate.report.escape import code
from ragablate.report.tables import NOTHING, Column, Table, pipes

TITLE = "Abstentions by evidence"
"""Title of the section."""

_CELLS = {
    WITH_EVIDENCE: "answerable, evidence in context",
    WITHOUT_EVIDENCE: "answerable, evidence missing",
    WITH_LOOKALIKE: "unanswerable, look-alike in context",
    WITHOUT_LOOKALIKE: "unanswerable, nothing in context",
}
INTRO = (
    "Decodes in which the reader abstained, of those it was asked on. Only in the first column is "
    "an abstention a fault of the reader: without the evidence, refusing is its success."
)
"""How to read it."""


def crossed(bundle: Bundle) -> Table | None:
    """A row per arm, a column per kind of question; ``None`` where no judge measured it."""
    rows = [
        (arm, *(_count(bundle.verdicts.get(arm, ()), cell) for cell in _CELLS))
        for arm in bundle.arms
    ]
    if all(count == NOTHING for _, *counts in rows for count in counts):
        return None
    columns = (Column("arm"), *(Column(header, right=True) for header in _CELLS.values()))
    return Table(columns, tuple(rows)).without_empty()


def section(bundle: Bundle) -> str:
    """The table as a section in Markdown; empty where there is none."""
    table = crossed(bundle)
    if table is None:
        return ""
    rows = tuple((code(arm), *counts) for arm, *counts in table.rows)
    return f"## {TITLE}\n\n{INTRO}\n\n{pipes(Table(table.columns, rows))}"


def _count(verdicts: Sequence[Verdict], cell: str) -> str:
    measured = [v.value for v in verdicts if v.measure == cell and v.value is not None]
    return f"{sum(measured):,.0f} of {len(measured):,}" if measured else NOTHING

"""What the field guide found, on a terminal page."""

from __future__ import annotations

from rich.text import Text

from ragablate.compare.numbers import percent
from ragablate.diagnose.guide import Evidence, Finding, Guided
from ragablate.diagnose.guide.finding import count
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table

_SUCH = 5
_QUOTED = 100


def print_guided(page: Page, found: Guided, shown: int) -> None:
    """Where the guide's questions led, and every finding with its evidence and its experiment.

    Args:
        page: What is printed on.
        found: What the guide found.
        shown: Pieces of evidence of a finding.
    """
    if not found.looked:
        return
    page.heading("The field guide: what is suspected, and what would prove it")
    of = "" if found.looked == found.failed else f" of {found.failed:,}, chosen by a hash of the id"
    page.line(page.text(f"{found.looked:,} questions looked at{of}."))
    columns = (
        Column("the guide's questions lead to"),
        Column("questions", right=True),
        Column("share", right=True),
        Column("such as", expendable=1),
    )
    rows = tuple(
        (label, f"{len(qids):,}", percent(len(qids) / found.looked), _such(qids))
        for label, qids in found.labels.items()
    )
    page.table(Table(columns, rows))
    for finding in found.findings:
        _finding(page, finding, shown)
    for note in found.notes:
        page.line(page.text(note))


def _finding(page: Page, finding: Finding, shown: int) -> None:
    page.blank()
    many = count(len(finding.qids), "question")
    name = finding.mode if finding.mode[:1] == "F" else "Also"
    page.line(page.join((f"{name}: {finding.title}", "bold"), (f"— suspected in {many}", "dim")))
    page.line(page.text(f"Symptom: {finding.symptom}."), 2)
    page.line(page.text(f"Looked at: {finding.by}."), 2)
    for one in finding.evidence[:shown]:
        page.bullet(page.text(f"{_such(one.qids)}: {one.says}." if one.qids else f"{one.says}."), 2)
        for quote in _quotes(one):
            page.line(page.text(quote, "dim"), 4)
    rest = len(finding.evidence) - shown
    if rest > 0:
        page.line(page.text(f"… and {rest:,} more: --json", "dim"), 4)
    page.line(page.text("To prove it:"), 2)
    for command in finding.proof:
        page.verbatim(Text("    ") + page.text(command))
    page.line(page.text(f"If it is so: {finding.fix}."), 2)


def _quotes(one: Evidence) -> list[str]:
    found = (" ".join(quote.split()) for quote in one.quotes)
    found = (quote for quote in found if quote not in one.says)
    return [f"“{q[:_QUOTED]}{'…' if len(q) > _QUOTED else ''}”" for q in found if q]


def _such(qids: tuple[str, ...]) -> str:
    return ", ".join(qids[:_SUCH]) + (", …" if len(qids) > _SUCH else "")

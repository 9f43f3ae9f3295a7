"""Designs of several arms in ``report.md``: terms that add up, and what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.records import AnalysisResult, Term
from ragablate.report import figures
from ragablate.report.appendix import details
from ragablate.report.escape import code, html_text, inline
from ragablate.report.findings import Analysed
from ragablate.report.tables import NOTHING, Column, Table, pipes


def part(finding: Analysed) -> str:
    """The terms of an analysis, and collapsed what they are made of."""
    result = finding.result
    title = f"## {inline(finding.name)}: what adds up"
    if result is None:
        return f"{title}\n\nNo number: {inline(finding.conclusion.verdict)}."
    named = f"{inline(result.order)}, " if result.order else ""
    return "\n\n".join(
        part
        for part in (
            title,
            f"{named}mean per question of {code(finding.analysis.measure)} over "
            f"{inline(result.population)} questions.",
            pipes(terms(result.terms, figures.together(result), result.kind == "ladder")),
            inline(figures.rungs(result.order)),
            _cells(finding, result),
            *(
                details(f"Beside them: {html_text(name)}", pipes(terms(own, "")))
                for name, own in result.beside.items()
            ),
            *(
                details(f"The same on <code>{html_text(name)}</code>", pipes(terms(own, "")))
                for name, own in sorted(result.strata.items())
            ),
            _agreement(result),
            _shares(result),
        )
        if part
    )


def terms(found: Sequence[Term], total: str, lost: bool = False) -> Table:
    """Terms, where ``lost`` of what stages lose, and, where given, what they add up to."""
    columns = (
        Column("term"),
        Column("mean", right=True),
        Column(f"{figures.covered([t.ci95 for t in found])} interval", right=True),
        Column("p (Holm)", right=True),
        Column("raised / lowered", right=True),
        Column("n", right=True),
        Column("state"),
        Column("observed reasons"),
    )
    rows = [
        (
            inline(t.name),
            f"**{figures.term(t)}**",
            figures.firm(figures.term_interval(t)),
            figures.probability(t.p_adjusted),
            figures.firm(f"{t.fixed} / {t.broke}"),
            f"{t.n:,}",
            figures.firm(figures.term_state(t, lost)),
            "<br>".join(f"{inline(r)} {figures.share(v)}" for r, v in sorted(t.reasons.items()))
            or NOTHING,
        )
        for t in found
    ]
    if total:
        rows.append(("together", f"**{total}**", *(NOTHING,) * 6))
    return Table(columns, tuple(rows)).without_empty()


def _cells(finding: Analysed, result: AnalysisResult) -> str:
    rows = tuple(
        (code(role), code(finding.analysis.arms.get(role, NOTHING)), figures.share(mean))
        for role, mean in result.cells.items()
    )
    if not rows:
        return ""
    table = Table((Column("role"), Column("arm"), Column("mean", right=True)), rows)
    return details("Mean score of every arm", pipes(table))


def _agreement(result: AnalysisResult) -> str:
    rows = tuple((inline(a.bucket), inline(a.rung), f"{a.questions:,}") for a in result.agreement)
    if not rows:
        return ""
    columns = (
        Column("by the log alone"),
        Column("first fixed by"),
        Column("questions", right=True),
    )
    return details(
        "What the logs say against what the interventions show", pipes(Table(columns, rows))
    )


def _shares(result: AnalysisResult) -> str:
    rows = tuple(
        (
            inline(s.name),
            f"{s.count:,} of {s.of:,}",
            NOTHING if s.placebo is None else figures.share(s.placebo),
        )
        for s in result.shares
    )
    if not rows:
        return ""
    columns = (Column("share"), Column("questions", right=True), Column("placebo", right=True))
    return details("Sufficiency and necessity of the evidence", pipes(Table(columns, rows)))

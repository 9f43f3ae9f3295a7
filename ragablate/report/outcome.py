"""What came out, on the terminal: numbers first, then what they mean, then where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from ragablate.records import Comparison, Label, Signal
from ragablate.report import figures, plans
from ragablate.report.findings import Finding, findings, population_size, signal_table
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table

if TYPE_CHECKING:
    from ragablate.session import Outcome

_STATE_STYLES = {
    "up": "green",
    "down": "red",
    "flat": "blue",
    "unclear": "yellow",
    "refused": "magenta",
}
_LABEL_STYLES: dict[Label, str] = {"causal": "green", "causal with limits": "yellow"}
_MARK_STYLES = {"pass": "green", "fail": "red", "warn": "yellow", "not_checked": "yellow"}


def print_outcome(page: Page, outcome: Outcome) -> None:
    """Signals, verdicts, proofs and notes; last, where the eye rests, the effects in short."""
    comparison, bundle = outcome.comparison, outcome.bundle
    found = findings(bundle.contrasts, comparison, bundle.proofs)
    _signals(page, comparison, bundle.plan["top_k"])
    _verdicts(page, found)
    _proofs(page, found)
    _notes(page, outcome)
    _effects(page, found)
    _place(page, outcome)


# ── numbers ─────────────────────────────────────────────────────────────────────────────


def _signals(page: Page, comparison: Comparison, top_k: int) -> None:
    for population in ("answerable", "unanswerable"):
        size = population_size(comparison, population)
        if not size:
            continue
        right = "; the right answer is to abstain" if population == "unanswerable" else ""
        page.heading(f"Stage signals on {size:,} {population} questions{right}")

        def cell(signal: Signal, size: int = size) -> str:
            other = signal.mean is not None and signal.n != size
            return figures.rate(signal) + (f" (n {signal.n:,})" if other else "")

        page.table(signal_table(comparison, population, top_k, cell))


def _effects(page: Page, found: Sequence[Finding]) -> None:
    measured = {(f.primary.measure, figures.population(f.primary)) for f in found}
    page.heading("In one minute" + _alike(found, measured))
    columns = (
        Column("experiment"),
        Column("control → treatment", right=True, expendable=3),
        Column("effect", right=True),
        Column(f"{figures.coverage([f.primary for f in found])} interval", right=True),
        Column("p (Holm)", right=True, expendable=1),
        Column("better / worse / same", right=True, expendable=2),
        Column("n", right=True, expendable=4),
        Column("state"),
    )
    rows = tuple(_row(f) for f in found)
    states = {row[-1]: _STATE_STYLES[f.primary.state] for row, f in zip(rows, found, strict=True)}

    def style(column: int, cell: str) -> str:
        return states[cell] if column == len(columns) - 1 else "bold" * (column in (0, 2))

    asides = [_aside(page, f, len(measured) > 1) for f in found]
    page.table(Table(columns, rows), style, asides)


def _alike(found: Sequence[Finding], measured: set[tuple[str, str]]) -> str:
    if len(measured) != 1:
        return ""
    measure, population = next(iter(measured))
    margins = {f.contrast.margin for f in found}
    margin = f", margin {margins.pop():g}" if len(margins) == 1 else ""
    return f": {measure}, {population} questions{margin}"


def _row(finding: Finding) -> tuple[str, ...]:
    effect = finding.primary
    in_family = finding.contrast.kind != "placebo"
    return (
        finding.name,
        figures.means(effect),
        figures.number(effect),
        figures.interval(effect),
        figures.probability(effect.p_adjusted if in_family else None),
        figures.moves(effect),
        f"{effect.n:,}",
        figures.state(effect),
    )


def _aside(page: Page, finding: Finding, measure: bool) -> Text:
    """The verdict, and what was changed."""
    effect = finding.primary
    change = f"· {plans.changed(finding.contrast)}"
    if measure:
        change += f" · {effect.measure}, {figures.population(effect)}"
    return page.join(*_verdict_in_short(finding), (change, "dim"))


def _verdict_in_short(finding: Finding) -> tuple[tuple[str, str], ...]:
    label = finding.conclusion.label
    return (
        (finding.conclusion.verdict, f"bold {_STATE_STYLES[finding.primary.state]}"),
        (f"(claim: {label})", _LABEL_STYLES.get(label, "magenta")),
    )


# ── words ───────────────────────────────────────────────────────────────────────────────


def _verdicts(page: Page, found: Sequence[Finding]) -> None:
    page.heading("Verdicts")
    for number, finding in enumerate(found):
        if number:
            page.blank()
        _verdict(page, finding)


def _verdict(page: Page, finding: Finding) -> None:
    conclusion = finding.conclusion
    page.line(page.join((f"{finding.name}:", "bold"), (finding.contrast.question, "")))
    page.line(page.join(*_verdict_in_short(finding)), 2)
    for sentence in finding.sentences:
        page.bullet(page.text(sentence), 2)
    if conclusion.limits:
        page.line(page.join(("Limits:", "yellow"), (f"{'; '.join(conclusion.limits)}.", "")), 2)
    if conclusion.settle:
        page.line(page.join(("To settle it:", "yellow"), (f"{conclusion.settle}.", "")), 2)
    if conclusion.owner:
        page.line(page.join(("Look next at", "cyan"), (f"{conclusion.owner}.", "")), 2)


def _proofs(page: Page, found: Sequence[Finding]) -> None:
    page.heading("Proofs")
    for finding in found:
        failed = figures.failed(finding.proofs)
        said = [
            *figures.proved(finding.proofs, figures.HELD_FIXED),
            *figures.proved(finding.proofs, figures.TOOK_EFFECT),
            figures.unmoved(finding.effects),
            figures.tally(finding.proofs),
        ]
        mark = page.text(figures.MARKS["warn" if failed else "pass"])
        mark.stylize(_MARK_STYLES["warn" if failed else "pass"])
        text = page.join((f"{finding.name}:", "bold"), (" · ".join(filter(None, said)), ""))
        page.bullet(text, 0, mark)
        for proof in failed:
            mark = page.text(figures.MARKS[proof.status], _MARK_STYLES[proof.status])
            page.bullet(page.text(f"{proof.invariant}: {proof.text}"), 2, mark)


# ── what to mind, and where it lies ─────────────────────────────────────────────────────


def _notes(page: Page, outcome: Outcome) -> None:
    said = list(outcome.comparison.notes)
    if outcome.looks > 1:
        said.append(
            f"{outcome.looks} different plans have scored this question set so far: the more "
            "looks, the more is found by luck."
        )
    if said:
        page.heading("Notes")
        for note in said:
            page.bullet(page.text(note))


def _place(page: Page, outcome: Outcome) -> None:
    page.heading("Bundle")
    page.verbatim(page.text(str(outcome.folder), "bold"))
    page.verbatim(page.join(("id", "dim"), (outcome.bundle_id, "")))
    asked = {
        (t.prompt_digest, t.replicate, t.prompt_version)
        for traces in outcome.bundle.traces.values()
        for t in traces
        if t.prompt_digest
    }
    answers = sum(bool(t.prompt_digest) for ts in outcome.bundle.traces.values() for t in ts)
    shared, stored = answers - len(asked), max(0, len(asked) - outcome.calls)
    page.line(
        page.text(
            f"{answers:,} answers: {outcome.calls:,} read now, {stored:,} stored before, "
            f"{shared:,} shared between arms that show the same prompt"
        )
    )
    page.line(page.text("report.md in it: all of this, slices and every check", "dim"))

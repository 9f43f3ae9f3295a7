"""What came out, on the terminal: numbers first, then what they mean, then where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from ragablate.compare.numbers import count
from ragablate.records import Comparison, Label, Signal, State
from ragablate.report import figures
from ragablate.report.approximate import recalls
from ragablate.report.bottom_line import bottom_line
from ragablate.report.findings import (
    Analysed,
    Compared,
    Finding,
    alike,
    analysed,
    compared,
    findings,
    population_size,
    signal_table,
)
from ragablate.report.moves_page import print_replayed
from ragablate.report.page import Page, Style
from ragablate.report.tables import NOTHING, Column, Table

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
    found = findings(bundle, comparison)
    _signals(page, comparison, bundle.plan["top_k"])
    _verdicts(page, found)
    _proofs(page, found)
    _notes(page, outcome)
    for finding in analysed(found):
        _terms(page, finding)
    print_replayed(page, bundle)
    _effects(page, compared(found))
    _bottom_line(page, found)
    _place(page, outcome)


# ── numbers ─────────────────────────────────────────────────────────────────────────────


def _signals(page: Page, comparison: Comparison, top_k: int) -> None:
    for population in ("answerable", "unanswerable"):
        size = population_size(comparison, population)
        if not size:
            continue
        right = "; the right answer is to abstain" if population == "unanswerable" else ""
        page.heading(f"Stage signals on {count(size, f'{population} question')}{right}")

        def cell(signal: Signal, size: int = size) -> str:
            other = signal.mean is not None and signal.n != size
            return figures.rate(signal) + (f" (n {signal.n:,})" if other else "")

        page.table(signal_table(comparison, population, top_k, cell))


def _effects(page: Page, found: Sequence[Compared]) -> None:
    if not found:
        return
    shared = alike(found)
    page.heading("In one minute" + f": {shared}" * bool(shared))
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
    asides = [_aside(page, f, not shared) for f in found]
    page.table(Table(columns, rows), _coloured([f.primary.state for f in found], rows, 2), asides)


def _coloured(states: Sequence[State], rows: Sequence[tuple[str, ...]], number: int) -> Style:
    """Names and numbers bold, and the last column in the colour of its state."""
    last = len(rows[0]) - 1 if rows else 0
    styles = {row[last]: _STATE_STYLES[state] for state, row in zip(states, rows, strict=True)}

    def style(column: int, cell: str) -> str:
        if column == last:
            return styles.get(cell, "")
        return "bold" if column in (0, number) else ""

    return style


def _row(finding: Compared) -> tuple[str, ...]:
    effect = finding.primary
    return (
        finding.name,
        figures.means(effect),
        figures.number(effect),
        figures.interval(effect),
        figures.probability(finding.p_adjusted),
        figures.moves(effect),
        f"{effect.n:,}",
        figures.state(effect),
    )


def _aside(page: Page, finding: Compared, measure: bool) -> Text:
    """The verdict, and what was changed."""
    effect = finding.primary
    change = f"· {finding.change}"
    if measure:
        change += f" · {effect.measure}, {figures.population(effect)}, margin {effect.margin:g}"
    return page.join(*_verdict_in_short(finding), (change, "dim"))


def _terms(page: Page, finding: Analysed) -> None:
    result = finding.result
    if result is None:
        return
    order = f"{result.order}, " if result.order else ""
    page.heading(
        f"{finding.name}: {order}mean per question of {finding.analysis.measure}, "
        f"{result.population} questions"
    )
    columns = (
        Column("term"),
        Column("mean", right=True),
        Column(f"{figures.covered([t.ci95 for t in result.terms])} interval", right=True),
        Column("p (Holm)", right=True, expendable=1),
        Column("raised / lowered", right=True, expendable=2),
        Column("state"),
    )
    rows = [
        (
            t.name,
            figures.term(t),
            figures.term_interval(t),
            figures.probability(t.p_adjusted),
            f"{t.fixed} / {t.broke}",
            figures.term_state(t, result.kind == "ladder"),
        )
        for t in result.terms
    ]
    style = _coloured([t.state for t in result.terms], rows, 1)
    rows.append(("together", figures.together(result), *(NOTHING,) * 4))
    page.table(Table(columns, tuple(rows)).without_empty(), style)
    letters = figures.rungs(result.order)
    if letters:
        page.line(page.text(letters, "dim"))


def _bottom_line(page: Page, found: Sequence[Finding]) -> None:
    page.heading("Bottom line")
    for said in bottom_line(found):
        head, colon, rest = said.partition(":")
        page.line(page.join((head + colon, "bold"), (rest.lstrip(), "")))


def _verdict_in_short(finding: Finding) -> tuple[tuple[str, str], ...]:
    label = finding.conclusion.label
    undecided = isinstance(finding, Compared) and finding.primary.state == "unclear"
    return (
        (finding.conclusion.verdict, "bold yellow" if undecided else "bold"),
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
    page.line(page.join((f"{finding.name}:", "bold"), (finding.question, "")))
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
            *figures.gathered(figures.proved(finding.proofs, figures.HELD_FIXED)),
            *figures.gathered(figures.proved(finding.proofs, figures.TOOK_EFFECT)),
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
    said = [*outcome.comparison.notes, *recalls(outcome.bundle.traces)]
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
    said = (
        f"{answers:,} answers: {outcome.calls:,} read now, {stored:,} stored before, "
        f"{shared:,} shared between arms that show the same prompt"
    )
    if outcome.bundle.plan.get("judged_again"):
        said = f"{answers:,} answers, none read again; models that judge were asked now: "
        said += f"{count(outcome.calls, 'call')}"
    page.line(page.text(said))
    page.line(
        page.text(
            "report.html in it: all of this and every question; report.md: for a pull request",
            "dim",
        )
    )

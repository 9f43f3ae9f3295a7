"""What was asked, what came out and how sure it is: the first screens of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.compare.ladder_logs import NECESSITY, SUFFICIENCY, SUFFICIENCY_IN_LOG
from ragablate.edges import edges
from ragablate.records import AnalysisResult
from ragablate.report import figures
from ragablate.report.findings import Analysed, Compared, Finding
from ragablate.report.html_grid import Cell, Grid, terms
from ragablate.report.plots import Plot
from ragablate.report.tables import NOTHING, Column


@dataclass(frozen=True, slots=True)
class Answered:
    """One question of the plan with its verdict."""

    anchor: str
    """Where on the page its verdict stands."""
    name: str
    """The experiment."""
    question: str
    """In the researcher's words."""
    change: str
    """The one change."""
    verdict: str
    """In a few words."""
    label: str
    """How much it claims."""
    license: str
    """``full``, ``limited`` or ``none``: how the label is marked."""
    state: str
    """What the data say; empty for designs of several arms."""
    state_text: str
    """The same for people."""
    measure: str
    """What is compared, on which questions."""
    means: str
    """Control → treatment."""
    number: str
    """The effect."""
    interval: str
    """Its interval."""
    moves: str
    """How many questions changed."""
    named: tuple[tuple[str, str, str], ...]
    """Of several arms: the largest terms, each with its number and what the data say."""
    sentences: tuple[str, ...]
    """The verdict in plain language."""
    explorations: tuple[str, ...]
    """What was found by looking at slices."""
    limits: tuple[str, ...]
    """What weakens it."""
    settle: str
    """What would decide what is open."""
    owner: str
    """Where to look next."""


_LICENSES = {"causal": "full", "causal with limits": "limited"}
_MOST_TERMS = 3
_SHARES = {
    SUFFICIENCY: "PS: wrong answers without the evidence that supplying it turned right",
    SUFFICIENCY_IN_LOG: "PS where the log says retrieval",
    NECESSITY: "PN: right answers with the evidence that taking it away turned wrong",
}


def answered(found: Sequence[Finding]) -> tuple[Answered, ...]:
    """Every question of the plan with its verdict, in the order they were declared."""
    return tuple(_answered(f, f"verdict-{i}") for i, f in enumerate(found, 1))


def _answered(finding: Finding, anchor: str) -> Answered:
    conclusion = finding.conclusion
    effect = finding.primary if isinstance(finding, Compared) else None
    numbers = ("",) * 7
    if effect is not None:
        numbers = (
            effect.state,
            figures.state(effect),
            f"{effect.measure}, {figures.population(effect)}",
            figures.means(effect),
            figures.number(effect),
            figures.interval(effect),
            _moves(finding),
        )
    return Answered(
        anchor,
        finding.name,
        finding.question,
        _change(finding),
        conclusion.verdict,
        conclusion.label,
        _LICENSES.get(conclusion.label, "none"),
        *numbers,
        named=_named(finding),
        sentences=finding.sentences,
        explorations=finding.explorations,
        limits=conclusion.limits,
        settle=conclusion.settle,
        owner=conclusion.owner,
    )


def _change(finding: Finding) -> str:
    """The one change; of a ladder its steps."""
    if not isinstance(finding, Analysed) or finding.analysis.kind != "ladder":
        return finding.change
    steps = [e.contrast.treatment for e in edges(finding.analysis) if e.roles[1] != "N"]
    levels = [step.partition("=")[2] or step for step in steps]
    return f"context, step by step: {' → '.join(levels)}"


def _moves(finding: Finding) -> str:
    effect = finding.primary if isinstance(finding, Compared) else None
    if effect is None or effect.effect is None:
        return ""
    return f"{effect.better} better, {effect.worse} worse, {effect.same} same"


def _named(finding: Finding) -> tuple[tuple[str, str, str], ...]:
    """The largest terms of a design of several arms."""
    if not isinstance(finding, Analysed) or finding.result is None:
        return ()
    largest = sorted(finding.result.terms, key=lambda t: -abs(t.value))[:_MOST_TERMS]
    kept = [t for t in finding.result.terms if t in largest]
    lost = finding.result.kind == "ladder"
    return tuple((t.name, figures.term(t), figures.term_state(t, lost)) for t in kept)


# ── designs of several arms ─────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Chain:
    """A design of several arms: its terms, and what stands beside them."""

    anchor: str
    """Its place on the page."""
    name: str
    """The experiment."""
    ladder: bool
    """Whether its terms are losses."""
    about: str
    """Order, measure and questions."""
    refused: str
    """Why there is no number; empty where there is one."""
    plot: Plot | None
    """The waterfall, where it can be drawn."""
    terms: Grid | None
    """The terms."""
    beside: tuple[Grid, ...]
    """Further contrasts, strata and means of the arms."""
    agreement: Grid | None
    """Where failures surfaced by the log against what fixed them first."""
    shares: Grid | None
    """Sufficiency and necessity of the evidence."""


def chain(finding: Analysed, number: int, plot: Plot | None) -> Chain:
    """One design of several arms.

    Args:
        finding: What came out.
        number: Its place among them.
        plot: Its waterfall, where there is one.
    """
    result = finding.result
    ladder = finding.analysis.kind == "ladder"
    anchor = f"chain-{number}"
    if result is None:
        why = finding.conclusion.verdict
        return Chain(anchor, finding.name, ladder, "", why, None, None, (), None, None)
    about = f"mean per question of {finding.analysis.measure}, {result.population} questions"
    if result.order:
        about = f"{result.order}, {about}"
    if letters := figures.rungs(result.order):
        about += f" ({letters})"
    return Chain(
        anchor,
        finding.name,
        ladder,
        about,
        "",
        plot,
        terms(f"{finding.name}: {about}", result.terms, figures.together(result), ladder),
        (
            *(terms(f"Beside them: {name}", own) for name, own in result.beside.items()),
            *(terms(f"The same on: {name}", own) for name, own in sorted(result.strata.items())),
            *_cells(finding, result),
        ),
        _agreement(result),
        _shares(result),
    )


def _cells(finding: Analysed, result: AnalysisResult) -> tuple[Grid, ...]:
    rows = tuple(
        (Cell(role, look="code"), Cell(finding.analysis.arms.get(role, NOTHING), look="code"),
         Cell(figures.share(mean)))
        for role, mean in result.cells.items()
    )  # fmt: skip
    columns = (Column("role"), Column("arm"), Column("mean", right=True))
    return (Grid("Mean score of every arm", columns, rows),) if rows else ()


def _agreement(result: AnalysisResult) -> Grid | None:
    if not result.agreement:
        return None
    order = [*(t.name for t in result.terms), *(a.rung for a in result.agreement)]
    present = {a.rung for a in result.agreement}
    rungs = [rung for rung in dict.fromkeys(order) if rung in present]
    counts = {(a.bucket, a.rung): a.questions for a in result.agreement}
    most = max(counts.values())
    rows = []
    for bucket in dict.fromkeys(a.bucket for a in result.agreement):
        own = [counts.get((bucket, rung), 0) for rung in rungs]
        cells = [Cell(f"{n:,}" if n else "·", shade=shade(n, most)) for n in own]
        rows.append((Cell(bucket), *cells, Cell(f"{sum(own):,}", look="muted")))
    names = {"none": "nothing"}
    columns = [Column(names.get(rung, rung), right=True) for rung in rungs]
    return Grid(
        "Failed questions: where the failure surfaced by control's log (rows), and the first "
        "intervention that fixed it (columns)",
        (Column("surfaced at"), *columns, Column("all", right=True)),
        tuple(rows),
        crossed=True,
    )


def shade(count: int, most: int) -> int:
    """How dark a cell is, from 0 for nothing to 5."""
    return 0 if not count else 1 + min(4, 5 * count // (most + 1))


def _shares(result: AnalysisResult) -> Grid | None:
    rows = tuple(
        (
            Cell(_SHARES.get(share.name, share.name)),
            Cell(f"{share.count:,} of {share.of:,}"),
            Cell(NOTHING if share.placebo is None else figures.share(share.placebo)),
        )
        for share in result.shares
    )
    columns = (
        Column("share"),
        Column("questions", right=True),
        Column("by asking again alone", right=True),
    )
    caption = "Whether the evidence suffices (PS), is needed (PN), and what is refused"
    return Grid(caption, columns, rows).without_empty() if rows else None

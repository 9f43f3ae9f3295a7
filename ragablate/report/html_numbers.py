"""Effects, stage signals, slices and moves, as tables of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.bundle.read import Bundle
from ragablate.compare.contrasts import UPSTREAM_MINUS_READER
from ragablate.compare.moves import Moves as Questions
from ragablate.compare.numbers import count
from ragablate.records import Comparison, Effect, Signal
from ragablate.report import figures
from ragablate.report.appendix import slice_name
from ragablate.report.findings import Compared, alike, population_size, signal_header
from ragablate.report.html_findings import shade
from ragablate.report.html_grid import Cell, Grid, rated
from ragablate.report.surfaced import moved_from_control, surfaced
from ragablate.report.tables import NOTHING, Column
from ragablate.report.transitions import (
    EVIDENCE_STATES,
    Matrix,
    buckets,
    by_evidence,
    matrix,
)

_ABSTAIN = "Here the right answer is to abstain."
_TOLD = ("upstream", "reader", "assembler", "gate")


def effects(found: Sequence[Compared]) -> Grid | None:
    """The headline effect of every contrast."""
    if not found:
        return None
    shared = alike(found)
    columns = (
        Column("experiment"),
        *(() if shared else (Column("measure"), Column("margin", right=True))),
        Column("n", right=True),
        Column("control → treatment", right=True),
        Column("effect", right=True),
        Column(f"{figures.coverage([f.primary for f in found])} interval", right=True),
        Column(figures.STANDARD_ERRORS, right=True),
        Column("p", right=True),
        Column("p (Holm)", right=True),
        Column("better / worse / same", right=True),
        Column("state"),
    )
    rows = tuple(_effect(f, not shared) for f in found)
    return Grid(f"Effects: {shared}" if shared else "Effects", columns, rows)


def _effect(finding: Compared, named: bool) -> tuple[Cell, ...]:
    effect = finding.primary
    measure = Cell(effect.measure, (figures.population(effect),), "code")
    return (
        Cell(finding.name, look="code"),
        *((measure, Cell(f"{effect.margin:g}")) if named else ()),
        Cell(f"{effect.n:,}"),
        Cell(figures.means(effect)),
        Cell(figures.number(effect), look="strong"),
        Cell(figures.interval(effect)),
        Cell(figures.standard_errors(effect)),
        Cell(figures.probability(effect.p)),
        Cell(figures.probability(finding.p_adjusted)),
        Cell(figures.moves(effect)),
        Cell(figures.state(effect), look=effect.state),
    )


def signals(comparison: Comparison, population: str, top_k: int) -> Grid | None:
    """Stage signals side by side, arm by arm; ``None`` where there is none."""
    size = population_size(comparison, population)
    found = [s for s in comparison.signals if s.population == population]
    if not size:
        return None
    by_place = {(s.arm, s.measure): s for s in found}
    measures = list(dict.fromkeys(s.measure for s in found))

    def cell(signal: Signal | None) -> Cell:
        return Cell(NOTHING, look="muted") if signal is None else rated(signal, size)

    rows = tuple(
        (Cell(arm, look="code"), *(cell(by_place.get((arm, m))) for m in measures))
        for arm in dict.fromkeys(s.arm for s in found)
    )
    columns = (Column("arm"), *(Column(signal_header(m, top_k), right=True) for m in measures))
    right = f" {_ABSTAIN}" if population == "unanswerable" else ""
    caption = f"{count(size, f'{population} question')}: mean and 95 % interval.{right}"
    return Grid(caption, columns, rows).without_empty()


# ── slices and further effects ──────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Sliced:
    """The headline effect of one contrast by the values of one slice."""

    name: str
    """The slice."""
    said: tuple[str, ...]
    """What may be read from it."""
    grid: Grid
    """By value."""


def slices(finding: Compared) -> tuple[Sliced, ...]:
    """By slice name; values are read one by one only where a test says that they differ."""
    rows = finding.of("slice")
    found = []
    for name in dict.fromkeys(slice_name(e) for e in rows):
        own = [e for e in rows if slice_name(e) == name]
        read = any(e.id in finding.conclusion.effects for e in own)
        said = [s for s in finding.explorations if f"{name}=" in s] if read else []
        if not read:
            said = [
                f"By {name} the effect does not differ detectably: the effect on the whole set "
                "speaks for every value."
            ]
        grid = Grid(
            f"{finding.name} by {name}",
            _columns(own, name, "p (BH)"),
            tuple(_row(e, Cell(e.population), read) for e in own),
        )
        found.append(Sliced(name, tuple(said), grid.without_empty()))
    return tuple(found)


def further(finding: Compared) -> tuple[Grid, ...]:
    """Strata, other measures and negative controls of one contrast."""
    blocks = (
        ("Strata and other measures", finding.of("cell", "signal")),
        ("Negative controls: settled before the change acts, so they must not move",
         finding.of("control")),
    )  # fmt: skip
    grids = []
    for caption, every in blocks:
        measured = [e for e in every if e.effect is not None]
        if measured:
            rows = tuple(_row(e, _measured(e), True) for e in measured)
            columns = _columns(measured, "measure, questions", "p")
            grids.append(Grid(f"{finding.name}. {caption}", columns, rows))
    return tuple(grids)


def _measured(effect: Effect) -> Cell:
    what = figures.WEIGHED if effect.measure == UPSTREAM_MINUS_READER else ""
    return Cell(effect.measure, (f"{figures.population(effect)}{what}",), "code")


def _columns(effects: Sequence[Effect], first: str, p: str) -> tuple[Column, ...]:
    return (
        Column(first),
        Column("n", right=True),
        Column("control → treatment", right=True),
        Column("effect", right=True),
        Column(f"{figures.coverage(effects)} interval", right=True),
        Column(p, right=True),
        Column("up / down / same", right=True),
        Column("state"),
    )


def _row(effect: Effect, first: Cell, read: bool) -> tuple[Cell, ...]:
    state = Cell(figures.state(effect), look=effect.state) if read else Cell(NOTHING)
    return (
        first,
        Cell(f"{effect.n:,}"),
        Cell(figures.means(effect)),
        Cell(figures.number(effect), look="strong"),
        Cell(figures.interval(effect)),
        Cell(figures.probability(effect.p_adjusted) if read else NOTHING),
        Cell(figures.moves(effect)),
        state,
    )


# ── moves ───────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Moves:
    """How the answers of one contrast moved."""

    name: str
    """The experiment."""
    change: str
    """The one change."""
    said: str
    """How many were fixed, broken and moved."""
    open: bool
    """Whether it is shown unfolded."""
    grids: tuple[Grid, ...]
    """By evidence and faithfulness, and by failure bucket."""


def moves(bundle: Bundle, found: Sequence[Compared]) -> tuple[Moves, ...]:
    """The transition matrices of every contrast; the first exchange of a stage is unfolded."""
    changed = [f for f in found if f.contrast.kind != "placebo"]
    told = [f for f in changed if f.contrast.kind in _TOLD] or changed
    verdicts = moved_from_control(bundle, surfaced(bundle)) if changed else {}
    return tuple(
        _moves(bundle, f, f is told[0], verdicts.get(f.contrast.treatment)) for f in changed
    )


def _moves(bundle: Bundle, finding: Compared, unfolded: bool, verdict: Questions | None) -> Moves:
    control, treatment = finding.contrast.control, finding.contrast.treatment
    evidence = matrix(by_evidence(bundle, control), by_evidence(bundle, treatment), EVIDENCE_STATES)
    failures = buckets(bundle, control, finding.contrast.measure, treatment)
    said = (
        f"Of {count(failures.total, 'answer')}, {failures.fixed:,} that failed in control are "
        f"right in the treatment, {failures.broken:,} that were right fail, and "
        f"{failures.moved:,} fail in another way."
    )
    if verdict is not None and control == next(iter(bundle.arms)):
        said += f" By question: {verdict.verdict}. {verdict.sentence}"
    grids = (
        _crossed("Evidence and faithfulness, answerable questions", evidence),
        _crossed("Where failures surface by the log, all questions", failures),
    )
    shown = tuple(grid for grid in grids if grid is not None)
    return Moves(finding.name, finding.change, said, unfolded, shown)


def _crossed(caption: str, found: Matrix) -> Grid | None:
    if not found.counts:
        return None
    most = max(found.counts.values())
    rows = []
    for before in found.before:
        own = [found.counts.get((before, after), 0) for after in found.after]
        cells = (
            Cell(
                f"{n:,}" if n else "·",
                look="stayed" if before == after else "",
                shade=shade(n, most),
            )
            for after, n in zip(found.after, own, strict=True)
        )
        rows.append((Cell(before), *cells, Cell(f"{sum(own):,}", look="muted")))
    columns = (Column(after, right=True) for after in found.after)
    return Grid(
        f"{caption}: control (rows) → treatment (columns)",
        (Column("in control"), *columns, Column("all", right=True)),
        tuple(rows),
        crossed=True,
    )

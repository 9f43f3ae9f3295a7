"""What ``ragablate calibrate`` prints and draws: the floors that were tried, and the one taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragablate.calibrate import (
    Decided,
    Floor,
    Refusals,
    Scored,
    Sweep,
    at,
    decided,
    open_cap,
    warnings,
)
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table

_SHOWN = 12
_OUTCOMES = {
    "go": "let through",
    "refuse": "refused",
    "clarify": "asked back",
    "broaden": "broadened",
    "unclear": "unclear",
}
_COLUMNS = (
    Column("floor", right=True),
    Column("correct refusals", right=True),
    Column("95 % interval", right=True),
    Column("wrong refusals", right=True),
    Column("95 % interval", right=True),
    Column(""),
)


def print_sweep(page: Page, heading: str, found: Sweep, cap: float, held: Sequence[Scored]) -> None:
    """The floors of all questions, and what the one taken does to those it was not tuned on."""
    page.heading(heading)
    shown = _some(found)
    page.table(Table(_COLUMNS, tuple(_row(f, f is found.picked) for f in shown)))
    if len(shown) < len(found.floors):
        page.line(page.text(f"{len(shown)} of {len(found.floors)} floors shown."))
    page.line(
        page.text(
            "Taken is the floor with the most correct refusals among those that refuse at most "
            f"{cap:.1%} of the answerable questions."
        )
    )
    for warning in found.warnings:
        page.bullet(page.text(warning))
    _print_quoted(page, found, cap, held)


def print_decisions(page: Page, heading: str, questions: Sequence[Decided], cap: float) -> None:
    """What a gate without a floor to find decides, of all questions and of each segment."""
    page.heading(heading)
    rows = []
    for kind, name in ((True, "answerable"), (False, "unanswerable")):
        counts = Counter(q.outcome for q in questions if q.answerable is kind)
        rows.append((name, *(str(counts[outcome]) for outcome in _OUTCOMES)))
    columns = (Column("questions"), *(Column(said, right=True) for said in _OUTCOMES.values()))
    page.table(Table(columns, tuple(rows)))
    _print_decided(page, "all", questions, cap)
    for segment in sorted({q.segment for q in questions} - {""}):
        _print_decided(page, segment, [q for q in questions if q.segment == segment], cap)


def _print_decided(page: Page, name: str, questions: Sequence[Decided], cap: float) -> None:
    found = decided(questions)
    page.line(page.join((f"{name}:", "bold"), (f"{rates(found)}.", "")))
    unclear = sum(q.outcome == "unclear" for q in questions)
    if unclear:
        page.bullet(page.text(
            f"{unclear} unclear: the gate failed, which counts as a wrong refusal of an answerable "
            "question and as no refusal of an unanswerable one."
        ))  # fmt: skip
    for warning in warnings(q.answerable for q in questions):
        page.bullet(page.text(warning))
    doubt = open_cap(found, cap)
    if doubt:
        page.bullet(page.text(doubt))


def print_segments(
    page: Page,
    by_segment: Mapping[str, Sweep],
    cap: float,
    held: Mapping[str, Sequence[Scored]],
) -> None:
    """The floor of each segment, with its rates."""
    for name, found in by_segment.items():
        text = "no floor keeps under the cap; the overall floor holds"
        if found.picked is not None:
            text = f"floor {found.picked.floor:.4g}: {rates(found.picked)}"
        page.line(page.join((f"{name or 'no segment'}:", "bold"), (text, "")))
        for warning in found.warnings:
            page.bullet(page.text(warning), 2)
        _print_quoted(page, found, cap, held.get(name, ()), 2)


def _print_quoted(
    page: Page, found: Sweep, cap: float, held: Sequence[Scored], indent: int = 0
) -> None:
    """The rates to quote: of the other half, where there is one; and how sure the cap is."""
    if found.picked is None:
        return
    quoted = found.picked
    if held:
        quoted = at(held, found.picked.floor)
        page.bullet(page.text(f"On the half it was not tuned on: {rates(quoted)}."), indent)
    doubt = open_cap(quoted, cap)
    if doubt:
        page.bullet(page.text(doubt), indent)


def rates(floor: Refusals) -> str:
    """Both rates with their intervals, in words."""
    parts = []
    for kind, name, count, n in (
        ("correct", "correct refusals", floor.refused, floor.unanswerable),
        ("wrong", "wrong refusals", floor.wrong, floor.answerable),
    ):
        interval = floor.interval(kind)
        sure = "" if interval is None else f" ({interval.low:.2f} to {interval.high:.2f})"
        parts.append(f"{name} {count}/{n}{sure}")
    return ", ".join(parts)


def _some(found: Sweep) -> list[Floor]:
    """A dozen floors over the whole range, the one that is taken among them."""
    floors = found.floors
    step = max(1, len(floors) // _SHOWN)
    kept = {*range(0, len(floors), step), *((floors.index(found.picked),) if found.picked else ())}
    return [floors[i] for i in sorted(kept)]


def _row(floor: Floor, taken: bool) -> tuple[str, ...]:
    cells = [f"{floor.floor:.4g}"]
    for kind, count, n in (
        ("correct", floor.refused, floor.unanswerable),
        ("wrong", floor.wrong, floor.answerable),
    ):
        interval = floor.interval(kind)
        cells.append(f"{count}/{n}")
        cells.append("–" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}")
    return (*cells, "taken" if taken else "")


def plot(path: Path, found: Sweep) -> None:
    """The shares refused over the floors, as SVG; raises ImportError without the extra."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "ragablate", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 3.6))
        axes = figure.subplots()
        floors = [f.floor for f in found.floors]
        axes.step(floors, [f.correct_rate for f in found.floors], color="#0072B2",
                  label="unanswerable refused")  # fmt: skip
        axes.step(floors, [f.wrong_rate for f in found.floors], color="#D55E00", linestyle="--",
                  label="answerable refused")  # fmt: skip
        if found.picked is not None:
            axes.axvline(found.picked.floor, color="#555555", linewidth=1)
        axes.set_xlabel("floor")
        axes.set_ylabel("share refused")
        axes.legend(frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})

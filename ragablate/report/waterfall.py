"""The waterfall of an analysis: its terms one after the other, from one score to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ragablate.records import AnalysisResult, State, Term
from ragablate.report import figures
from ragablate.report.drawing import Frame, Sheet, shortened
from ragablate.report.plots import FOOT, HEAD, NARROW, WIDE, Plot, padded
from ragablate.report.svg import INKS


@dataclass(frozen=True, slots=True)
class Fall:
    """A chain of terms between two scores."""

    start: tuple[str, float]
    """Name and value of where it begins."""
    end: tuple[str, float]
    """Name and value of where it ends."""
    terms: tuple[Term, ...]
    """In order."""
    sign: int
    """-1 where terms are losses, taken off the start; 1 where they are added to it."""

    def steps(self) -> list[tuple[Term, float, float]]:
        """Every term with the score before and after it."""
        found, at = [], self.start[1]
        for term in self.terms:
            found.append((term, at, at + self.sign * term.value))
            at += self.sign * term.value
        return found


def fall(result: AnalysisResult) -> Fall | None:
    """The chain an analysis' terms make; ``None`` where they are not known to add up."""
    base = next((role for role in ("B", "00", "000", "0000", "00000") if role in result.cells), "")
    if (
        not base
        or not result.terms
        or abs(sum(t.value for t in result.terms) - result.total) > 1e-6
    ):
        return None
    control, reached = result.cells[base], result.cells[base] + result.total
    if result.kind == "ladder":
        return Fall(("every answer right", reached), ("control", control), result.terms, -1)
    return Fall(("control", control), ("treatment", reached), result.terms, 1)


def waterfall(chain: Fall, prefix: str) -> Plot:
    """Term by term from one score to another.

    Args:
        chain: The terms.
        prefix: Keeps the plots of several analyses apart.
    """
    label = f"From {chain.start[0]} {figures.share(chain.start[1])}: " + "; ".join(
        f"{t.name} {figures.term(t)}" for t in chain.terms
    )
    label += f"; to {chain.end[0]} {figures.share(chain.end[1])}"
    return Plot(
        _fall_wide(chain).svg(f"{prefix}-wide", label),
        _fall_narrow(chain).svg(f"{prefix}-narrow", label),
    )


def _fall_range(chain: Fall) -> tuple[float, float]:
    values = [chain.start[1], chain.end[1]]
    for term, before, after in chain.steps():
        values += [before, after]
        if term.ci95 is not None:
            values += [before + chain.sign * v for v in (term.ci95.low, term.ci95.high)]
    low, high = padded(min(values), max(values))
    # Bars begin at zero unless that would leave nothing of the terms to be seen.
    return (0.0 if low < 0.75 * high else low), high


def _fall_wide(chain: Fall) -> Sheet:
    step = 34
    rows = len(chain.terms) + 2
    sheet = Sheet(WIDE, HEAD + step * rows + FOOT)
    axes = sheet.axis(Frame(240, 690, HEAD, HEAD + step * rows), *_fall_range(chain))
    heads = ((780, "mean"), (906, f"{figures.covered([t.ci95 for t in chain.terms])} interval"),
             (1080, "raised / lowered, state"))  # fmt: skip
    for x, text in heads:
        sheet.text(x, 10, text, "soft", "right", 11)

    def row(y: float, term: Term) -> None:
        sheet.text(0, y, shortened(term.name, 34), bold=True)
        sheet.text(780, y, figures.term(term), side="right", bold=True)
        sheet.text(906, y, figures.term_interval(term), side="right")
        sheet.text(986, y, f"{term.fixed} / {term.broke}", "soft", "right")
        sheet.text(1000, y, figures.term_state(term, chain.sign < 0), _ink(chain, term))

    def end(y: float, name: str, value: float) -> None:
        sheet.text(0, y, name)
        sheet.text(780, y, figures.share(value), side="right")

    _fall_rows(axes, chain, HEAD, step, row, end)
    return sheet


def _fall_narrow(chain: Fall) -> Sheet:
    step = 48
    rows = len(chain.terms) + 2
    sheet = Sheet(NARROW, 4 + step * rows + FOOT - 10)
    axes = sheet.axis(Frame(6, NARROW - 6, 4, 4 + step * rows), *_fall_range(chain), ticks=5)

    def row(y: float, term: Term) -> None:
        sheet.text(0, y - 16, shortened(term.name, 20), bold=True)
        numbers = f"{figures.term(term)} ({figures.term_interval(term)})"
        sheet.text(NARROW, y - 16, numbers, side="right", size=12)

    def end(y: float, name: str, value: float) -> None:
        sheet.text(0, y - 16, name)
        sheet.text(NARROW, y - 16, figures.share(value), side="right")

    _fall_rows(axes, chain, 4, step, row, end, 10)
    return sheet


def _fall_rows(
    axes: Any,
    chain: Fall,
    top: float,
    step: float,
    row: Callable[[float, Term], None],
    end: Callable[[float, str, float], None],
    down: float = 0,
) -> None:
    half = 9.0
    y = top + step / 2
    origin = axes.get_xlim()[0]

    def whole(y: float, name: str, value: float) -> None:
        if origin == 0:
            axes.barh([y + down], [value], height=2 * half, color=INKS["line"])
        else:
            # On a scale that does not begin at zero a bar's length would say nothing.
            axes.plot([value], [y + down], "o", ms=9, color=INKS["line"])
        end(y, name, value)

    whole(y, *chain.start)
    for term, before, after in chain.steps():
        axes.plot([before, before], [y + down, y + step + down], color=INKS["line"], lw=1, ls=":")
        y += step
        ink = INKS[_sense(term.value * chain.sign)]
        axes.barh([y + down], [after - before], left=before, height=2 * half, color=ink, alpha=0.55)
        if not after - before:
            axes.plot([after, after], [y + down - half, y + down + half], color=ink, lw=2)
        if term.ci95 is not None:
            ends = sorted(before + chain.sign * v for v in (term.ci95.low, term.ci95.high))
            axes.plot(ends, [y + down] * 2, color=INKS["ink"], lw=1.4, solid_capstyle="butt")
        row(y, term)
    axes.plot([chain.end[1]] * 2, [y + down, y + step + down], color=INKS["line"], lw=1, ls=":")
    whole(y + step, *chain.end)


def _ink(chain: Fall, term: Term) -> str:
    """The colour of a term's state; a loss that was detected is not told as a rise."""
    return "ink" if chain.sign < 0 else term.state


def _sense(change: float) -> State:
    return "up" if change > 0 else "down" if change < 0 else "flat"

"""The plots of a report, and its forest plot. Every number in them stands as text, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragablate.records import Interval
from ragablate.report import figures
from ragablate.report.drawing import Frame, Sheet, shortened
from ragablate.report.findings import Compared
from ragablate.report.svg import INKS

WIDE, NARROW = 1080, 358
"""Widths a plot is drawn for, in pixels: a desk and a phone."""

_MARKERS = {"up": "^", "down": "v", "flat": "s", "unclear": "o", "refused": "x"}
_MARGIN_IN = 0.06
"""Share of an axis that is left empty at either end."""
HEAD = 26
"""Room above the rows, for their heads."""
FOOT = 28
"""Room below the rows, for the scale."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot, drawn for two widths."""

    wide: str
    """For a desk and for paper."""
    narrow: str
    """For a phone."""


def forest(found: Sequence[Compared]) -> Plot:
    """The headline effect of every contrast with its interval and margin."""
    label = "Effect of every contrast with its interval: " + "; ".join(
        f"{f.name} {figures.number(f.primary)} ({figures.interval(f.primary)})" for f in found
    )
    return Plot(
        _forest_wide(found).svg("forest-wide", label),
        _forest_narrow(found).svg("forest-narrow", label),
    )


def _range(found: Sequence[Compared]) -> tuple[float, float]:
    values = [0.0]
    for f in found:
        values += [-f.primary.margin, f.primary.margin]
        if f.primary.effect is not None:
            values.append(f.primary.effect)
        if f.primary.ci95 is not None:
            values += [f.primary.ci95.low, f.primary.ci95.high]
    return padded(min(values), max(values))


def padded(low: float, high: float) -> tuple[float, float]:
    """A range with some room at both ends."""
    room = _MARGIN_IN * (high - low or 1.0)
    return low - room, high + room


def _forest_wide(found: Sequence[Compared]) -> Sheet:
    step = 46
    sheet = Sheet(WIDE, HEAD + step * len(found) + FOOT)
    frame = Frame(300, 680, HEAD, HEAD + step * len(found))
    axes = sheet.axis(frame, *_range(found))
    heads = (
        (0, "experiment, and its one change", "left"),
        (490, "treatment minus control; shaded: ± margin", "center"),
        (800, "control → treatment", "right"),
        (866, "effect", "right"),
        (986, f"{figures.coverage([f.primary for f in found])} interval", "right"),
    )
    for x, text, side in heads:
        sheet.text(x, 10, text, "soft", side, 11)  # type: ignore[arg-type]
    for number, f in enumerate(found):
        y = HEAD + step * (number + 0.5)
        _estimate(axes, f, y, step)
        sheet.text(0, y - 8, shortened(f.name, 38), bold=True)
        sheet.text(0, y + 9, shortened(f.change, 46), "soft", size=11.5)
        sheet.text(800, y, figures.means(f.primary), side="right")
        sheet.text(866, y, figures.number(f.primary), side="right", bold=True)
        sheet.text(986, y, figures.interval(f.primary), side="right")
        sheet.text(1000, y, figures.state(f.primary, detail=False), f.primary.state)
    return sheet


def _forest_narrow(found: Sequence[Compared]) -> Sheet:
    step = 74
    sheet = Sheet(NARROW, 8 + step * len(found) + FOOT + 22)
    frame = Frame(6, NARROW - 6, 8, 8 + step * len(found))
    axes = sheet.axis(frame, *_range(found), ticks=5)
    for number, f in enumerate(found):
        top = 8 + step * number
        _estimate(axes, f, top + 57, 22)
        sheet.text(0, top + 10, shortened(f.name, 30), bold=True)
        sheet.text(NARROW, top + 10, figures.state(f.primary, False), f.primary.state, "right")
        numbers = f"{figures.number(f.primary)} ({figures.interval(f.primary)})"
        sheet.text(NARROW, top + 29, numbers, side="right")
        sheet.text(0, top + 29, figures.means(f.primary), "soft", size=12)
    sheet.text(NARROW / 2, sheet.height - 12, "treatment minus control; shaded: ± margin",
               "soft", "center", 11)  # fmt: skip
    return sheet


def _estimate(axes: Any, f: Compared, y: float, step: float) -> None:
    effect = f.primary
    axes.fill_betweenx(
        [y - step / 2, y + step / 2], -effect.margin, effect.margin, color=INKS["band"], lw=0
    )
    axes.plot([0, 0], [y - step / 2, y + step / 2], color=INKS["line"], lw=1)
    if effect.effect is None:
        return
    ink = INKS[effect.state]
    whisker(axes, effect.ci95, y, ink)
    hollow = effect.state == "unclear"
    axes.plot(
        [effect.effect], [y], _MARKERS[effect.state], ms=8, color=ink,
        mfc=INKS["paper"] if hollow else ink, mew=1.8,
    )  # fmt: skip


def whisker(axes: Any, interval: Interval | None, y: float, ink: str) -> None:
    """An interval with its ends marked."""
    if interval is None:
        return
    axes.plot([interval.low, interval.high], [y, y], color=ink, lw=2.2, solid_capstyle="butt")
    for end in (interval.low, interval.high):
        axes.plot([end, end], [y - 5, y + 5], color=ink, lw=1.6, solid_capstyle="butt")

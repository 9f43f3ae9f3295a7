"""The stage signals of every arm, one panel a signal."""

from __future__ import annotations

from dataclasses import dataclass

from ragablate.records import Comparison, Signal
from ragablate.report import figures
from ragablate.report.drawing import Frame, Sheet, shortened
from ragablate.report.findings import signal_header
from ragablate.report.plots import HEAD, NARROW, WIDE, Plot, whisker
from ragablate.report.svg import INKS


def signals(comparison: Comparison, population: str, top_k: int) -> Plot | None:
    """Every stage signal of every arm with its interval; ``None`` where there is none."""
    found = [s for s in comparison.signals if s.population == population and s.mean is not None]
    if not found:
        return None
    measures = list(dict.fromkeys(s.measure for s in found))
    arms = list(dict.fromkeys(s.arm for s in found))
    by_place = {(s.arm, s.measure): s for s in found}
    label = f"Stage signals on {population} questions, arm by arm; the table holds every number"
    panels = _Panels(measures, arms, by_place, top_k)
    return Plot(
        panels.wide().svg(f"signals-{population}-wide", label),
        panels.narrow().svg(f"signals-{population}-narrow", label),
    )


@dataclass(frozen=True, slots=True)
class _Panels:
    measures: list[str]
    arms: list[str]
    by_place: dict[tuple[str, str], Signal]
    top_k: int

    def wide(self) -> Sheet:
        label, gap, step = 190, 18, 27
        across = min(5, len(self.measures))
        width = (WIDE - label) / across
        height = HEAD + step * len(self.arms) + 28
        down = -(-len(self.measures) // across)
        sheet = Sheet(WIDE, height * down)
        for number, measure in enumerate(self.measures):
            top = height * (number // across)
            left = label + width * (number % across)
            self._panel(sheet, measure, Frame(left, left + width - gap - 42, top, top), step)
            if number % across == 0:
                for place, arm in enumerate(self.arms):
                    y = top + HEAD + step * (place + 0.5)
                    sheet.text(0, y, shortened(arm, 28), size=12)
        return sheet

    def narrow(self) -> Sheet:
        step = 25
        height = HEAD + step * len(self.arms) + 40
        sheet = Sheet(NARROW, height * len(self.measures))
        for number, measure in enumerate(self.measures):
            top = height * number
            self._panel(sheet, measure, Frame(150, NARROW - 46, top, top), step, 0)
            for place, arm in enumerate(self.arms):
                y = top + HEAD + step * (place + 0.5)
                sheet.text(0, y, shortened(arm, 22), size=11.5)
        return sheet

    def _panel(
        self, sheet: Sheet, measure: str, place: Frame, step: int, title: float | None = None
    ) -> None:
        top = place.top + HEAD
        bottom = top + step * len(self.arms)
        left = place.left if title is None else title
        sheet.text(left, place.top + 10, signal_header(measure, self.top_k), bold=True, size=12)
        axes = sheet.axis(Frame(place.left, place.right, top, bottom), -0.04, 1.04, 2)
        for number, arm in enumerate(self.arms):
            signal = self.by_place.get((arm, measure))
            y = top + step * (number + 0.5)
            axes.plot([0, 1], [y, y], color=INKS["band"], lw=1)
            if signal is None or signal.mean is None:
                continue
            ink = INKS["ink" if number == 0 else "flat"]
            whisker(axes, signal.ci95, y, ink)
            axes.plot([signal.mean], [y], "o" if number == 0 else "D", ms=6, color=ink, mew=0)
            sheet.text(place.right + 38, y, figures.rate(signal), side="right", size=12)

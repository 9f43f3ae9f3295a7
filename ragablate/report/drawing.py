"""A sheet to plot on with matplotlib: rows of things, one below the other.

matplotlib is an extra and is imported only when a sheet is made.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from ragablate.report.svg import INKS, themed, token

EXTRA = "plots"
"""The extra that brings matplotlib."""

_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ragablate",
    "path.simplify": False,
    "font.size": 13.0,
    "hatch.linewidth": 0.6,
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_BASELINE = 4.5
"""How far below the middle of a row its text stands, in pixels."""

Side = Literal["left", "center", "right"]


def available() -> bool:
    """Whether plots can be drawn here."""
    return find_spec("matplotlib") is not None


@contextmanager
def settled() -> Iterator[None]:
    """Draw alike everywhere, whatever a user's own matplotlib settings are.

    A sheet must be made and filled within, so that the same calls give the same bytes.
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        settings: Any = matplotlib.rcParams
        settings.update(_SETTINGS)
        yield


@dataclass(frozen=True, slots=True)
class Frame:
    """Where on a sheet an axis lies, in pixels."""

    left: float
    """Left edge."""
    right: float
    """Right edge."""
    top: float
    """Upper edge, from the top of the sheet."""
    bottom: float
    """Lower edge, from the top of the sheet."""


class Sheet:
    """A drawing measured in pixels, with axes that run from left to right.

    Args:
        width: Pixels.
        height: Pixels.
    """

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        self.width = width
        self.height = height
        self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        self._figure.patch.set_visible(False)
        self._canvas: Any = FigureCanvasSVG(self._figure)
        self._texts: list[str] = []

    def axis(self, frame: Frame, low: float, high: float, ticks: int = 6) -> Any:
        """An axis over ``frame`` from ``low`` to ``high``; its rows are pixels of the sheet."""
        from matplotlib.ticker import FuncFormatter, MaxNLocator

        place = (
            frame.left / self.width,
            1 - frame.bottom / self.height,
            (frame.right - frame.left) / self.width,
            (frame.bottom - frame.top) / self.height,
        )
        axes = self._figure.add_axes(place)
        axes.set_xlim(low, high)
        axes.set_ylim(frame.bottom, frame.top)
        axes.patch.set_visible(False)
        axes.yaxis.set_visible(False)
        for side, spine in axes.spines.items():
            spine.set_visible(side == "bottom")
            spine.set_color(INKS["line"])
        axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{round(v, 6) + 0.0:g}"))
        axes.tick_params(axis="x", length=4, labelsize=11, color=INKS["line"])
        axes.tick_params(axis="x", labelcolor=INKS["soft"])
        return axes

    def text(
        self,
        x: float,
        y: float,
        text: str,
        ink: str = "ink",
        side: Side = "left",
        size: float = 13,
        bold: bool = False,
    ) -> None:
        """A text whose line has its middle at ``y`` pixels from the top."""
        if not text:
            return
        self._figure.text(
            x / self.width,
            1 - (y + _BASELINE * size / 13) / self.height,
            token(len(self._texts)),
            color=INKS[ink],
            ha=side,
            va="baseline",
            fontsize=size,
            fontweight="bold" if bold else "normal",
        )
        self._texts.append(text)

    def svg(self, prefix: str, label: str) -> str:
        """The drawing as an element of a page; the same calls give the same bytes."""
        written = io.StringIO()
        with settled():
            self._canvas.print_svg(written, metadata=_NO_METADATA)
        return themed(written.getvalue(), self._texts, prefix, label)


def shortened(text: str, most: int) -> str:
    """Text cut to ``most`` characters, the cut shown."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"

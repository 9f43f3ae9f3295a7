"""Progress bars: one a stage, shown once it has taken about a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

_PATIENCE_S = 1.0
_REFRESH_S = 0.1

Clock = Callable[[], float]


@dataclass(slots=True)
class _Counter:
    """Batches of one stage: the same stage works for one arm after the other."""

    before: int = 0
    """Items of finished batches."""
    done: int = 0
    """Items done of the current batch."""
    total: int = 0
    """Items of the current batch."""

    def tell(self, done: int, total: int) -> None:
        if total != self.total or done < self.done:
            self.before += self.total
        self.done, self.total = done, total


class Bars:
    """What a runner tells its progress to.

    Args:
        progress: Rich's display.
        clock: Seconds.
    """

    def __init__(self, progress: Progress, clock: Clock = time.monotonic) -> None:
        self.progress = progress
        self.clock = clock
        self._counters: dict[str, dict[str, _Counter]] = {}
        self._tasks: dict[str, TaskID] = {}
        self._since: dict[str, float] = {}
        self._shown = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note that ``done`` of ``total`` items of a stage's current batch are done."""
        name = stage.partition(".")[0]
        counters = self._counters.setdefault(name, {})
        counters.setdefault(stage, _Counter()).tell(done, total)
        now = self.clock()
        since = self._since.setdefault(name, now)
        if now - since < _PATIENCE_S or (now - self._shown < _REFRESH_S and done < total):
            return
        self._shown = now
        if name not in self._tasks:
            self._tasks[name] = self.progress.add_task(name, start=True)
        self.progress.update(
            self._tasks[name],
            completed=sum(c.before + c.done for c in counters.values()),
            total=sum(c.before + c.total for c in counters.values()),
        )


def display(**options: object) -> Progress:
    """Rich's display with the columns of this tool; it vanishes when done."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        transient=True,
        **options,  # type: ignore[arg-type]
    )

"""Progress bars: one a stage, shown once it has taken about a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

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
        self._spent: dict[str, float] = {}
        self._last = ("", 0.0)
        self._shown = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note that ``done`` of ``total`` items of a stage's current batch are done."""
        name = stage.partition(".")[0]
        counters = self._counters.setdefault(name, {})
        counters.setdefault(stage, _Counter()).tell(done, total)
        now = self.clock()
        # What passes between two items of one stage is its own time; arms take turns.
        before, at = self._last
        self._spent[name] = self._spent.get(name, 0.0) + (now - at if before == stage else 0.0)
        self._last = (stage, now)
        hasty = now - self._shown < _REFRESH_S and done < total
        if self._spent[name] < _PATIENCE_S or hasty:
            return
        self._shown = now
        if name not in self._tasks:
            self._tasks[name] = self.progress.add_task(name)
        self.progress.update(
            self._tasks[name],
            completed=sum(c.before + c.done for c in counters.values()),
            total=sum(c.before + c.total for c in counters.values()),
        )


class _Count(MofNCompleteColumn):
    """How many of how many, where that is known."""

    def render(self, task: Task) -> Text:
        return Text() if task.total is None else super().render(task)


def display(console: Console) -> Progress:
    """Rich's display with the columns of this tool; it vanishes when done."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=40),
        _Count(),
        TimeElapsedColumn(),
        transient=True,
        console=console,
    )

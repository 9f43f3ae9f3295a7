"""How far a long piece of work has come, shown where somebody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

_QUIET_S = 1.0


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal once the work has taken a second; nothing elsewhere.

    Args:
        what: What is being done.
        total: How many items there are.

    Yields:
        What is told how many more items are done.
    """
    started = time.monotonic()
    with ExitStack() as stack:
        done = 0
        show: Callable[[int], None] | None = None

        def advance(more: int) -> None:
            nonlocal done, show
            done += more
            if show is None and time.monotonic() - started > _QUIET_S and sys.stderr.isatty():
                show = _bar(stack, what, total)
            if show is not None:
                show(done)

        yield advance


def _bar(stack: ExitStack, what: str, total: int) -> Callable[[int], None]:
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeRemainingColumn())
    bar = stack.enter_context(Progress(*columns, console=Console(stderr=True), transient=True))
    task = bar.add_task(what, total=total)
    return lambda done: bar.update(task, completed=done)

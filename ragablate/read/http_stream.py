"""What an event loop in a thread of its own finds, as an ordinary iterator."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

_WAKE_S = 0.5
"""How long a wait lasts at most, for systems on which an interrupt cannot end a longer one."""


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None


def streamed(
    main: Callable[[Callable[[T], None]], Coroutine[Any, Any, None]],
) -> Generator[T, None, None]:
    """What ``main`` emits, in the order it does.

    The loop goes on while the consumer is busy, and a loop that already runs in the consumer's
    thread, as in a notebook, is not in its way. Its thread ends with the iterator: when
    ``main`` does, or when the iterator is closed, by an interrupt too, which cancels ``main``.

    Args:
        main: Given the function to emit with.

    Raises:
        BaseException: What ``main`` raised, after everything it had emitted.
    """
    found: queue.SimpleQueue[T | _End] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(main(found.put))
    thread = threading.Thread(target=_drive, args=(loop, task, found), daemon=True)
    try:
        thread.start()
        while True:
            got = _next(found)
            if not isinstance(got, _End):
                yield got
            elif got.error is not None:
                raise got.error
            else:
                return
    finally:
        # The loop is closed already where ``main`` came to its end.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        thread.join()


def _next(found: queue.SimpleQueue[T | _End]) -> T | _End:
    while True:
        with contextlib.suppress(queue.Empty):
            return found.get(timeout=_WAKE_S)


def _drive(
    loop: asyncio.AbstractEventLoop,
    task: asyncio.Task[None],
    found: queue.SimpleQueue[Any],
) -> None:
    error: BaseException | None = None
    try:
        loop.run_until_complete(task)
    except asyncio.CancelledError:
        pass  # the consumer has left
    except BaseException as problem:
        error = problem
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        found.put(_End(error))

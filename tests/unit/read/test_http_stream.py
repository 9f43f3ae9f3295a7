from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable

import pytest

from ragablate.read.http_stream import streamed


def threads() -> int:
    return threading.active_count()


async def numbers(emit: Callable[[int], None]) -> None:
    for n in range(3):
        emit(n)
        await asyncio.sleep(0)


def test_everything_comes_in_order_and_the_thread_ends_with_it() -> None:
    before = threads()
    assert list(streamed(numbers)) == [0, 1, 2]
    assert threads() == before


def test_nothing_runs_before_the_first_result_is_asked_for() -> None:
    before = threads()
    stream = streamed(numbers)
    assert threads() == before
    stream.close()


def test_an_error_comes_after_what_was_found_before_it() -> None:
    async def failing(emit: Callable[[int], None]) -> None:
        emit(1)
        raise ValueError("broken")

    found: list[int] = []
    before = threads()
    with pytest.raises(ValueError, match="broken"):
        found.extend(streamed(failing))
    assert found == [1]
    assert threads() == before


def test_closing_early_cancels_what_is_left_at_once() -> None:
    ended = threading.Event()

    async def endless(emit: Callable[[int], None]) -> None:
        emit(1)
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    before, start = threads(), time.monotonic()
    with contextlib.closing(streamed(endless)) as stream:
        assert next(stream) == 1
    assert ended.is_set()
    assert threads() == before
    assert time.monotonic() - start < 5


def test_a_dropped_iterator_leaves_no_thread() -> None:
    async def endless(emit: Callable[[int], None]) -> None:
        emit(1)
        await asyncio.sleep(3600)

    before = threads()
    for _ in streamed(endless):
        break
    assert threads() == before


def test_a_loop_that_runs_already_is_not_in_the_way() -> None:
    async def notebook() -> list[int]:
        return list(streamed(numbers))

    assert asyncio.run(notebook()) == [0, 1, 2]


def test_the_loop_goes_on_while_the_consumer_is_busy() -> None:
    async def ticking(emit: Callable[[float], None]) -> None:
        for _ in range(4):
            emit(time.monotonic())
            await asyncio.sleep(0.05)

    stream = streamed(ticking)
    ticks = [next(stream)]
    time.sleep(0.5)
    ticks += stream
    assert ticks[-1] - ticks[0] < 0.4

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.read.rate_limit import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def starts(limit: RateLimit, clock: Clock, calls: list[tuple[float, int]]) -> list[float]:
    """When calls start that come one after the other, each after a gap and with its tokens."""
    found = []
    for gap, tokens in calls:
        clock.now += gap
        found.append(clock.now + limit.book(tokens))
    return found


def test_without_limits_nothing_waits() -> None:
    clock = Clock()
    assert starts(RateLimit(clock=clock), clock, [(0, 10**9)] * 5) == [100.0] * 5


def test_calls_are_spaced_evenly() -> None:
    clock = Clock()
    assert starts(RateLimit(30, clock=clock), clock, [(0, 0)] * 3) == [100.0, 102.0, 104.0]


def test_a_pause_between_calls_saves_up_nothing() -> None:
    clock = Clock()
    assert starts(RateLimit(60, clock=clock), clock, [(0, 0), (50, 0), (0, 0)]) == [100, 150, 151]


def test_tokens_space_calls_by_their_size() -> None:
    clock = Clock()
    limit = RateLimit(None, 600, clock)
    assert starts(limit, clock, [(0, 100), (0, 10), (0, 1)]) == [100.0, 110.0, 111.0]


def test_what_a_call_really_used_counts_in_the_end() -> None:
    clock = Clock()
    limit = RateLimit(None, 600, clock)
    limit.book(100)
    limit.correct(booked=100, used=40)
    assert limit.book(1) == 4.0


def test_a_pause_holds_everything_back() -> None:
    clock = Clock()
    limit = RateLimit(clock=clock)
    limit.pause(5)
    limit.pause(2)
    assert (limit.book(0), limit.paused()) == (5.0, 5.0)
    clock.now += 5
    assert (limit.book(0), limit.paused()) == (0.0, 0.0)


@settings(deadline=None, max_examples=150)
@given(
    st.integers(1, 40),
    st.integers(100, 5000),
    st.lists(st.tuples(st.floats(0, 5), st.integers(1, 1500)), min_size=1, max_size=120),
)
def test_no_minute_holds_more_than_its_requests_and_tokens(
    requests: int, tokens: int, calls: list[tuple[float, int]]
) -> None:
    clock = Clock()
    begun = starts(RateLimit(requests, tokens, clock), clock, calls)
    assert begun == sorted(begun)
    for i, start in enumerate(begun):
        inside = [j for j in range(i, len(begun)) if begun[j] < start + 60 - 1e-6]
        assert len(inside) <= requests
        assert sum(calls[j][1] for j in inside[:-1]) <= tokens * (1 + 1e-6)

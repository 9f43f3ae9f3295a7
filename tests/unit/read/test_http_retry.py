from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.read.http_retry import Backoff, retry_after

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0.0), ("7", 7.0), (" 1.5 ", 1.5), ("-3", 0.0), ("1e3", 1000.0)]
)
def test_seconds_are_read(text: str, seconds: float) -> None:
    assert retry_after({"retry-after": text}) == seconds


@pytest.mark.parametrize("text", ["", "soon", "inf", "nan", "Mon, 99 Foo 2026 00:00:00 GMT", "1 2"])
def test_what_cannot_be_read_asks_for_nothing(text: str) -> None:
    assert retry_after({"retry-after": text}) is None
    assert retry_after({}) is None


def test_a_date_is_taken_against_the_replys_own() -> None:
    headers = {
        "retry-after": formatdate(NOW + 30, usegmt=True),
        "date": formatdate(NOW, usegmt=True),
    }
    assert retry_after(headers, now=0.0) == 30.0


def test_a_date_without_another_is_taken_against_the_present() -> None:
    assert retry_after({"retry-after": formatdate(NOW + 30, usegmt=True)}, now=NOW + 10) == 20.0
    assert retry_after({"retry-after": formatdate(NOW, usegmt=True)}, now=NOW + 10) == 0.0
    assert retry_after({"retry-after": formatdate(0, usegmt=True)}) == 0.0


def test_waits_double_within_their_upper_half_up_to_a_minute() -> None:
    backoff = Backoff(1.0)
    for seed in range(20):
        for attempt in range(1, 12):
            most = min(60.0, 2.0 ** (attempt - 1))
            assert most / 2 <= backoff.wait(attempt, seed) <= most


def test_waits_are_seeded_and_differ_between_requests_and_attempts() -> None:
    backoff = Backoff(1.0)
    assert backoff.wait(1, 5) == backoff.wait(1, 5)
    assert len({backoff.wait(1, seed) for seed in range(50)}) == 50
    assert backoff.wait(8, 5) != backoff.wait(9, 5)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 10_000), st.integers(0, 2**63 - 1), st.floats(0, 1e4), st.floats(0, 100))
def test_no_wait_is_shorter_than_the_endpoint_asks(
    attempt: int, seed: int, asked: float, first: float
) -> None:
    assert asked <= Backoff(first).wait(attempt, seed, asked) <= asked + first + 1e-6

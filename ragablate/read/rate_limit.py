"""How often an endpoint may be asked."""

from __future__ import annotations

import time
from collections.abc import Callable


class RateLimit:
    """Spaces the calls of an endpoint evenly, by their number and by their tokens.

    No stretch of 60 seconds begins more than ``requests_per_minute`` calls, nor calls of more
    than ``tokens_per_minute`` tokens together, the last call of the stretch apart: a call
    that is larger than a whole minute's tokens is still made, and then nothing for as long
    as its tokens last.

    Args:
        requests_per_minute: Most calls; ``None`` for any number.
        tokens_per_minute: Most tokens of prompts and answers together; ``None`` for any number.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_request = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._per_token = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._clock = clock
        self._next_request = self._next_token = self._open = float("-inf")

    def book(self, tokens: int) -> float:
        """Book the next free place for a call of so many tokens.

        Returns:
            Seconds until it may start.
        """
        now = self._clock()
        start = max(now, self._next_request, self._next_token, self._open)
        self._next_request = start + self._per_request
        self._next_token = start + tokens * self._per_token
        return start - now

    def correct(self, booked: int, used: int) -> None:
        """Put the tokens a call really used in the place of those it was booked with."""
        self._next_token += (used - booked) * self._per_token

    def pause(self, seconds: float) -> None:
        """Let nothing start for a while, as the endpoint asked."""
        self._open = max(self._open, self._clock() + seconds)

    def paused(self) -> float:
        """Seconds that a call whose place has come has still to wait."""
        return max(0.0, self._open - self._clock())

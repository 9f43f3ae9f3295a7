"""When to ask an endpoint again that did not answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from ragablate.seeds import derive

_LONGEST_S = 60.0
"""Longest wait between two attempts that nobody asked for."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that double with every attempt, each drawn from its upper half.

    The draw is seeded, so that the same execution waits alike, and differs between requests,
    so that those which failed together are not made together again.
    """

    first_s: float
    """Wait after the first attempt, at most."""

    def wait(self, attempt: int, seed: int, asked: float | None = None) -> float:
        """Seconds until the next attempt.

        Args:
            attempt: How many were made.
            seed: Of the request.
            asked: How long the endpoint asked to wait: never less than that.
        """
        most = min(_LONGEST_S, self.first_s * 2.0 ** min(attempt - 1, 30))
        share = derive(seed, "backoff", attempt) / 2**63
        if asked is None:
            return most * (0.5 + share / 2)
        return asked + min(most, self.first_s) * share


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """How many seconds a reply asks to wait; ``None`` where it does not, or unreadably.

    Args:
        headers: Of the reply. ``Retry-After`` is seconds or a date, which is taken against the
            reply's own ``Date``: the clocks of two machines differ.
        now: Seconds since the epoch, where the reply has no date; the present by default.
    """
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        return max(0.0, float(text)) if float(text) < float("inf") else None
    except ValueError:
        pass
    until = _date(text)
    if until is None:
        return None
    sent = _date(headers.get("date", ""))
    start = sent if sent is not None else (time.time() if now is None else now)
    return max(0.0, until - start)


def _date(text: str) -> float | None:
    try:
        found = parsedate_to_datetime(text)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None

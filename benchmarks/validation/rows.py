"""Results of the validation: what was measured, and the band it must lie in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measured rate or ratio."""

    test: str
    """``V2`` …"""
    what: str
    """What was measured."""
    setting: str
    """World, number of questions, …"""
    value: float
    """As measured."""
    sets: int
    """Simulated sets it was measured on."""
    low: float | None = None
    """Smallest value that passes; ``None`` is unbounded."""
    high: float | None = None
    """Largest value that passes; with neither bound the row is for information."""
    slack: float = 0.0
    """Tolerance that belongs to the band."""
    errors: float = 0.0
    """The same in Monte Carlo standard errors."""

    def holds(self, widening: float = 0.0) -> bool:
        """Whether the value lies in its band.

        Args:
            widening: Monte Carlo standard errors the band is widened by.
        """
        return all(
            bound is None or sign * (self.value - bound) <= self._slack(bound, widening)
            for bound, sign in ((self.high, 1), (self.low, -1))
        )

    def _slack(self, bound: float, widening: float) -> float:
        error = math.sqrt(max(0.0, bound * (1 - bound)) / self.sets)
        return max(self.slack, max(self.errors, widening) * error) + 1e-12

    @property
    def band(self) -> str:
        """The band in words."""
        if self.low is None and self.high is None:
            return ""
        words = f"{self.low} to {self.high}"
        if self.low is None:
            words = f"≤ {self.high:g}"
        if self.high is None:
            words = f"≥ {self.low:g}"
        if self.slack:
            words += f" (± {self.slack:.2g})"
        return words + (f" (+ {self.errors:g} SE)" if self.errors else "")


EXPECTED_CHANGES = 5
"""Changed questions from which an interval need not be conservative."""
FEWEST = 30
"""The same in questions asked."""


def coverage(
    test: str, name: str, setting: str, n: int, covered: int, changed: int, sets: int
) -> Row:
    """How often an interval held what was planted, with the band that its numbers allow.

    Args:
        test: ``V2`` or ``V7``.
        name: What was estimated.
        setting: Where.
        n: Questions a set.
        covered: Sets whose interval held the planted value.
        changed: Changed questions in all sets together.
        sets: Sets.
    """
    what, share = f"coverage of {name}", covered / sets
    if n >= FEWEST and changed / sets >= EXPECTED_CHANGES:
        return Row(test, what, setting, share, sets, 0.93, 0.97, 0.01)
    return Row(test, what, setting, share, sets, 0.92, None)


def summary(rows: Sequence[Row], widening: float) -> Iterable[str]:
    """One line a test: how many rows have a band, and how many miss it."""
    yield "| test | rows with a band | missed |"
    yield "|---|---|---|"
    for test in dict.fromkeys(row.test for row in rows):
        own = [row for row in rows if row.test == test and row.band]
        yield f"| {test} | {len(own)} | {sum(not row.holds(widening) for row in own)} |"


def markdown(rows: Sequence[Row], widening: float) -> Iterable[str]:
    """The result table."""
    yield "| test | what | setting | measured | band | sets | |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        what = row.what.replace("|", "\\|")
        verdict = "" if not row.band else "pass" if row.holds(widening) else "**missed**"
        yield (
            f"| {row.test} | {what} | {row.setting} | {row.value:.4f} | {row.band} | "
            f"{row.sets:,} | {verdict} |"
        )

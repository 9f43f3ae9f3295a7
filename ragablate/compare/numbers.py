"""How numbers are written in sentences: the same everywhere, signed where they are differences."""

from __future__ import annotations

import math

from ragablate.records import Interval

_FINE_MARGIN = 0.02
_FINE_N = 1000
_SMALL_P = 0.001
_EXACT_BELOW = 200


def decimals(n: int, margin: float) -> int:
    """Three places where the set or the margin resolves them, else two."""
    return 3 if n >= _FINE_N or margin < _FINE_MARGIN else 2


def signed(value: float, places: int = 2) -> str:
    """A difference with its sign; what rounds to zero has none."""
    text = f"{value:+.{places}f}"
    return text[1:] if float(text) == 0 else text


def plain(value: float, places: int = 2) -> str:
    """A rate or a margin, unsigned unless negative."""
    text = f"{value:.{places}f}"
    return text.lstrip("-") if float(text) == 0 else text


def margin_text(margin: float) -> str:
    """A margin as it was declared, without trailing zeros beyond two places."""
    text = f"{margin:.2f}"
    return text if math.isclose(float(text), margin) else f"{margin:g}"


def percent(share: float) -> str:
    """A share of questions in whole per cent, with a decimal below ten."""
    value = 100 * share
    return f"{value:.1f} %" if 0 < value < 10 and value != round(value) else f"{value:.0f} %"


def p_text(p: float) -> str:
    """A p-value: three places, or two significant digits below 0.001."""
    return f"{p:.3f}" if p >= _SMALL_P else f"{p:.1e}"


def about(n: int) -> str:
    """A planned number of questions, to two significant digits where it is large."""
    if n < _EXACT_BELOW:
        return str(n)
    scale = int(10 ** (math.floor(math.log10(n)) - 1))
    return f"{round(n / scale) * scale:,}"


def between(interval: Interval, places: int = 2) -> str:
    """Both limits of an interval of a difference; one more place where 0 would hide a sign."""
    if any(value != 0 and round(value, places) == 0 for value in (interval.low, interval.high)):
        places += 1
    return f"{signed(interval.low, places)} to {signed(interval.high, places)}"


def rate_between(interval: Interval, places: int = 2) -> str:
    """Both limits of an interval of a rate."""
    return f"{plain(interval.low, places)} to {plain(interval.high, places)}"


def confidence_text(interval: Interval) -> str:
    """The coverage of an interval, such as ``95 % CI``."""
    return f"{100 * interval.confidence:g} % CI"


def count(n: int, noun: str) -> str:
    """A count with its noun, in the plural where it must be."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def listed(items: list[str], most: int = 5) -> str:
    """The first few items of a list, and how many more there are."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])} and {len(items) - most} more"

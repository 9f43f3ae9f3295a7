"""What metadata must be for a passage to pass: values, lists, ranges and days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from ragablate.records import Passage, Scalar

_BOUNDS = ("least", "most")


def carries(passage: Passage, wanted: Mapping[str, Any]) -> bool:
    """Whether a passage has every key, with a value that meets its condition.

    A condition is a value to equal (1 equals 1.0 but neither ``true`` nor ``"1"``), a list of
    such values of which any will do, or a range ``{least: …, most: …}``, both ends included and
    either left out. A range compares numbers with numbers and texts with texts, as ISO dates
    are; another type, and ``null``, lie in no range.
    """
    meta = passage.meta
    return all(key in meta and _meets(meta[key], condition) for key, condition in wanted.items())


def holds_on(passage: Passage, day: str, begins: str, ends: str) -> bool:
    """Whether a passage neither begins after a day nor ended before it.

    One without these dates holds: nothing speaks against it.

    Args:
        passage: Its metadata hold the dates, as ISO 8601; what follows the day is ignored.
        day: As ``YYYY-MM-DD``.
        begins: Where the first day stands in the metadata.
        ends: Where the last day stands.
    """
    first, last = (str(passage.meta.get(key) or "")[:10] for key in (begins, ends))
    return not (first and first > day) and not (last and last < day)


def is_day(text: object) -> bool:
    """Whether it is a day as ``YYYY-MM-DD``."""
    try:
        return isinstance(text, str) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def condition_problems(wanted: Mapping[str, Any], where: str) -> list[str]:
    """Conditions that no passage could be held against, one sentence each."""
    found = []
    for key, condition in wanted.items():
        if isinstance(condition, Mapping):
            known = set(condition) <= set(_BOUNDS) and any(map(_is_bound, condition.values()))
            if not known or not all(v is None or _is_bound(v) for v in condition.values()):
                found.append(
                    f"{where}.{key} is {dict(condition)!r}: give a range as "
                    "{least: …, most: …}, of numbers or of texts"
                )
        elif isinstance(condition, list | tuple) and not condition:
            found.append(f"{where}.{key} is an empty list, which no passage meets: name a value")
    return found


def _meets(value: Scalar, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        return all(
            bound is None or _ordered(bound, value, name == "least")
            for name, bound in condition.items()
        )
    if isinstance(condition, list | tuple):
        return any(_equal(value, one) for one in condition)
    return _equal(value, condition)


def _ordered(bound: Any, value: Any, least: bool) -> bool:
    numbers = _is_number(bound) and _is_number(value)
    if not numbers and not (isinstance(bound, str) and isinstance(value, str)):
        return False
    return bool(bound <= value if least else value <= bound)


def _equal(a: Scalar, b: Scalar) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _is_bound(value: object) -> bool:
    return _is_number(value) or isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""Which numbers make sense as a reader's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Range:
    """What a setting may be."""

    kind: type
    """``int`` or ``float``; a float may be given as a whole number."""
    low: float
    """Least value."""
    high: float
    """Greatest value."""
    optional: bool = False
    """Whether ``null`` is one of its values."""


def range_problem(where: str, allowed: Range, value: Any) -> str:
    """What is wrong with a value, as one sentence; empty where nothing is."""
    if value is None and allowed.optional:
        return ""
    kinds = int if allowed.kind is int else int | float
    right = isinstance(value, kinds) and not isinstance(value, bool)
    if right and allowed.low <= value <= allowed.high:
        return ""
    noun = "a whole number" if allowed.kind is int else "a number"
    null = ", or null" if allowed.optional else ""
    return f"{where} is {value!r}: give {noun} from {allowed.low} to {allowed.high}{null}"


def knob_problems(reader: object, ranges: Mapping[str, Range]) -> list[str]:
    """Attributes of a reader that are out of range or of the wrong kind, one sentence each."""
    found = (range_problem(name, ranges[name], getattr(reader, name)) for name in ranges)
    return [problem for problem in found if problem]


def runtime_problems(runtime: Mapping[str, Any], ranges: Mapping[str, Range]) -> list[str]:
    """Knobs of a ``runtime`` node that are unknown or out of range, one sentence each."""
    unknown = [
        f"runtime.{name} is unknown; known: {', '.join(ranges)}"
        for name in runtime
        if name not in ranges
    ]
    found = (
        range_problem(f"runtime.{name}", ranges[name], value)
        for name, value in runtime.items()
        if name in ranges
    )
    return unknown + [problem for problem in found if problem]


def stop_problems(stop: Any) -> list[str]:
    """A list of texts that end an answer which is none."""
    listed = isinstance(stop, list | tuple)
    if listed and all(isinstance(text, str) and text for text in stop):
        return []
    return [f"stop is {stop!r}: give a list of texts, none of them empty"]

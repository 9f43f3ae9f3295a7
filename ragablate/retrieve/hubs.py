"""The node ``hubs`` of the dense retriever, read without loading NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

MEASURES = ("none", "centre", "neighbours")
_DEFAULTS: Mapping[str, Any] = {"measure": "none", "weight": 1.0, "neighbours": 10}


def hubs_of(given: Mapping[str, Any] | None) -> tuple[str, float, int]:
    """Measure, weight and number of neighbours."""
    node = {**_DEFAULTS, **(given or {})}
    return node["measure"], node["weight"], node["neighbours"]


def hub_problems(given: Mapping[str, Any] | None) -> list[str]:
    """Knobs that do not exist or have no meaning."""
    found = [
        f"hubs.{name} is no knob: the knobs are {', '.join(_DEFAULTS)}"
        for name in given or {}
        if name not in _DEFAULTS
    ]
    measure, weight, neighbours = hubs_of(given)
    if measure not in MEASURES:
        found.append(f"hubs.measure is {measure!r}: give one of {', '.join(MEASURES)}")
    if (
        isinstance(weight, bool)
        or not isinstance(weight, int | float)
        or not (math.isfinite(weight) and weight >= 0)
    ):
        found.append(f"hubs.weight is {weight!r}: give a number of at least 0")
    if isinstance(neighbours, bool) or not isinstance(neighbours, int) or neighbours < 1:
        found.append(f"hubs.neighbours is {neighbours!r}: give a number from 1")
    return found

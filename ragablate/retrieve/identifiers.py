"""Searches that hold an identifier, which are better served by letters than by meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PATTERN = (
    r"(?<![\w.])(?:[A-Za-z]+[-_#./]?\d[\w./-]*|\d+[A-Z][\w./-]*|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+)"
)
"""Letters with digits behind them (``SSO-4012``, ``v2.3``), digits with capitals (``7B``),
``snake_case`` and ``camelCase``; neither years nor ordinals."""
_KNOBS = ("pattern", "weights")


def weights_for(given: Mapping[str, Any] | None, text: str) -> Mapping[str, float] | None:
    """The weights of a search that holds an identifier; ``None`` for any other search.

    Args:
        given: The node ``identifiers``; its ``weights`` are ``None`` where nothing is routed.
        text: What is searched.
    """
    if not routes(given):
        return None
    weights: Mapping[str, float] = (given or {})["weights"]
    return weights if re.search(_pattern(given), text) else None


def routes(given: Mapping[str, Any] | None) -> bool:
    """Whether identifiers make a difference."""
    return bool((given or {}).get("weights"))


def identifier_problems(given: Mapping[str, Any] | None) -> list[str]:
    """Knobs that do not exist, a pattern that is none."""
    found = [
        f"identifiers.{name} is no knob: the knobs are {', '.join(_KNOBS)}"
        for name in given or {}
        if name not in _KNOBS
    ]
    try:
        re.compile(_pattern(given))
    except (re.error, TypeError) as error:
        found.append(
            f"identifiers.pattern is no regular expression ({error}): correct it, or leave it out"
        )
    return found


def _pattern(given: Mapping[str, Any] | None) -> str:
    return (given or {}).get("pattern") or PATTERN

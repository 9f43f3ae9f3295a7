"""Attributes of spans, flattened or nested, as one nested value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names as objects, and objects whose names are all numbers as lists.

    ``{"a.0.b": 1}`` and ``{"a": [{"b": 1}]}`` give the same. Of two fields that contradict
    each other (``a`` and ``a.b``) the nested one is kept.
    """
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        node = tree
        *path, last = str(name).split(".")
        for step in path:
            below = node.get(step)
            if not isinstance(below, dict):
                below = node[step] = {}
            node = below
        deeper = _deeper(value)
        if isinstance(deeper, dict) and isinstance(node.get(last), dict):
            node[last] |= deeper
        elif deeper is not None and not isinstance(node.get(last), dict):
            node[last] = deeper
    return {name: _listed(value) for name, value in tree.items()}


def at(tree: Any, path: str) -> Any:
    """The value under a dotted path, ``None`` where there is none."""
    for step in path.split("."):
        if not isinstance(tree, Mapping):
            return None
        tree = tree.get(step)
    return tree


def parsed(value: Any) -> Any:
    """A text that is a JSON object or list as that; anything else unchanged."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _deeper(value: Any) -> Any:
    if isinstance(value, Mapping):
        return nested(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_deeper(member) for member in value]
    return value


def _listed(value: Any) -> Any:
    if isinstance(value, list):
        return [_listed(member) for member in value]
    if not isinstance(value, dict):
        return value
    inside = {name: _listed(member) for name, member in value.items()}
    if inside and all(name.isdecimal() for name in inside):
        return [inside[name] for name in sorted(inside, key=int)]
    return inside


def otel_value(value: Any) -> Any:
    """The plain value of an OTLP ``AnyValue`` in JSON."""
    if not isinstance(value, Mapping):
        return value
    if "arrayValue" in value:
        return [otel_value(v) for v in (value["arrayValue"] or {}).get("values", [])]
    if "kvlistValue" in value:
        pairs = (value["kvlistValue"] or {}).get("values", [])
        return {pair["key"]: otel_value(pair.get("value")) for pair in pairs}
    if "intValue" in value:
        return int(value["intValue"])
    return next(iter(value.values()), None)

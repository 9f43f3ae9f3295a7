"""Whether the values a config gives an adapter have the types its constructor declares.

Without it a word where a number belongs is found out by whatever line first computes with
it, after everything before that line was paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, get_origin, get_type_hints

import msgspec


def knob_problems(where: str, node: Any) -> list[str]:
    """One sentence for each constructor argument of another type than declared.

    Args:
        where: Config key of the adapter, such as ``retriever``.
        node: Its resolved config; adapters nested in it are looked at too.
    """
    return list(_wrong(where, node))


def _wrong(where: str, node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for place, member in enumerate(node):
            yield from _wrong(f"{where}.{place}", member)
    if not isinstance(node, Mapping):
        return
    hints = _hints(node.get("_target_"))
    for key, value in node.items():
        if key in hints and not _builds(value):
            yield from _unfit(f"{where}.{key}", value, hints[key])
        else:
            yield from _wrong(f"{where}.{key}", value)


def _unfit(where: str, value: Any, hint: Any) -> Iterator[str]:
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        what = str(error).replace("`", "").replace("Expected", "expected")
        yield f"{where} is {value!r:.80}: {what}; correct the value"
    except TypeError:
        return  # a type that only the adapter understands


def _hints(target: Any) -> dict[str, Any]:
    """Types of the arguments of what a config builds; none where it does not tell.

    A choice among fixed words is left out: the adapter itself says which there are.
    """
    if not isinstance(target, str):
        return {}
    try:
        module, _, name = target.rpartition(".")
        kind = getattr(import_module(module), name)
        found = get_type_hints(kind.__init__)
    except Exception:  # whatever importing somebody's module raises; building it will say so
        return {}
    return {key: hint for key, hint in found.items() if get_origin(hint) is not Literal}


def _builds(value: Any) -> bool:
    """Whether a value holds a config of something to be built."""
    if isinstance(value, Mapping):
        return "_target_" in value or any(map(_builds, value.values()))
    return isinstance(value, list) and any(map(_builds, value))

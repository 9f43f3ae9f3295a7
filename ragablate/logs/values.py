"""Values of a log's fields, in the types an entry has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ragablate.logs.nesting import parsed
from ragablate.records import Claim, GateDecision, Turn


def as_object(value: Any) -> dict[str, Any]:
    """An object, or the text of one; anything else is empty."""
    value = parsed(value)
    return {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else {}


def gate_of(value: Any) -> GateDecision | None:
    """A gate's decision; what is no decision of ours says nothing."""
    if value is None:
        return None
    given = {"outcome": value} if isinstance(value, str) else as_object(value)
    try:
        return msgspec.convert(given, GateDecision)
    except msgspec.ValidationError:
        return None


def listed(value: Any) -> list[Any]:
    """A list, the text of one, or a value by itself; nothing is an empty one."""
    value = parsed(value)
    if value is None or value == "":
        return []
    if isinstance(value, list | tuple):
        return [v for v in value if v is not None]
    return [value]


def group(member: Any) -> tuple[str, ...]:
    """Several ids, or one."""
    return tuple(str(m) for m in member) if isinstance(member, list | tuple) else (str(member),)


def as_text(value: Any) -> str | None:
    """A text, ``None`` where there is none."""
    return None if value is None else str(value)


def truth(value: Any) -> bool | None:
    """Yes or no; ``None`` for what is neither."""
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return None if value is None else words.get(str(value).strip().lower())


def as_score(value: Any) -> float | None:
    """A score, or a human's yes or no as 1 or 0."""
    said = {"pass": 1.0, "correct": 1.0, "right": 1.0, "fail": 0.0, "incorrect": 0.0, "wrong": 0.0}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if value == value else None
    if isinstance(value, str) and value.strip().lower() in said:
        return said[value.strip().lower()]
    said_yes = truth(value)
    return None if said_yes is None else float(said_yes)


def claims_of(value: Any) -> Iterator[Claim]:
    """What an answer says, each with the passage that supports it, if one does."""
    for member in parsed(value) or ():
        if isinstance(member, Mapping):
            said = str(member.get("status") or "").lower()
            supported = said == "supported" or bool(truth(member.get("supported")))
            pid = str(member.get("pid") or member.get("passage") or "")
            text = str(member.get("text") or member.get("claim") or "")
            yield Claim(text, "supported" if supported else "unsupported", pid)


def without_seed(value: Any) -> dict[str, Any] | None:
    """The parameters of a decode but its seed, which is of the decode alone."""
    if not isinstance(value, Mapping):
        return None
    rest = {str(k): v for k, v in value.items() if k != "seed"}
    return rest or None


def turn_of(value: Any) -> Turn:
    """An earlier turn, or its bare text, which a user said."""
    if isinstance(value, Mapping):
        speaker = value.get("speaker") or value.get("role") or "user"
        return Turn(str(speaker), str(value.get("text") or value.get("content") or ""))
    return Turn("user", str(value))

"""What of a passage a model is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragablate.records import Passage

FIELDS = ("title", "text")
"""Fields of a passage that can be shown."""


def joined(passage: Passage, fields: Sequence[str], separator: str) -> str:
    """The named fields of a passage as one text; an empty field leaves no separator."""
    parts = (passage.title if field == "title" else passage.text for field in fields)
    return separator.join(part for part in parts if part)


def field_problems(fields: Sequence[str]) -> list[str]:
    """What is wrong with a list of fields."""
    if not isinstance(fields, str) and fields and set(fields) <= set(FIELDS):
        return []
    return [f"fields is {fields!r}: give a list of title, text or both"]


def well_formed(text: str) -> str:
    """``text`` with lone surrogates, which no tokenizer takes, as replacement characters."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def knob_problems(lengths: Mapping[str, object], strings: Mapping[str, object]) -> list[str]:
    """Knobs without a meaning.

    Args:
        lengths: Values by name that are numbers of at least 1, or ``None``.
        strings: Values by name that are strings.
    """
    found = [
        f"{name} is {value!r}: give a number from 1, or null"
        for name, value in lengths.items()
        if value is not None
        and (not isinstance(value, int) or isinstance(value, bool) or value < 1)
    ]
    return found + [
        f"{name} is {value!r}: give a text in quotes"
        for name, value in strings.items()
        if not isinstance(value, str)
    ]

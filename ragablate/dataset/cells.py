"""Cells of a table as the fields of a row.

Text cells (of CSV) and typed cells (of Parquet) are read alike: a text that begins with ``[``
is JSON, and an empty text is a missing value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

_TRUE = frozenset({"true", "yes", "1"})
_FALSE = frozenset({"false", "no", "0"})


def as_list(cell: Any, separator: str | None) -> list[Any] | None:
    """A cell as a list: ``None`` where it is empty, one value as a list of one.

    Raises:
        ValueError: A text begins like JSON and is none.
    """
    if is_missing(cell):
        return None
    if isinstance(cell, str):
        return _from_text(cell.strip(), separator)
    if isinstance(cell, list | tuple):
        return [value for value in cell if value is not None]
    return [cell]


def _from_text(text: str, separator: str | None) -> list[Any] | None:
    if separator:
        return [piece for piece in map(str.strip, text.split(separator)) if piece] or None
    if not text.startswith("["):
        return [text]
    try:
        found = json.loads(text)
    except ValueError as problem:
        raise ValueError(
            f"'{text[:60]}' begins with '[' but is no JSON list ({problem}). Write "
            'JSON, ["first", "second"], or set dataset.list_separator'
        ) from problem
    return [value for value in found if value is not None]


def as_answers(values: list[Any] | None) -> list[Any] | None:
    """Reference answers; numbers as they are written."""
    if values is None:
        return None
    return [str(v) if isinstance(v, int | float) and not isinstance(v, bool) else v for v in values]


def as_gold(values: list[Any] | None) -> dict[str, Any]:
    """``gold_ids`` of a flat list, ``gold`` of a nested one: parts with their alternatives."""
    if values is None:
        return {}
    if not any(isinstance(value, list | tuple) for value in values):
        return {"gold_ids": values}
    parts = [list(v) if isinstance(v, list | tuple) else [v] for v in values]
    return {"gold": [part for part in parts if part]}


def as_numbers(values: list[Any] | None) -> list[Any] | None:
    """Whole numbers, from their digits where they are text."""
    return None if values is None else [as_number(value) for value in values]


def as_number(cell: Any) -> Any:
    """A whole number from its digits; anything else unchanged, for the row to refuse."""
    if isinstance(cell, str) and cell.strip().removeprefix("-").isdecimal():
        return int(cell)
    return None if is_missing(cell) else cell


def as_truth(cell: Any) -> Any:
    """True or false from a word or 1 and 0; anything else unchanged, for the row to refuse.

    A missing value is true: a question is answerable unless it says otherwise.
    """
    if is_missing(cell):
        return True
    word = str(cell).strip().lower()
    return word in _TRUE if word in _TRUE | _FALSE else cell


def as_text(cell: Any) -> Any:
    """The text of a cell; what a typed table marks as not a number is ``None``."""
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def members(cells: Mapping[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """Several columns as one object; a column of objects gives its members."""
    found: dict[str, Any] = {}
    for column in columns:
        cell = cells.get(column)
        if isinstance(cell, Mapping):
            found.update({str(name): _plain(value) for name, value in cell.items()})
        else:
            found[column] = _plain(cell)
    return found


def is_missing(cell: Any) -> bool:
    """Whether a cell holds nothing but white space."""
    if isinstance(cell, str):
        return not cell.strip()
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _plain(value: Any) -> Any:
    """A value that JSON can hold: dates and the like by their text."""
    if is_missing(value):
        return None
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    isoformat = getattr(value, "isoformat", None)
    return isoformat() if isoformat is not None else str(value)

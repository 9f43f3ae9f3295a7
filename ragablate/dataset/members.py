"""Members of a JSON file, read one by one, so that one bad member does not hide the others."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from ragablate.dataset import files
from ragablate.dataset.rows import Line, explain

T = TypeVar("T")


def read_whole(path: Path, kind: type[T], shape: str, problems: list[str]) -> T | None:
    """A JSON file, its members left as ``msgspec.Raw``.

    Args:
        path: The file; where it is missing, that is for the caller to report.
        kind: Type of the whole.
        shape: What the file should be, for the message about one that is not.
        problems: Where a sentence goes, and ``None`` is returned.
    """
    text = files.text(path, problems)
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as problem:
        problems.append(f"{path}: {explain(text, problem, f'Give {shape}')}")
        return None


def read_member(place: Line, raw: msgspec.Raw, kind: type[T], problems: list[str]) -> T | None:
    """One member; ``None`` with a sentence put to ``problems`` where it does not fit."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.DecodeError as problem:
        problems.append(f"{place}: {explain(bytes(raw), problem, 'Correct it')}")
        return None

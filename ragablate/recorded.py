"""What an earlier execution, or somebody else's system, wrote down question by question."""

from __future__ import annotations

import hashlib
from typing import TypeVar

import msgspec

from ragablate.errors import AdapterError
from ragablate.resources import locate

T = TypeVar("T")


def recorded_rows(path: str, kind: type[T], where: str) -> list[tuple[int, T]]:
    """The rows of a JSONL file with their line numbers; blank lines are passed over.

    Args:
        path: A plain path or ``pkg://PACKAGE/FILE``.
        kind: Type of one row.
        where: The config key that names the file, such as ``assembler.path``.

    Raises:
        AdapterError: The file cannot be read, or a line is not such a row.
    """
    file = locate(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise AdapterError(f"{where}: {file} cannot be read ({error.strerror})") from error
    rows = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append((number, msgspec.json.decode(line, type=kind)))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise AdapterError(
                f"{where}: {file}, line {number} is not a {kind.__name__} in JSON ({error})"
            ) from error
    return rows


def recorded_problems(path: str, where: str) -> list[str]:
    """Why the file cannot be there."""
    try:
        file = locate(path)
    except AdapterError as error:
        return [f"{where}: {error}"]
    return [] if file.is_file() else [f"{where}: there is no file {file}"]


def recorded_digest(path: str) -> str:
    """sha256 of the file, by which a fingerprint knows it; the path where there is none."""
    try:
        return "sha256:" + hashlib.sha256(locate(path).read_bytes()).hexdigest()
    except (OSError, AdapterError):
        return path

"""The rows of a log file, one by one: JSON lines, one JSON document, or Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ragablate.errors import DatasetError

Row = tuple[str, Mapping[str, Any]]
"""Where a row stands, as messages name it, and what it holds."""
Watch = Callable[[int], None]
"""Told how many more bytes were read."""

_SHOWN = 20
_TOLD_EVERY = 1000
_BOM = b"\xef\xbb\xbf"


class Broken:
    """Lines that hold no answer.

    Args:
        keep_going: Leave them out; else they are refused once all of them are known.
    """

    def __init__(self, keep_going: bool) -> None:
        self.keep_going = keep_going
        self.count = 0
        self.first: list[str] = []

    def add(self, problem: str) -> None:
        """Count one, and keep its text if it is among the first."""
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(problem)

    def refuse(self, read: int) -> None:
        """Refuse what was counted, unless it may be left out of other answers.

        Raises:
            DatasetError: There is a broken line, and none may be left out or none is whole.
        """
        if self.count and not (self.keep_going and read):
            rest = self.count - len(self.first)
            more = [f"... and {rest} more problems."] if rest else []
            raise DatasetError([*self.first, *more])

    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        if not self.count:
            return ()
        lines = "line was" if self.count == 1 else "lines were"
        return (f"{self.count:,} broken {lines} left out (first: {self.first[0]})",)


def rows(file: Path, broken: Broken, watch: Watch | None = None) -> Iterator[Row]:
    """Rows in file order; JSON lines are never held together.

    Raises:
        DatasetError: The file cannot be read, or a line of it is broken and not to be left out.
        MissingExtra: It is Parquet, and pyarrow is not installed.
    """
    if file.suffix == ".parquet":
        yield from _table(file)
        return
    try:
        whole = _document(file)
        if whole is None:
            yield from _lines(file, broken, watch)
            return
    except OSError as error:
        raise DatasetError([f"{file} cannot be read ({error.strerror})."]) from error
    yield from ((f"{file}, member {n}", row) for n, row in enumerate(whole, 1))


def _lines(file: Path, broken: Broken, watch: Watch | None) -> Iterator[Row]:
    decode = msgspec.json.Decoder().decode
    done, read = 0, 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            done += len(line)
            if watch is not None and not number % _TOLD_EVERY:
                watch(done)
                done = 0
            row = _object(decode, line, f"{file}, line {number}", broken)
            if row is not None:
                read += 1
                yield f"{file}, line {number}", row
    if watch is not None:
        watch(done)
    broken.refuse(read)


def _object(
    decode: Callable[[bytes], Any], line: bytes, place: str, broken: Broken
) -> Mapping[str, Any] | None:
    try:
        row = decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        bare = line.removeprefix(_BOM)
        if bare is not line:
            return _object(decode, bare, place, broken)
        if line.strip():
            broken.add(f"{place}: invalid JSON ({error}). Correct the line.")
        return None
    if isinstance(row, dict):
        return row
    broken.add(f"{place}: no JSON object. Write one answer a line.")
    return None


def _document(file: Path) -> list[Any] | None:
    """The members of a file that is one JSON document and not JSON lines, or ``None``.

    Told by its first line that is not blank: an object that is whole there is a line's.
    """
    with file.open("rb") as lines:
        first = next((line for line in lines if line.removeprefix(_BOM).strip()), b"")
        try:
            if isinstance(msgspec.json.decode(first.removeprefix(_BOM)), dict):
                return None
        except (msgspec.DecodeError, UnicodeDecodeError):
            if first.removeprefix(_BOM).lstrip()[:1] not in (b"{", b"["):
                return None
    return _members(file.read_bytes().removeprefix(_BOM))


def _members(data: bytes) -> list[Any] | None:
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    members = document if isinstance(document, list) else [document]
    return members if all(isinstance(m, Mapping) for m in members) else None


def _table(file: Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        from ragablate.errors import MissingExtra

        raise MissingExtra("pyarrow", "tables", f"the log {file}") from error
    try:
        found = parquet.read_table(file).to_pylist()
    except (ArrowException, OSError) as error:
        raise DatasetError([f"{file} cannot be read ({error}). Make it a Parquet file."]) from error
    for number, row in enumerate(found, 1):
        yield f"{file}, row {number}", {k: v for k, v in row.items() if v is not None}

"""Tables in files: a header and rows, cells as the file has them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ragablate.dataset import files
from ragablate.dataset.rows import Line
from ragablate.errors import MissingExtra

# The library's limit of 131,072 characters is shorter than many a document.
_LONGEST_CELL = 2**31 - 1


class Sheet(NamedTuple):
    """What could be read of one table."""

    header: tuple[str, ...]
    """Names of the columns; empty where the file could not be read."""
    rows: list[tuple[Line, Mapping[str, Any]]]
    """Cells by column, in file order."""
    lost: int
    """How many rows could not be read, or 1 where the file itself could not."""


def read_csv(path: Path, delimiter: str, problems: list[str]) -> Sheet:
    """A table of text cells, in UTF-8, with a header; blank lines are passed over.

    A sentence for every row that does not fit the header is put to ``problems``; reading stops
    at a row that no CSV can have. A missing file is for the caller to report.
    """
    text = files.text(path, problems)
    if text is None:
        return Sheet((), [], 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: tuple[str, ...] = ()
    rows: list[tuple[Line, Mapping[str, Any]]] = []
    lost = 0
    with _unlimited():
        try:
            for number, cells in _numbered(reader):
                line = Line(path, number)
                if not header:
                    header = tuple(cells)
                elif len(cells) == len(header):
                    rows.append((line, dict(zip(header, cells, strict=True))))
                else:
                    lost += 1
                    problems.append(
                        f"{line}: the row has {len(cells)} cells, but the header {len(header)}. "
                        f"Quote cells that hold '{delimiter}', a line break or a quote."
                    )
        except csv.Error as problem:
            lost += 1
            problems.append(f"{path}, line {reader.line_num}: {problem}. Correct the line.")
    return Sheet(header, rows, lost)


def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with the line each begins in."""
    number = 1
    for cells in reader:
        if cells:
            yield number, cells
        number = reader.line_num + 1


@contextmanager
def _unlimited() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def parquet_problems() -> list[str]:
    """Whether the library is there, without importing it."""
    if find_spec("pyarrow") is not None:
        return []
    return [str(MissingExtra("pyarrow", "tables", "dataset.format=parquet"))]


def read_parquet(path: Path, wanted: Iterable[str], problems: list[str]) -> Sheet:
    """A table of typed cells; only the wanted columns are read.

    A missing file is for the caller to report.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            header = tuple(file.schema_arrow.names)
            known = [name for name in dict.fromkeys(wanted) if name in header]
            cells = file.read(columns=known).to_pylist()
    except FileNotFoundError:
        return Sheet((), [], 1)
    except (pyarrow.ArrowException, OSError, ValueError) as problem:
        reason = " ".join(str(problem).split())[:200]
        problems.append(f"{path} cannot be read ({reason}). Make it a Parquet file.")
        return Sheet((), [], 1)
    rows = [(Line(path, number, "row"), row) for number, row in enumerate(cells, start=1)]
    return Sheet(header, rows, 0)

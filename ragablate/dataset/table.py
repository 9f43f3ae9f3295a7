"""Two tables, of questions and of what is searched, in CSV or Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec

from ragablate.dataset import cells as to
from ragablate.dataset import files
from ragablate.dataset.building import Rules, Source, Unit, build
from ragablate.dataset.golden import Rule
from ragablate.dataset.rows import CorpusRow, QuestionRow, Rows, explain
from ragablate.dataset.sheets import Sheet, parquet_problems, read_csv, read_parquet
from ragablate.errors import DatasetError, RagablateError
from ragablate.records import Dataset
from ragablate.resources import locate

Format = Literal["csv", "parquet"]
"""What the files are."""

Columns = Mapping[str, Mapping[str, Any]]
"""For ``corpus`` and for ``questions`` the column of every field."""

_Row = TypeVar("_Row", CorpusRow, QuestionRow)

_SEVERAL = frozenset({"meta", "slices", "filter"})
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "corpus": ("id", "text", "title", "doc_id", "start", "meta"),
    "questions": (
        "id", "question", "answers", "gold_ids", "answerable", "evidence", "answer_start",
        "pool_ids", "slices", "filter", "meta",
    ),
}  # fmt: skip
_NEEDED = {"corpus": ("id", "text"), "questions": ("id", "question")}
_GOLDEN = ("answers", "gold_ids", "evidence", "answer_start", "answerable")
_SEEN = ("meta", "filter")
_COLUMNS: Columns = {
    "corpus": {"id": "id", "text": "text", "title": "title"},
    "questions": {
        "id": "id",
        "question": "question",
        "answers": "answers",
        "gold_ids": "gold_ids",
    },
}


class Table:
    """Questions, gold and a corpus from two tables, whose columns a map names.

    A cell of several values is a list of the file's own, or a text: JSON if it begins with
    ``[``, else one value, or with ``list_separator`` what stands between separators. A nested
    list of gold ids says parts and alternatives: ``[["a"], ["b", "c"]]`` needs *a*, and *b* or
    *c*; a flat one is read by ``gold_rule``. Text is not interpreted in any other way: an id
    ``007`` and an answer ``NA`` stay. Missing ``answerable`` is true. Fields mean what they
    mean in ``jsonl``; a column that the map does not name is not read.

    Args:
        path: The folder of both files, plain or ``pkg://PACKAGE/FOLDER``.
        format: ``csv`` (UTF-8, with a header, plain or gzipped) or ``parquet``.
        name: Short name for titles; empty takes the folder's.
        corpus: File of the corpus in the folder.
        questions: File of the questions in the folder.
        columns: For ``corpus`` and ``questions`` the column that holds each field; null for a
            field that has none. ``meta``, ``slices`` and ``filter`` take a list of columns,
            each a member of that name; a column of objects gives its members.
        delimiter: What separates cells, of ``csv`` alone.
        list_separator: What separates values in a cell of text; null reads JSON.
        unit: What a row of the corpus is.
        gold_rule: Whether every id of a flat list is needed (``all``) or one is enough.
        allow_missing_gold: Accept gold that is in no corpus, which is an eval gap.
        pool: Search only ``pool_ids`` for a question that has them.
        attribution: Who made the data and under which licence.
    """

    def __init__(  # noqa: PLR0913
        self,
        path: str,
        format: Format = "csv",
        name: str = "",
        corpus: str = "corpus.csv",
        questions: str = "questions.csv",
        columns: Columns = _COLUMNS,
        delimiter: str = ",",
        list_separator: str | None = None,
        unit: Unit = "passages",
        gold_rule: Rule = "all",
        allow_missing_gold: bool = False,
        pool: bool = False,
        attribution: str = "",
    ) -> None:
        self.path = path
        self.format = format
        self.name = name
        self.corpus = corpus
        self.questions = questions
        self.columns = columns
        self.delimiter = delimiter
        self.list_separator = list_separator
        self.unit = unit
        self.gold_rule = gold_rule
        self.allow_missing_gold = allow_missing_gold
        self.pool = pool
        self.attribution = attribution

    def problems(self) -> list[str]:
        """Settings that do not exist, a missing extra, and files that are missing."""
        found = self._settings()
        try:
            folder, *wanted = self._paths()
        except RagablateError as problem:
            return [*found, str(problem)]
        if not folder.is_dir():
            return [
                *found,
                f"dataset.path: there is no folder {folder}. Give the folder that holds "
                f"{self.corpus} and {self.questions}.",
            ]
        return found + [files.missing(file) for file in wanted if not file.is_file()]

    def identity(self) -> dict[str, object]:
        """``path`` by the content of both files; unchanged while one cannot be read."""
        try:
            return {"path": files.content_digest(self._paths()[1:])}
        except (OSError, RagablateError):
            return {}

    def load(self) -> Dataset:
        """Read and check both files.

        Raises:
            DatasetError: With everything that is wrong in either; of more than twenty problems
                the first twenty and the number of the others.
        """
        problems = self.problems()
        if self._settings() or not self._paths()[0].is_dir():
            raise DatasetError(problems)
        folder, corpus, questions = self._paths()
        name = self.name or folder.name or folder.resolve().name
        return build(
            self._rows("corpus", corpus, CorpusRow, problems),
            self._rows("questions", questions, QuestionRow, problems),
            Source(name, self.attribution, corpus, questions, "Write one row each"),
            self._rules,
            problems,
        )

    @property
    def _rules(self) -> Rules:
        return Rules(self.unit, self.gold_rule, self.allow_missing_gold, self.pool)

    def _paths(self) -> tuple[Path, Path, Path]:
        folder = locate(str(self.path))
        return folder, files.find(folder / self.corpus), files.find(folder / self.questions)

    def _settings(self) -> list[str]:
        found = self._rules.problems()
        if self.format not in get_args(Format):
            found.append(
                f"dataset.format is '{self.format}'. Set it to {' or '.join(get_args(Format))}."
            )
        if len(self.delimiter) != 1 or self.delimiter in '\r\n"':
            found.append(f"dataset.delimiter is {self.delimiter!r}. Set it to one character.")
        for table in self.columns.keys() - _FIELDS.keys():
            found.append(f"dataset.columns.{table} is no table: name corpus and questions.")
        for table in _FIELDS:
            chosen = self.columns.get(table) or {}
            if isinstance(chosen, Mapping):
                found += _map_problems(table, chosen)
            else:
                found.append(f"dataset.columns.{table} is {chosen!r}: give a column by field.")
        return found + (parquet_problems() if self.format == "parquet" else [])

    def _rows(self, table: str, path: Path, kind: type[_Row], problems: list[str]) -> Rows:
        """Rows of one table; nothing of it where the map names columns it does not have."""
        chosen = {k: v for k, v in (self.columns.get(table) or {}).items() if v not in (None, [])}
        wanted = [column for value in chosen.values() for column in _each(value)]
        sheet = (
            read_csv(path, self.delimiter, problems)
            if self.format == "csv"
            else read_parquet(path, wanted, problems)
        )
        amiss = _header_problems(sheet, path, table, chosen)
        problems += amiss
        if amiss:
            return Rows([], sheet.lost + 1)
        found, lost = [], sheet.lost
        for line, cells in sheet.rows:
            try:
                row = msgspec.convert(self._fields(cells, chosen), type=kind)
            except msgspec.ValidationError as problem:
                problems.append(f"{line}: {explain(b'', problem, '')}")
                lost += 1
            except ValueError as problem:
                problems.append(f"{line}: {problem}.")
                lost += 1
            else:
                found.append((line, row))
        return Rows(found, lost)

    def _fields(self, cells: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
        """One row's cells as the fields of its record."""
        fields: dict[str, Any] = {}
        for field, column in chosen.items():
            if field in _SEVERAL:
                fields[field] = to.members(cells, _each(column))
            elif field in ("answers", "gold_ids", "evidence", "answer_start", "pool_ids"):
                fields.update(_listed(field, to.as_list(cells[column], self.list_separator)))
            elif field == "answerable":
                fields[field] = to.as_truth(cells[column])
            elif field == "start":
                fields[field] = to.as_number(cells[column])
            elif field == "doc_id":
                fields[field] = None if to.is_missing(cells[column]) else cells[column]
            else:
                fields[field] = to.as_text(cells[column])
        return fields


def _listed(field: str, values: list[Any] | None) -> dict[str, Any]:
    if field == "gold_ids":
        return to.as_gold(values)
    if field == "answers":
        return {field: to.as_answers(values)}
    return {field: to.as_numbers(values) if field == "answer_start" else values}


def _each(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _map_problems(table: str, chosen: Mapping[str, Any]) -> list[str]:
    """Fields that do not exist, lack a column, or show a stage what is gold."""
    where = f"dataset.columns.{table}"
    found = [
        f"{where}.{field} is no field: name {', '.join(_FIELDS[table])}."
        for field in chosen
        if field not in _FIELDS[table]
    ]
    found += [
        f"{where}.{field} has no column: name the one that holds it."
        for field in _NEEDED[table]
        if not chosen.get(field)
    ]
    for field, value in chosen.items():
        many = field in _SEVERAL
        if value is not None and (isinstance(value, str) if many else not isinstance(value, str)):
            wanted = "a list of columns" if many else "one column"
            found.append(f"{where}.{field} is {value!r}: give {wanted}.")
    if table == "questions":
        gold = {chosen[field] for field in _GOLDEN if isinstance(chosen.get(field), str)}
        found += [
            f"{where}.{field} names '{column}', which is gold, and every stage could see it. "
            "Leave it out."
            for field in _SEEN
            for column in _each(chosen.get(field) or [])
            if column in gold
        ]
    return found


def _header_problems(sheet: Sheet, path: Path, table: str, chosen: Mapping[str, Any]) -> list[str]:
    if not sheet.header:
        return [] if sheet.lost else [f"{path} has no header. Name the columns in its first line."]
    doubled = sorted({name for name in sheet.header if sheet.header.count(name) > 1})
    found = [f"{path} has several columns '{name}'. Rename them." for name in doubled]
    return found + [
        f"{path} has no column '{column}'; it has {', '.join(sheet.header)}. Set "
        f"dataset.columns.{table}.{field} to one of them"
        f"{'' if field in _NEEDED[table] else ', or to null if there is none'}."
        for field, value in chosen.items()
        for column in _each(value)
        if column not in sheet.header
    ]

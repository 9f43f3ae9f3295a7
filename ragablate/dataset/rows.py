"""Rows of a data set, typed, whatever file they come from.

Only the fields named here are read. Any other field is passed over, so a field that nobody
foresaw can never carry gold into a ``Question``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from ragablate.codec import encode
from ragablate.dataset import files
from ragablate.records import Document, Passage, Question, Scalar, Turn

Id = str | int
"""An identifier; a number is read as its decimal digits."""
Plain = str | int | float | bool | None
"""A scalar as JSON has it."""

_LINES = "Write one JSON object a line"


class CorpusRow(msgspec.Struct):
    """One passage or document."""

    id: Id
    text: str
    title: str | None = None
    meta: dict[str, Any] | None = None
    doc_id: Id | None = None
    start: int | None = None


class TurnRow(msgspec.Struct):
    """One earlier utterance."""

    speaker: str
    text: str


class AlternativeRow(msgspec.Struct, forbid_unknown_fields=True):
    """One way to cover a part of the gold; unknown fields are refused as misspellings."""

    pid: Id | None = None
    doc_id: Id | None = None
    text: str | None = None
    start: int | None = None
    end: int | None = None
    quotes: list[str] | None = None


class QuestionRow(msgspec.Struct):
    """One question with its gold."""

    id: Id
    question: str
    answers: list[str] | None = None
    gold_ids: list[Id] | None = None
    gold: list[list[Id | AlternativeRow]] | None = None
    answerable: bool = True
    slices: dict[str, Plain | list[Plain]] | None = None
    history: list[TurnRow] | None = None
    filter: dict[str, Plain | list[Plain] | dict[str, Plain]] | None = None
    pool_ids: list[Id] | None = None
    meta: dict[str, Any] | None = None
    evidence: Any = None
    answer_start: list[int] | None = None


Row = TypeVar("Row", bound=msgspec.Struct)


class Line(NamedTuple):
    """Where a row stands, as errors name it."""

    path: Path
    number: int
    kind: str = "line"
    """What is counted; it may say where, as in ``article 3, paragraph``."""

    def __str__(self) -> str:
        return f"{self.path}, {self.place}"

    @property
    def place(self) -> str:
        """Where it stands in its file."""
        return f"{self.kind} {self.number}"


class Rows(NamedTuple):
    """What could be read of one file."""

    found: list[tuple[Line, Any]]
    """The good rows, in file order."""
    lost: int
    """How many lines could not be read, or 1 where the file itself could not."""


def read_rows(path: Path, kind: type[Row], problems: list[str]) -> Rows:
    """All rows of a file; a sentence for every line that is not one is put to ``problems``.

    A byte order mark and blank lines are passed over. Lines end at line feeds only, so text
    may hold any other separator. Reading stops at the first line that is not UTF-8, because
    the whole file then is in another encoding. A missing file is for the caller to report.
    """
    found: list[tuple[Line, Any]] = []
    lost = 0
    data = files.content(path, problems)
    if data is None:
        return Rows([], 1)
    for line, raw in _lines(path, data):
        try:
            text = raw.decode()
            found.append((line, msgspec.json.decode(text, type=kind)))
            problems.extend(f"{line}: {typo}" for typo in _typos(text, kind))
        except UnicodeDecodeError as problem:
            problems.append(
                f"{line}: not UTF-8 (byte {problem.start + 1} of the line is "
                f"0x{raw[problem.start]:02x}). Convert the file to UTF-8."
            )
            return Rows(found, lost + 1)
        except msgspec.DecodeError as problem:
            lost += 1
            problems.append(f"{line}: {explain(raw, problem, _LINES)}")
    return Rows(found, lost)


def _typos(text: str, kind: type[msgspec.Struct]) -> Iterator[str]:
    """Unknown fields that are nearly a known one the row does not have.

    Unknown fields are passed over, so a misspelt one would silently lose what it says.
    """
    known = kind.__struct_fields__
    given = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    for name in given:
        if name not in known:
            near = get_close_matches(name, [k for k in known if k not in given], 1, 0.85)
            if near:
                yield f"unknown field '{name}': did you mean '{near[0]}'? Correct or remove it."


def _lines(path: Path, data: bytes) -> Iterator[tuple[Line, bytes]]:
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if raw.strip():
            yield Line(path, number), raw


def explain(raw: bytes | str, problem: msgspec.DecodeError, remedy: str) -> str:
    """What is wrong with a piece of JSON, with what to do about it."""
    if isinstance(problem, msgspec.ValidationError):
        return f"{_in_words(str(problem))}. Correct the field."
    try:
        json.loads(raw)
    except ValueError as plain:
        return f"invalid JSON ({plain}). {remedy}."
    return f"invalid JSON (half of a surrogate pair, or NaN). {remedy}."


def _in_words(message: str) -> str:
    what, _, where = message.partition(" - at `$")
    what = what.replace("`", "'").replace("Expected", "expected")
    where = where.rstrip("`").lstrip(".")
    if what.startswith("Object missing required field"):
        what = what.replace("Object missing required field", "has no field")
    return f"field '{where}': {what}" if where else what


def as_id(value: Id) -> str:
    """The identifier as the records hold it."""
    return str(value)


def as_passage(row: CorpusRow) -> Passage:
    """The passage; its own document where it was not cut from one."""
    return Passage(
        pid=as_id(row.id),
        text=row.text,
        title=row.title or "",
        doc_id=document_of(row),
        start=row.start or 0,
        meta=_scalars(row.meta),
    )


def as_document(row: CorpusRow) -> Document:
    """The document."""
    return Document(as_id(row.id), row.text, row.title or "", _scalars(row.meta))


def document_of(row: CorpusRow) -> str:
    """The doc_id of a row: its own id where it was not cut from a document."""
    return as_id(row.id if row.doc_id is None else row.doc_id)


def as_question(row: QuestionRow, pool: bool) -> Question:
    """The question without its gold; ``pool`` says whether its pool restricts the search."""
    strata = {name: _stratum(value) for name, value in (row.slices or {}).items()}
    return Question(
        qid=as_id(row.id),
        text=row.question,
        history=tuple(Turn(turn.speaker, turn.text) for turn in row.history or ()),
        filter={k: tuple(v) if isinstance(v, list) else v for k, v in (row.filter or {}).items()},
        slices={name: value for name, value in strata.items() if value is not None},
        pool=tuple(map(as_id, row.pool_ids)) if pool and row.pool_ids is not None else None,
        meta=row.meta or {},
    )


def _stratum(value: Plain | list[Plain]) -> str | None:
    if isinstance(value, list):
        members = [m for m in map(_stratum, value) if m is not None]
        return ", ".join(members) if members else None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else str(value)


def _scalars(meta: Mapping[str, Any] | None) -> dict[str, Scalar]:
    return {
        name: encode(value).decode() if isinstance(value, dict | list) else value
        for name, value in (meta or {}).items()
    }

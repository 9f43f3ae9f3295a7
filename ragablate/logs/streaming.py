"""A log answer by answer, so that a pile of logs need not fit into memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragablate.errors import DatasetError
from ragablate.logs.entry import Entry
from ragablate.logs.mapped import Mapper
from ragablate.logs.reading import read_log, told, unreadable
from ragablate.logs.rows import Broken, Row, Watch, rows
from ragablate.resources import locate

_BY_ROW = ("fields", "ragas")
"""Formats with one answer a row that needs nothing else of its file."""
_SHOWN = 20


class LogStream:
    """The entries of a log, in file order, to be gone through once.

    Entries carry ids, scores and answers, not the texts of passages nor the fields that are not
    understood: rows come and go. Formats whose answers are spread over rows or files (spans, our
    own bundles) are read as a whole, as ``read_log`` does.

    Args:
        path: As of ``read_log``.
        form: One of ``FORMATS``.
        fields: By our name, the field of a row.
        keep_going: Leave out lines that are no JSON object.
        watch: Told how many more bytes were read.
    """

    def __init__(
        self,
        path: str,
        form: str = "auto",
        fields: Mapping[str, str | None] | None = None,
        keep_going: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.path = path
        self.format = form
        self.fields = fields or {}
        self.keep_going = keep_going
        self.watch = watch
        self._lacking: Counter[str] = Counter()
        self._notes: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the log does not say, and what was left out; known at the end."""
        return self._notes

    def __iter__(self) -> Iterator[Entry]:
        """The entries.

        Raises:
            DatasetError: The file cannot be read, a line of it is broken, an answer has no
                question or stands there twice, or nothing in it is an answer.
        """
        file = locate(self.path)
        broken = Broken(self.keep_going)
        if file.suffix != ".parquet" and self._format(file) in _BY_ROW:
            yield from self._checked(self._mapped(rows(file, broken, self.watch)))
            self._notes = (*broken.notes(), *self._notes)
        else:
            log = read_log(self.path, self.format, self.fields, self.keep_going)
            self.format = log.format
            self._notes = tuple(n for n in log.notes if "replayed" not in n)
            yield from log.entries

    def _format(self, file: Path) -> str:
        if self.format == "auto":
            first = next(rows(file, Broken(True)), None)
            if first is None:
                raise DatasetError(
                    [f"{self.path} holds nothing. Give a log with one answer a line."]
                )
            self.format = told(first[1], self.fields)
        return self.format

    def _mapped(self, found: Iterator[Row]) -> Iterator[Entry]:
        mapper = Mapper(self.fields, self.format == "ragas", texts=False)
        for place, row in found:
            try:
                entry = mapper.entry(place, row)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise unreadable(place, self.format, error) from error
            yield entry

    def _checked(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Entries with a question, each once; refused at the end where one is not."""
        seen: dict[tuple[str, int], str] = {}
        problems: list[str] = []
        lacking: Counter[str] = Counter()
        for entry in entries:
            problem = _problem(entry, seen)
            if problem:
                problems += [problem] if len(problems) < _SHOWN else []
                continue
            lacking.update(_lacks(entry))
            yield entry
        if problems or not seen:
            raise DatasetError(
                problems or [f"{self.path} read as {self.format} holds no answer. Set format."]
            )
        self._notes = _notes(lacking, len(seen))


def _problem(entry: Entry, seen: dict[tuple[str, int], str]) -> str:
    if not entry.question.strip():
        return f"{entry.place}: no question. Map it: fields.question=NAME."
    first = seen.setdefault((entry.qid, entry.replicate), entry.place)
    if first is entry.place:
        return ""
    return (
        f"{entry.place}: question '{entry.qid}' stands in {first} already. Give every answer an id "
        "of its own (fields.qid=NAME), or several decodes a replicate."
    )


_SO: Mapping[str, str] = {
    "prompt_pids": "cannot separate assembly from retrieval",
    "retrieved": "retrieval cannot be told apart",
    "answer": "nothing to judge as it was logged",
    "model": "a change of model cannot be seen",
    "prompt_version": "a change of prompt cannot be seen",
    "gold": "evidence cannot be followed",
    "timestamp": "incidents cannot be put in the order of time",
}
"""What follows where an answer lacks one of the fields that a log should have."""


def _lacks(entry: Entry) -> list[str]:
    gold: Any = entry.gold or entry.gold_texts or not entry.answerable
    values = (
        entry.shown, entry.retrieved, entry.answer, entry.model or None, entry.reader or None,
        gold or None, entry.timestamp or None,
    )  # fmt: skip
    if None not in values:
        return []
    return [name for name, value in zip(_SO, values, strict=True) if value is None]


def _notes(lacking: Counter[str], n: int) -> tuple[str, ...]:
    return tuple(
        f"{lacking[name]:,} of {n:,} entries lack {name}: {so}"
        for name, so in _SO.items()
        if lacking[name]
    )

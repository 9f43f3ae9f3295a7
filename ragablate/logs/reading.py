"""From a file to a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragablate.errors import AdapterError, DatasetError
from ragablate.logs import bundled, frozen, spans
from ragablate.logs.entry import Entry, Log, LoggedPassage
from ragablate.logs.mapped import FIELDS, Mapper
from ragablate.logs.rows import Broken, Row, rows
from ragablate.resources import locate

FORMATS = ("auto", "traces", "frozen", "fields", "openinference", "ragas", "ragchecker")
"""Formats of logs; ``auto`` tells them by their fields."""

_RAGAS = ("user_input", "retrieved_contexts", "contexts")
_SHOWN = 20


def read_problems(path: str, form: str, fields: Mapping[str, str | None], where: str) -> list[str]:
    """A file or a setting that does not exist."""
    found = []
    if form not in FORMATS:
        found.append(f"{where}.format is '{form}'. Set it to one of {', '.join(FORMATS)}.")
    unknown = sorted(set(fields) - set(FIELDS) - {"verdict"})
    if unknown:
        found.append(
            f"{where}.fields names '{unknown[0]}', which a log has not. It may name "
            f"{', '.join(sorted({*FIELDS, 'verdict'}))}."
        )
    try:
        file = locate(path)
    except AdapterError as error:
        return [*found, f"{where}.path: {error}"]
    if not file.is_file():
        found.append(f"{where}.path: there is no file {file}. Give the log itself.")
    return found


def read_log(
    path: str,
    form: str = "auto",
    fields: Mapping[str, str | None] | None = None,
    keep_going: bool = False,
) -> Log:
    """Read a log.

    Args:
        path: JSON lines, one JSON document, or Parquet (``.parquet``).
        form: One of ``FORMATS``.
        fields: By our name, the field of a row.
        keep_going: Leave out lines that are no JSON object, and say in a note how many.

    Raises:
        DatasetError: It cannot be read, a line of it is broken, or nothing in it is an answer.
    """
    file = locate(path)
    broken = Broken(keep_going)
    read = list(rows(file, broken))
    if not read:
        raise DatasetError([f"{path} holds nothing. Give a log with one answer a line."])
    found = told(read[0][1], fields or {}) if form == "auto" else form
    try:
        entries = _entries(read, found, fields or {})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise unreadable(path, found, error) from error
    if not entries:
        raise DatasetError([f"{path} read as {found} holds no answer. Set format."])
    texts: dict[str, LoggedPassage] = frozen.texts(read) if found == "frozen" else {}
    folder = bundled.beside(file) if found == "traces" else None
    if folder is not None:
        entries, texts = bundled.completed(entries, folder)
    collect(entries, texts)
    _refuse(path, entries)
    return Log(path, found, entries, texts, (*broken.notes(), *_notes(entries)))


def unreadable(where: str, form: str, error: Exception) -> DatasetError:
    """What to say of rows that a format does not fit."""
    return DatasetError(
        [f"{where} does not read as {form} ({error}). Set format, or map its fields."]
    )


def told(row: Mapping[str, Any], fields: Mapping[str, str | None]) -> str:
    """The format of a log, by the fields of its first row."""
    if any(fields.values()):
        return "fields"
    if frozen.is_frozen(row):
        return "frozen"
    if spans.is_spans(row):
        return "openinference"
    if "context_digest" in row and "frame_digest" in row:
        return "traces"
    if "results" in row or "gt_answer" in row:
        return "ragchecker"
    return "ragas" if any(name in row for name in _RAGAS) else "fields"


def _entries(rows: list[Row], form: str, fields: Mapping[str, str | None]) -> tuple[Entry, ...]:
    if form == "openinference":
        return tuple(spans.entries(rows))
    if form == "frozen":
        return tuple(frozen.entries(rows))
    if form == "ragchecker":
        rows = list(_results(rows))
    found = Mapper(fields, form in ("ragas", "ragchecker")).entries(rows)
    if form == "traces":
        # Our own reader's fingerprint covers every parameter of the decode.
        found = (replace(e, decoding={"reader": e.reader}) if e.reader else e for e in found)
    return tuple(found)


def _results(rows: Iterable[Row]) -> Iterator[Row]:
    for place, row in rows:
        if isinstance(row.get("results"), list):
            for number, result in enumerate(row["results"], 1):
                yield f"{place}, result {number}", result
        else:
            yield place, row


def collect(entries: tuple[Entry, ...], texts: dict[str, LoggedPassage]) -> None:
    """Whole texts by pid; the longest where a pid has several."""
    for entry in entries:
        for p in entry.retrieved or ():
            known = texts.get(p.pid)
            if p.text is not None and (known is None or len(known.text or "") < len(p.text)):
                texts[p.pid] = p
        for c in entry.context or ():
            if not c.truncated and not c.removed:
                texts.setdefault(c.pid, LoggedPassage(c.pid, c.body))


def _refuse(path: str, entries: tuple[Entry, ...]) -> None:
    blank = [e.place for e in entries if not e.question.strip()]
    if blank:
        raise DatasetError(
            [f"{blank[0]}: no question ({len(blank)} such). Map it: fields.question=NAME."]
        )
    seen: dict[tuple[str, int], str] = {}
    problems = []
    for entry in entries:
        first = seen.setdefault((entry.qid, entry.replicate), entry.place)
        if first != entry.place:
            problems.append(
                f"{entry.place}: question '{entry.qid}' stands in {first} already. Give every "
                "answer an id of its own (fields.qid=NAME), or several decodes a replicate."
            )
    if problems:
        raise DatasetError(problems[:_SHOWN])


def _notes(entries: tuple[Entry, ...]) -> tuple[str, ...]:
    """What is missing, each with what follows from it."""
    n = len(entries)
    checks = (
        ("prompt_pids", sum(e.shown is None for e in entries),
         "cannot separate assembly from retrieval"),
        ("the text of the context", sum(e.context is None for e in entries),
         "contexts cannot be replayed"),
        ("retrieved", sum(e.retrieved is None for e in entries), "rankings cannot be replayed"),
        ("answer", sum(e.answer is None for e in entries), "nothing to judge as it was logged"),
        ("references", sum(not e.references for e in entries if e.answerable),
         "correctness is not measured by rule"),
        ("gold", sum(not (e.gold or e.gold_texts) for e in entries if e.answerable),
         "evidence cannot be followed"),
    )  # fmt: skip
    return tuple(
        f"{missing} of {n} entries lack {name}: {so}" for name, missing, so in checks if missing
    )

"""From a file to a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from ragablate.errors import AdapterError, DatasetError
from ragablate.logs import bundled, frozen, spans
from ragablate.logs.entry import Entry, Log, LoggedPassage
from ragablate.logs.mapped import FIELDS, Mapper
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
    skipped: list[str] = []
    rows = list(_rows(file, skipped if keep_going else None))
    if not rows:
        raise DatasetError([f"{path} holds nothing. Give a log with one answer a line."])
    found = _told(rows[0][1], fields or {}) if form == "auto" else form
    try:
        entries = _entries(rows, found, fields or {})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            [f"{path} does not read as {found} ({error}). Set format, or map its fields."]
        ) from error
    if not entries:
        raise DatasetError([f"{path} read as {found} holds no answer. Set format."])
    texts: dict[str, LoggedPassage] = frozen.texts(rows) if found == "frozen" else {}
    folder = bundled.beside(file) if found == "traces" else None
    if folder is not None:
        entries, texts = bundled.completed(entries, folder)
    _collect(entries, texts)
    _refuse(path, entries)
    return Log(path, found, entries, texts, (*_left_out(skipped), *_notes(entries)))


def _left_out(skipped: list[str]) -> tuple[str, ...]:
    if not skipped:
        return ()
    lines = "line was" if len(skipped) == 1 else "lines were"
    return (f"{len(skipped)} broken {lines} left out (first: {skipped[0]})",)


def _told(row: Mapping[str, Any], fields: Mapping[str, str | None]) -> str:
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


def _entries(
    rows: list[tuple[str, Any]], form: str, fields: Mapping[str, str | None]
) -> tuple[Entry, ...]:
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


def _results(rows: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for place, row in rows:
        if isinstance(row.get("results"), list):
            for number, result in enumerate(row["results"], 1):
                yield f"{place}, result {number}", result
        else:
            yield place, row


def _rows(file: Path, skipped: list[str] | None) -> Iterator[tuple[str, Any]]:
    if file.suffix == ".parquet":
        yield from _table(file)
        return
    try:
        data = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise DatasetError([f"{file} cannot be read ({error.strerror})."]) from error
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    problems: list[str] = []
    found = list(_objects(file, lines, problems))
    whole = None if not problems and found else _whole(data)
    if whole is not None:
        yield from ((f"{file}, member {n}", row) for n, row in enumerate(whole, 1))
        return
    if problems and skipped is not None and found:
        skipped += problems
    elif problems:
        rest = len(problems) - _SHOWN
        more = [f"... and {rest} more problems."] if rest > 0 else []
        raise DatasetError([*problems[:_SHOWN], *more])
    yield from found


def _objects(
    file: Path, lines: list[tuple[int, bytes]], problems: list[str]
) -> Iterator[tuple[str, Any]]:
    for number, line in lines:
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problems.append(f"{file}, line {number}: invalid JSON ({error}). Correct the line.")
            continue
        if isinstance(row, Mapping):
            yield f"{file}, line {number}", row
        elif not (isinstance(row, list) and len(lines) == 1):
            problems.append(f"{file}, line {number}: no JSON object. Write one answer a line.")


def _whole(data: bytes) -> list[Any] | None:
    """The members of a file that is one JSON document, or ``None``."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    members = document if isinstance(document, list) else [document]
    return members if all(isinstance(m, Mapping) for m in members) else None


def _table(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        from ragablate.errors import MissingExtra

        raise MissingExtra("pyarrow", "tables", f"the log {file}") from error
    try:
        rows = parquet.read_table(file).to_pylist()
    except (ArrowException, OSError) as error:
        raise DatasetError([f"{file} cannot be read ({error}). Make it a Parquet file."]) from error
    for number, row in enumerate(rows, 1):
        yield f"{file}, row {number}", {k: v for k, v in row.items() if v is not None}


def _collect(entries: tuple[Entry, ...], texts: dict[str, LoggedPassage]) -> None:
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

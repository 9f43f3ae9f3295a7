"""Some answers of a log in full, without holding the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ragablate.logs.entry import Entry, Log, LoggedPassage
from ragablate.logs.mapped import Mapper
from ragablate.logs.reading import collect, read_log, told
from ragablate.logs.rows import Broken, rows
from ragablate.resources import locate


def chosen(
    path: str,
    form: str,
    fields: Mapping[str, str | None],
    qids: Collection[str],
    keep_going: bool = False,
) -> Log:
    """The log with the answers to some questions alone, texts and all.

    Rows that hold one answer each are looked at one by one; other formats are read as a whole.

    Args:
        path: As of ``read_log``.
        form: One of ``FORMATS``.
        fields: By our name, the field of a row.
        qids: Which questions.
        keep_going: Leave out lines that are no JSON object.

    Raises:
        DatasetError: It cannot be read.
    """
    file = locate(path)
    if form == "auto" and file.suffix != ".parquet":
        first = next(rows(file, Broken(True)), None)
        form = form if first is None else told(first[1], fields)
    if form not in ("fields", "ragas") or file.suffix == ".parquet":
        log = read_log(path, form, fields, keep_going)
        return replace(log, entries=tuple(e for e in log.entries if e.qid in qids))
    mapper = Mapper(fields, form == "ragas")
    found: list[Entry] = []
    for place, row in rows(file, Broken(keep_going)):
        if mapper.qid(row) in qids:
            found.append(mapper.entry(place, row))
    texts: dict[str, LoggedPassage] = {}
    entries = tuple(found)
    collect(entries, texts)
    return Log(path, form, entries, texts)

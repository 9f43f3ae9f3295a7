"""Frozen contexts: what one arm of a bundle showed its reader, in a file that is committed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ragablate.errors import DatasetError
from ragablate.logs.bundled import gold_passages, quotes, title_of
from ragablate.logs.entry import Entry, LoggedPassage
from ragablate.prompts import context_digest
from ragablate.records import Context, ContextPassage, Turn

MARK = "frozen"
"""The field every line of a frozen file has: the id of the bundle it was taken from."""


def is_frozen(row: Mapping[str, Any]) -> bool:
    """Whether a row is of a frozen file."""
    return MARK in row and "context" in row and "context_digest" in row


def entries(rows: Iterable[tuple[str, Any]]) -> Iterator[Entry]:
    """One entry a line, its context held to its digest.

    Raises:
        DatasetError: A context is not what its digest says, or a line lacks something.
    """
    for place, row in rows:
        try:
            passages = msgspec.convert(row["context"], tuple[ContextPassage, ...])
            history = msgspec.convert(row.get("history", []), tuple[Turn, ...])
        except msgspec.ValidationError as error:
            raise DatasetError([f"{place}: {error}. Freeze the arm again."]) from error
        if context_digest(Context(passages)) != row["context_digest"]:
            raise DatasetError(
                [f"{place}: the context of '{row['qid']}' was changed since it was frozen (it does "
                 "not have the digest beside it). Freeze the arm again."]
            )  # fmt: skip
        yield Entry(
            place=place,
            qid=str(row["qid"]),
            question=str(row["question"]),
            shown=tuple(p.pid for p in passages),
            context=passages,
            context_digest=str(row["context_digest"]),
            references=tuple(map(str, row["answers"])),
            gold_quotes=tuple(quotes(row["gold"])),
            answerable=bool(row["answerable"]),
            slices={str(k): str(v) for k, v in row.get("slices", {}).items()},
            history=history,
        )


def texts(rows: Iterable[tuple[str, Any]]) -> dict[str, LoggedPassage]:
    """Every passage that carries gold, shown or not."""
    found: dict[str, LoggedPassage] = {}
    for _, row in rows:
        for p in gold_passages(row["gold"]):
            found.setdefault(p.pid, LoggedPassage(p.pid, p.body, title_of(p)))
    return found

"""What lies beside our own trace log: contexts by digest, and the questions with their gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from ragablate.errors import DatasetError
from ragablate.logs.entry import Entry, GoldQuote, LoggedPassage
from ragablate.prompts import context_digest
from ragablate.records import Context, ContextPassage


class _Context(msgspec.Struct):
    digest: str
    passages: tuple[ContextPassage, ...]


def beside(log: Path) -> Path | None:
    """The bundle a trace log is part of."""
    for folder in log.resolve().parents[:3]:
        if (folder / "contexts.jsonl").is_file() and (folder / "plan.json").is_file():
            return folder
    return None


def completed(
    entries: tuple[Entry, ...], folder: Path
) -> tuple[tuple[Entry, ...], dict[str, LoggedPassage]]:
    """Entries with the contexts and references of their bundle, and every whole text in it.

    Raises:
        DatasetError: A context does not have the digest it is stored under.
    """
    contexts = _contexts(folder / "contexts.jsonl")
    questions = _questions(folder / "questions.jsonl")
    texts: dict[str, LoggedPassage] = {}
    for passages in contexts.values():
        for p in passages:
            if not p.truncated and not p.removed:
                texts.setdefault(p.pid, LoggedPassage(p.pid, p.body, title_of(p)))
    for question in questions.values():
        for p in gold_passages(question.get("resolved") or {}):
            texts.setdefault(p.pid, LoggedPassage(p.pid, p.body, title_of(p)))
    return tuple(_completed(e, contexts, questions) for e in entries), texts


def _completed(
    entry: Entry,
    contexts: Mapping[str, tuple[ContextPassage, ...]],
    questions: Mapping[str, Any],
) -> Entry:
    gold = (questions.get(entry.qid) or {}).get("gold") or {}
    context = contexts.get(entry.context_digest, entry.context)
    return replace(
        entry,
        context=context,
        shown=entry.shown if context is None else tuple(p.pid for p in context),
        references=tuple(gold.get("answers") or entry.references),
        gold_quotes=tuple(quotes((questions.get(entry.qid) or {}).get("resolved") or {})),
    )


def quotes(resolved: Mapping[str, Any]) -> Iterator[tuple[GoldQuote, ...]]:
    """Gold by part; an alternative that needs several passages is a part for each of them.

    Where such an alternative is one of several, it cannot be told apart and is left out.
    """
    for part in resolved.get("parts") or ():
        single = [a for a in part if a.get("any_of") or len(a["passages"]) == 1]
        if single:
            yield tuple(_quote(gold) for a in single for gold in a["passages"])
        else:
            yield from ((_quote(gold),) for gold in part[0]["passages"])


def _quote(gold: Mapping[str, Any]) -> GoldQuote:
    if not gold.get("indexed", True):
        return GoldQuote(text=gold["passage"]["body"])
    return GoldQuote(gold["passage"]["pid"], quotes=tuple(gold.get("evidence") or ()))


def title_of(passage: ContextPassage) -> str:
    """What stands before a passage's body."""
    return passage.text.removesuffix(passage.body).strip("\n")


def _contexts(path: Path) -> dict[str, tuple[ContextPassage, ...]]:
    found = {}
    for number, line in _lines(path):
        row = msgspec.json.decode(line, type=_Context)
        if context_digest(Context(row.passages)) != row.digest:
            raise DatasetError([f"{path}, line {number}: the context is not what its digest says"])
        found[row.digest] = row.passages
    return found


def _questions(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    rows = [msgspec.json.decode(line) for _, line in _lines(path)]
    return {row["qid"]: row for row in rows}


def gold_passages(resolved: Mapping[str, Any]) -> Iterator[ContextPassage]:
    """Every indexed passage that carries gold."""
    for part in resolved.get("parts") or ():
        for alternative in part:
            for gold in alternative.get("passages") or ():
                if gold.get("indexed", True):
                    yield msgspec.convert(gold["passage"], ContextPassage)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip():
            yield number, line

"""Rows with one answer each: plain JSON lines, RAGAS rows, RAGChecker results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ragablate.logs.entry import Entry, LoggedPassage, as_shown, pid_of, qid_of
from ragablate.logs.nesting import at, parsed
from ragablate.records import ContextPassage, GateDecision, Turn

Rows = Iterable[tuple[str, Mapping[str, Any]]]

FIELDS: Mapping[str, tuple[str, ...]] = {
    "qid": ("qid", "query_id", "question_id", "id"),
    "question": ("question", "query", "user_input"),
    "answer": ("answer", "response"),
    "retrieved": ("retrieved", "retrieved_context", "retrieved_contexts", "contexts"),
    "retrieved_ids": ("retrieved_context_ids", "retrieved_ids"),
    "searches": ("searches", "search_queries", "rewritten_query"),
    "candidates": ("candidates", "all_candidates"),
    "filter": ("filter", "filters"),
    "gate": ("gate",),
    "context": ("context", "prompt_passages", "prompt_contexts"),
    "prompt_pids": ("prompt_pids",),
    "references": ("references", "reference", "answers", "gt_answer", "ground_truth",
                   "ground_truths"),
    "gold_ids": ("gold_pids", "gold_ids", "reference_context_ids"),
    "gold_texts": ("reference_contexts",),
    "answerable": ("answerable",),
    "abstained": ("abstained",),
    "model": ("model", "model_name"),
    "prompt_version": ("prompt_version",),
    "frame_digest": ("frame_digest",),
    "context_digest": ("context_digest",),
    "decoding": ("decoding",),
    "replicate": ("replicate",),
    "slices": ("slices",),
    "history": ("history",),
    "error": ("error",),
    "verdicts": ("verdicts", "metrics"),
}  # fmt: skip
"""Every field an entry has, and the names it goes by unless a map says otherwise."""

PASSAGE: Mapping[str, tuple[str, ...]] = {
    "pid": ("pid", "id", "doc_id", "passage_id", "chunk_id"),
    "text": ("text", "content", "page_content", "body"),
    "title": ("title",),
    "score": ("score",),
    "document": ("document", "document_id"),
    "meta": ("meta", "metadata"),
}


class Mapper:
    """Reads rows by a map of fields.

    Args:
        fields: By our name, the dotted path of the row's field; what is not named goes by
            ``FIELDS``. ``verdict`` may name a field with one score, or a human's yes or no.
        shown_is_retrieved: Whether the log's one list of passages is what the reader saw, as
            in evaluation rows, where no assembler stands in between.
    """

    def __init__(self, fields: Mapping[str, str | None], shown_is_retrieved: bool) -> None:
        self._fields = {name: value for name, value in fields.items() if value}
        self._shown_is_retrieved = shown_is_retrieved

    def entries(self, rows: Rows) -> Iterator[Entry]:
        """One entry a row."""
        for place, row in rows:
            yield self._entry(place, row)

    def _get(self, row: Mapping[str, Any], name: str) -> Any:
        own = self._fields.get(name)
        if own is not None:
            return row[own] if own in row else at(row, own)
        return next((row[n] for n in FIELDS.get(name, ()) if row.get(n) is not None), None)

    def _entry(self, place: str, row: Mapping[str, Any]) -> Entry:
        question = str(self._get(row, "question") or "")
        retrieved = self._retrieved(row)
        shown, context = self._context(row, retrieved)
        qid = self._get(row, "qid")
        gold = [_group(g) for g in _listed(self._get(row, "gold_ids"))]
        if row.get("gold_parts") and "gold_ids" not in self._fields:
            gold = [_group(g) for g in row["gold_parts"]]
        decoding = parsed(self._get(row, "decoding"))
        return Entry(
            place=place,
            qid=str(qid) if qid not in (None, "") else qid_of(question),
            question=question,
            replicate=int(self._get(row, "replicate") or 1),
            answer=_text(self._get(row, "answer")),
            retrieved=retrieved,
            searches=self._searches(row),
            candidates=self._candidates(row),
            filter=_object(self._get(row, "filter")),
            gate=_gate(self._get(row, "gate")),
            shown=shown,
            context=context,
            context_digest=str(self._get(row, "context_digest") or ""),
            frame_digest=str(self._get(row, "frame_digest") or ""),
            reader=str(self._get(row, "prompt_version") or ""),
            model=str(self._get(row, "model") or ""),
            decoding=_without_seed(decoding),
            abstained=_truth(self._get(row, "abstained")),
            error=str(self._get(row, "error") or ""),
            references=tuple(str(r) for r in _listed(self._get(row, "references"))),
            gold=tuple(g for g in gold if g),
            gold_texts=tuple(str(t) for t in _listed(self._get(row, "gold_texts"))),
            answerable=_truth(self._get(row, "answerable")) is not False,
            verdicts=self._verdicts(row),
            slices={str(k): str(v) for k, v in (self._get(row, "slices") or {}).items()},
            history=tuple(_turn(t) for t in self._get(row, "history") or ()),
            meta=self._rest(row),
        )

    def _retrieved(self, row: Mapping[str, Any]) -> tuple[LoggedPassage, ...] | None:
        given = self._get(row, "retrieved")
        ids = _listed(self._get(row, "retrieved_ids"))
        if given is None:
            return tuple(LoggedPassage(str(i)) for i in ids) if ids else None
        found = [passage(member) for member in _listed(given)]
        if len(ids) == len(found):
            found = [replace(p, pid=str(i)) for i, p in zip(ids, found, strict=True)]
        return tuple(found)

    def _searches(self, row: Mapping[str, Any]) -> tuple[str, ...] | None:
        given = self._get(row, "searches")
        return None if given is None else tuple(str(s) for s in _listed(given)) or None

    def _candidates(self, row: Mapping[str, Any]) -> tuple[str, ...] | None:
        """By id: a bare word is one, a bare text is named by what it says."""
        given = self._get(row, "candidates")
        if given is None:
            return None
        return tuple(
            str(m) if isinstance(m, str | int) and len(str(m).split()) == 1 else passage(m).pid
            for m in _listed(given)
        )

    def _context(
        self, row: Mapping[str, Any], retrieved: tuple[LoggedPassage, ...] | None
    ) -> tuple[tuple[str, ...] | None, tuple[ContextPassage, ...] | None]:
        """What was shown, by id and, where the log lets it be known, verbatim."""
        pids, given = self._get(row, "prompt_pids"), self._get(row, "context")
        if given is not None:
            members = [passage(member) for member in _listed(given)]
        elif pids is not None:
            known = {p.pid: p for p in retrieved or ()}
            members = [known.get(str(pid), LoggedPassage(str(pid))) for pid in pids]
        elif self._shown_is_retrieved and retrieved is not None:
            members = list(retrieved)
        else:
            return None, None
        shown = tuple(p.pid for p in members)
        if any(p.text is None for p in members):
            return shown, None
        return shown, tuple(as_shown(p.pid, p.text or "") for p in members)

    def _verdicts(self, row: Mapping[str, Any]) -> dict[str, float]:
        given = parsed(self._get(row, "verdicts"))
        found = {} if not isinstance(given, Mapping) else dict(given)
        if "verdict" in self._fields:
            found["correct"] = self._get(row, "verdict")
        scores = {str(name): _score(value) for name, value in found.items()}
        return {name: value for name, value in scores.items() if value is not None}

    def _rest(self, row: Mapping[str, Any]) -> dict[str, Any]:
        used = {n.split(".")[0] for n in self._fields.values()} | {"gold_parts"}
        for name, names in FIELDS.items():
            if name not in self._fields:
                used |= {next((n for n in names if row.get(n) is not None), "")}
        return {str(name): value for name, value in row.items() if name not in used}


def passage(member: Any) -> LoggedPassage:
    """A passage from an object, or from its bare text."""
    if not isinstance(member, Mapping):
        return LoggedPassage(pid_of(str(member)), str(member))
    inside = member.get("document")
    fields = inside if isinstance(inside, Mapping) else member
    by = {k: next((fields[n] for n in v if fields.get(n) is not None), None)
          for k, v in PASSAGE.items()}  # fmt: skip
    text = _text(by["text"])
    pid = by["pid"]
    score = by["score"]
    return LoggedPassage(
        str(pid) if pid not in (None, "") else pid_of(text or ""),
        text,
        str(by["title"] or ""),
        float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
        str(by["document"]) if isinstance(by["document"], str | int) else "",
        _object(by["meta"]),
    )


def _object(value: Any) -> dict[str, Any]:
    value = parsed(value)
    return {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else {}


def _gate(value: Any) -> GateDecision | None:
    """A gate's decision; what is no decision of ours says nothing."""
    given = {"outcome": value} if isinstance(value, str) else _object(value)
    try:
        return msgspec.convert(given, GateDecision)
    except msgspec.ValidationError:
        return None


def _listed(value: Any) -> list[Any]:
    value = parsed(value)
    if value is None or value == "":
        return []
    if isinstance(value, list | tuple):
        return [v for v in value if v is not None]
    return [value]


def _group(member: Any) -> tuple[str, ...]:
    return tuple(str(m) for m in member) if isinstance(member, list | tuple) else (str(member),)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _truth(value: Any) -> bool | None:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return None if value is None else words.get(str(value).strip().lower())


def _score(value: Any) -> float | None:
    """A score, or a human's yes or no as 1 or 0."""
    said = {"pass": 1.0, "correct": 1.0, "right": 1.0, "fail": 0.0, "incorrect": 0.0, "wrong": 0.0}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if value == value else None
    if isinstance(value, str) and value.strip().lower() in said:
        return said[value.strip().lower()]
    truth = _truth(value)
    return None if truth is None else float(truth)


def _without_seed(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    rest = {str(k): v for k, v in value.items() if k != "seed"}
    return rest or None


def _turn(value: Any) -> Turn:
    if isinstance(value, Mapping):
        speaker = value.get("speaker") or value.get("role") or "user"
        return Turn(str(speaker), str(value.get("text") or value.get("content") or ""))
    return Turn("user", str(value))

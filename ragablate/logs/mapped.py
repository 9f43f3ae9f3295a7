"""Rows with one answer each: plain JSON lines, RAGAS rows, RAGChecker results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragablate.logs.entry import Entry, LoggedPassage, as_shown, pid_of, qid_of
from ragablate.logs.nesting import at, parsed
from ragablate.logs.values import (
    as_object,
    as_score,
    as_text,
    claims_of,
    gate_of,
    group,
    listed,
    truth,
    turn_of,
    without_seed,
)
from ragablate.records import ContextPassage

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
    "claims": ("claims",),
    "timestamp": ("timestamp", "created_at"),
}  # fmt: skip
"""Every field an entry has, and the names it goes by unless a map says otherwise."""

_OURS: Mapping[str, tuple[str, int]] = {
    theirs: (ours, place)
    for ours, names in reversed(tuple(FIELDS.items()))
    for place, theirs in enumerate(names)
}
"""By a row's field, which of ours it is, and how many other names go before it."""

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
        texts: Whether texts of passages and fields that are not understood are kept. Without,
            an entry has ids alone, and takes a fraction of the time and of the memory.
    """

    def __init__(
        self, fields: Mapping[str, str | None], shown_is_retrieved: bool, texts: bool = True
    ) -> None:
        self._fields = {name: value for name, value in fields.items() if value}
        self._shown_is_retrieved = shown_is_retrieved
        self._texts = texts
        self._passage = passage if texts else _only_id

    def entries(self, rows: Rows) -> Iterator[Entry]:
        """One entry a row."""
        for place, row in rows:
            yield self.entry(place, row)

    def _found(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What the row holds of an entry, by our name."""
        found: dict[str, Any] = {}
        best: dict[str, int] = {}
        for theirs, value in row.items():
            ours = _OURS.get(theirs)
            if ours is None or value is None or ours[0] in self._fields:
                continue
            name, place = ours
            if name not in found or place < best[name]:
                found[name], best[name] = value, place
        for name, own in self._fields.items():
            found[name] = row[own] if own in row else at(row, own)
        return found

    def qid(self, row: Mapping[str, Any]) -> str:
        """Which question a row answers."""
        return _qid(self._found(row))

    def entry(self, place: str, row: Mapping[str, Any]) -> Entry:
        """The entry of one row."""
        found = self._found(row)
        get = found.get
        question = str(get("question") or "")
        retrieved = self._retrieved(found)
        shown, context = self._context(found, retrieved)
        return Entry(
            place=place,
            qid=_qid(found),
            question=question,
            replicate=int(get("replicate") or 1),
            answer=as_text(get("answer")),
            retrieved=retrieved,
            searches=self._searches(found),
            candidates=self._candidates(found),
            filter=as_object(get("filter")),
            gate=gate_of(get("gate")),
            shown=shown,
            context=context,
            context_digest=str(get("context_digest") or ""),
            frame_digest=str(get("frame_digest") or ""),
            reader=str(get("prompt_version") or ""),
            model=str(get("model") or ""),
            decoding=without_seed(parsed(get("decoding"))),
            abstained=truth(get("abstained")),
            error=str(get("error") or ""),
            references=tuple(str(r) for r in listed(get("references"))),
            gold=self._gold(row, found),
            gold_texts=tuple(str(t) for t in listed(get("gold_texts"))),
            answerable=truth(get("answerable")) is not False,
            verdicts=self._verdicts(found),
            slices={str(k): str(v) for k, v in (get("slices") or {}).items()},
            history=tuple(turn_of(t) for t in get("history") or ()),
            claims=tuple(claims_of(get("claims"))),
            timestamp=str(get("timestamp") or ""),
            meta=self._rest(row) if self._texts else {},
        )

    def _gold(self, row: Mapping[str, Any], has: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        parts = None if "gold_ids" in self._fields else row.get("gold_parts")
        given = (group(g) for g in parts or listed(has.get("gold_ids")))
        return tuple(g for g in given if g)

    def _retrieved(self, has: Mapping[str, Any]) -> tuple[LoggedPassage, ...] | None:
        given = has.get("retrieved")
        ids = listed(has.get("retrieved_ids"))
        if given is None:
            return tuple(LoggedPassage(str(i)) for i in ids) if ids else None
        found = [self._passage(member) for member in listed(given)]
        if len(ids) == len(found):
            found = [replace(p, pid=str(i)) for i, p in zip(ids, found, strict=True)]
        return tuple(found)

    def _searches(self, has: Mapping[str, Any]) -> tuple[str, ...] | None:
        given = has.get("searches")
        return None if given is None else tuple(str(s) for s in listed(given)) or None

    def _candidates(self, has: Mapping[str, Any]) -> tuple[str, ...] | None:
        """By id: a bare word is one, a bare text is named by what it says."""
        given = has.get("candidates")
        if given is None:
            return None
        return tuple(
            str(m) if isinstance(m, str | int) and len(str(m).split()) == 1 else passage(m).pid
            for m in listed(given)
        )

    def _context(
        self, has: Mapping[str, Any], retrieved: tuple[LoggedPassage, ...] | None
    ) -> tuple[tuple[str, ...] | None, tuple[ContextPassage, ...] | None]:
        """What was shown, by id and, where the log lets it be known, verbatim."""
        pids, given = has.get("prompt_pids"), has.get("context")
        if given is not None:
            members = [self._passage(member) for member in listed(given)]
        elif pids is not None:
            known = {p.pid: p for p in retrieved or ()}
            members = [known.get(str(pid), LoggedPassage(str(pid))) for pid in pids]
        elif self._shown_is_retrieved and retrieved is not None:
            members = list(retrieved)
        else:
            return None, None
        shown = tuple(p.pid for p in members)
        if not self._texts or any(p.text is None for p in members):
            return shown, None
        return shown, tuple(as_shown(p.pid, p.text or "") for p in members)

    def _verdicts(self, has: Mapping[str, Any]) -> dict[str, float]:
        given = parsed(has.get("verdicts"))
        found = {} if not isinstance(given, Mapping) else dict(given)
        if "verdict" in has:
            found["correct"] = has.get("verdict")
        scores = {str(name): as_score(value) for name, value in found.items()}
        return {name: value for name, value in scores.items() if value is not None}

    def _rest(self, row: Mapping[str, Any]) -> dict[str, Any]:
        used = {n.split(".")[0] for n in self._fields.values()} | {"gold_parts"}
        for name, names in FIELDS.items():
            if name not in self._fields:
                used |= {next((n for n in names if row.get(n) is not None), "")}
        return {str(name): value for name, value in row.items() if name not in used}


def _qid(has: Mapping[str, Any]) -> str:
    qid = has.get("qid")
    return str(qid) if qid not in (None, "") else qid_of(str(has.get("question") or ""))


def passage(member: Any) -> LoggedPassage:
    """A passage from an object, or from its bare text."""
    if not isinstance(member, Mapping):
        return LoggedPassage(pid_of(str(member)), str(member))
    inside = member.get("document")
    fields = inside if isinstance(inside, Mapping) else member
    by = {k: next((fields[n] for n in v if fields.get(n) is not None), None)
          for k, v in PASSAGE.items()}  # fmt: skip
    text = as_text(by["text"])
    pid = by["pid"]
    score = by["score"]
    return LoggedPassage(
        str(pid) if pid not in (None, "") else pid_of(text or ""),
        text,
        str(by["title"] or ""),
        float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
        str(by["document"]) if isinstance(by["document"], str | int) else "",
        as_object(by["meta"]),
    )


def _only_id(member: Any) -> LoggedPassage:
    """A passage without its text."""
    if isinstance(member, dict) and isinstance(member.get("pid"), str):
        return LoggedPassage(member["pid"])
    found = passage(member)
    return LoggedPassage(found.pid, None, score=found.score, doc_id=found.doc_id)

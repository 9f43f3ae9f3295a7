"""What a log says of the stages before the ranking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragablate.dataset.traces import Traces
from ragablate.diagnose import bucket
from ragablate.elsewhere.buckets import line_of
from ragablate.logs import read_log

ROW = {
    "qid": "q1",
    "question": "And what about Basic?",
    "answer": "Yes.",
    "searches": ["And what about Basic?"],
    "candidates": [{"pid": "p1", "score": 2.0}, {"pid": "p2", "score": 1.0}],
    "filter": {"product": "pricing"},
    "gate": {"outcome": "refuse", "reason": "below the floor", "signals": {"top": 0.3}},
    "retrieved": [
        {"pid": "p1", "text": "Old prices.", "metadata": {"updated_at": "2024-01-01"}},
        {"pid": "p2", "text": "New prices.", "meta": '{"status": "current"}'},
    ],
    "gold_pids": ["p2"],
}


def read(tmp_path: Path, *rows: dict[str, Any], **fields: str) -> Any:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_log(str(path), "fields" if fields else "auto", fields)


def test_searches_candidates_filter_gate_and_metadata_are_read(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, ROW).entries
    assert entry.searches == ("And what about Basic?",)
    assert entry.candidates == ("p1", "p2")
    assert entry.filter == {"product": "pricing"}
    assert entry.gate is not None
    assert (entry.gate.outcome, entry.gate.signals) == ("refuse", {"top": 0.3})
    assert entry.retrieved is not None
    assert [p.meta for p in entry.retrieved] == [
        {"updated_at": "2024-01-01"},
        {"status": "current"},
    ]
    assert entry.meta == {}


def test_what_a_log_does_not_say_of_them_is_none(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, {"question": "What?", "answer": "This.", "gate": "odd"}).entries
    assert (entry.searches, entry.candidates, entry.gate, entry.filter) == (None, None, None, {})


def test_a_map_names_them_and_bare_candidates_are_ids(tmp_path: Path) -> None:
    row = {"question": "What?", "rewritten": {"q": "What is SSO?"}, "hits": ["p7", 9]}
    (entry,) = read(tmp_path, row, searches="rewritten.q", candidates="hits").entries
    assert (entry.searches, entry.candidates) == (("What is SSO?",), ("p7", "9"))


def test_a_question_the_gate_held_back_is_sorted_to_the_gate(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, ROW).entries
    assert bucket(line_of(entry, True), {"correct": 0.0}) == "gate"


def test_metadata_of_logged_passages_reach_the_corpus_of_a_replay(tmp_path: Path) -> None:
    read(tmp_path, ROW)
    found = Traces(str(tmp_path / "log.jsonl")).load()
    assert next(p.meta for p in found.passages if p.pid == "p1") == {"updated_at": "2024-01-01"}


def test_spans_say_what_the_retriever_was_asked(tmp_path: Path) -> None:
    def span(kind: str, start: int, parent: str | None, **attributes: Any) -> dict[str, Any]:
        return {
            "context": {"trace_id": "t1", "span_id": f"s{start}"},
            "parent_id": parent,
            "start_time": f"2026-03-01T10:00:0{start}Z",
            "attributes": {"openinference.span.kind": kind, **attributes},
        }

    documents = [{"document": {"id": "d1", "content": "Basic.", "metadata": '{"status": "old"}'}}]
    reranked = [{"document": {"id": "d2", "content": "Pro."}}]
    (entry,) = read(
        tmp_path,
        span("CHAIN", 0, None, **{"input.value": "And what about Basic?"}),
        span("RETRIEVER", 1, "s0", **{"input.value": "Basic plan SSO?",
                                      "retrieval.documents": documents}),
        span("RERANKER", 2, "s0", **{"reranker.output_documents": reranked}),
    ).entries  # fmt: skip
    assert entry.question == "And what about Basic?"
    assert entry.searches == ("Basic plan SSO?",)
    assert entry.candidates == ("d1",)
    assert [p.pid for p in entry.retrieved or ()] == ["d2"]

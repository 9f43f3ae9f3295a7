"""Logs of several makers, each as its maker writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragablate.dataset.traces import Traces
from ragablate.errors import DatasetError
from ragablate.logs import read_log

FEES = (
    "Transfers within the euro area are free. Transfers abroad cost 14.50 euros each, tax and all."
)
LIMIT = "The daily limit is 2,000 euros. It can be raised by phone after a check of identity."
HOURS = "Branches open at nine and close at half past four, on Fridays at one in the afternoon."
PROMPT = f"Answer from the passages.\n[1] {LIMIT}\n[2] {FEES}\nQuestion: What does a transfer cost?"


def written(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def span(kind: str, start: int, attributes: dict[str, Any], parent: str | None) -> dict[str, Any]:
    return {
        "name": kind.lower(),
        "context": {"trace_id": "t1", "span_id": f"s{start}"},
        "parent_id": parent,
        "start_time": f"2026-03-01T10:00:0{start}Z",
        "status_code": "OK",
        "attributes": {"openinference.span.kind": kind, **attributes},
    }


FLAT = [
    span("CHAIN", 0, {"input.value": "What does a transfer cost?", "output.value": "14.50"}, None),
    span(
        "RETRIEVER",
        1,
        {
            "input.value": "What does a transfer cost?",
            "retrieval.documents.0.document.id": "fees#2",
            "retrieval.documents.0.document.content": FEES,
            "retrieval.documents.0.document.score": 0.91,
            "retrieval.documents.1.document.id": "limit#1",
            "retrieval.documents.1.document.content": LIMIT,
            "retrieval.documents.1.document.score": 0.62,
            "retrieval.documents.2.document.id": "hours#1",
            "retrieval.documents.2.document.content": HOURS,
            "retrieval.documents.2.document.score": 0.13,
        },
        "s0",
    ),
    span(
        "LLM",
        2,
        {
            "llm.model_name": "gpt-4o-mini",
            "llm.invocation_parameters": '{"temperature": 0.0, "seed": 3}',
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": PROMPT,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "14.50 euros [2]",
        },
        "s0",
    ),
]


def as_nested() -> list[dict[str, Any]]:
    documents = [
        {"document": {"id": pid, "content": text, "score": score}}
        for pid, text, score in (
            ("fees#2", FEES, 0.91), ("limit#1", LIMIT, 0.62), ("hours#1", HOURS, 0.13)
        )
    ]  # fmt: skip
    chain, retriever, llm = (dict(row, attributes=dict(row["attributes"])) for row in FLAT)
    retriever["attributes"] = {
        "openinference": {"span": {"kind": "RETRIEVER"}},
        "input": {"value": "What does a transfer cost?"},
        "retrieval": {"documents": documents},
    }
    llm["attributes"] = {
        "openinference": {"span": {"kind": "LLM"}},
        "llm": {
            "model_name": "gpt-4o-mini",
            "invocation_parameters": '{"temperature": 0.0, "seed": 3}',
            "input_messages": [{"message": {"role": "user", "content": PROMPT}}],
            "output_messages": [{"message": {"role": "assistant", "content": "14.50 euros [2]"}}],
        },
    }
    return [chain, retriever, llm]


def as_frame() -> list[dict[str, Any]]:
    """Rows of the data frame Phoenix exports: one column an attribute, lists of flat objects."""
    documents = [
        {"document.id": "fees#2", "document.content": FEES, "document.score": 0.91},
        {"document.id": "limit#1", "document.content": LIMIT, "document.score": 0.62},
        {"document.id": "hours#1", "document.content": HOURS, "document.score": 0.13},
    ]
    shared = {"context.trace_id": "t1", "status_code": "OK"}
    return [
        {**shared, "span_kind": "CHAIN", "parent_id": None, "start_time": "2026-03-01 10:00:00",
         "attributes.input.value": "What does a transfer cost?",
         "attributes.output.value": "14.50"},
        {**shared, "span_kind": "RETRIEVER", "parent_id": "s0",
         "start_time": "2026-03-01 10:00:01",
         "attributes.input.value": "What does a transfer cost?",
         "attributes.retrieval.documents": documents},
        {**shared, "span_kind": "LLM", "parent_id": "s0", "start_time": "2026-03-01 10:00:02",
         "attributes.llm.model_name": "gpt-4o-mini",
         "attributes.llm.invocation_parameters": '{"temperature": 0.0, "seed": 3}',
         "attributes.llm.input_messages": [{"message.role": "user", "message.content": PROMPT}],
         "attributes.llm.output_messages": [
             {"message.role": "assistant", "message.content": "14.50 euros [2]"}]},
    ]  # fmt: skip


def as_otlp() -> list[dict[str, Any]]:
    def value(v: Any) -> dict[str, Any]:
        return {"doubleValue": v} if isinstance(v, float) else {"stringValue": v}

    spans = [
        {
            "traceId": "t1",
            "spanId": row["context"]["span_id"],
            "parentSpanId": row["parent_id"] or "",
            "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
            "status": {"code": 1},
            "attributes": [{"key": k, "value": value(v)} for k, v in row["attributes"].items()],
        }
        for number, row in enumerate(FLAT)
    ]
    return [{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}]


@pytest.mark.parametrize("rows", [FLAT, as_nested(), as_frame(), as_otlp()],
                         ids=["flat", "nested", "frame", "otlp"])  # fmt: skip
def test_spans_give_one_entry_however_they_are_written(rows: Any, tmp_path: Path) -> None:
    log = read_log(written(tmp_path / "spans.jsonl", *rows))
    (entry,) = log.entries
    assert log.format == "openinference"
    assert entry.question == "What does a transfer cost?"
    assert entry.answer == "14.50 euros [2]"
    assert [(p.pid, p.score) for p in entry.retrieved or ()] == [
        ("fees#2", 0.91), ("limit#1", 0.62), ("hours#1", 0.13)
    ]  # fmt: skip
    assert entry.shown == ("limit#1", "fees#2"), "in the prompt's order, what is not there left out"
    assert entry.model == "gpt-4o-mini"
    assert entry.decoding == {"temperature": 0.0}


def test_a_passage_cut_in_the_prompt_is_shown_as_far_as_it_stands_there(tmp_path: Path) -> None:
    rows = json.loads(json.dumps(FLAT))
    cut = PROMPT.replace(FEES, FEES[:85])
    rows[2]["attributes"]["llm.input_messages.0.message.content"] = cut
    entry = read_log(written(tmp_path / "spans.jsonl", *rows)).entries[0]
    shown = {p.pid: p for p in entry.context or ()}
    assert shown["fees#2"].body == FEES[:85].rstrip()
    assert shown["fees#2"].truncated
    assert not shown["limit#1"].truncated


def test_spans_without_a_prompt_do_not_say_what_was_shown(tmp_path: Path) -> None:
    log = read_log(written(tmp_path / "spans.jsonl", *FLAT[:2]))
    assert log.entries[0].shown is None
    assert any("cannot separate assembly from retrieval" in note for note in log.notes)


def test_spans_in_parquet_read_like_those_in_json_lines(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pandas

    pandas.DataFrame(as_frame()).to_parquet(tmp_path / "spans.parquet")
    log = read_log(str(tmp_path / "spans.parquet"))
    assert log.entries[0].shown == ("limit#1", "fees#2")


def test_ragas_rows_give_ids_to_texts_and_map_gold_by_text(tmp_path: Path) -> None:
    row = {
        "user_input": "What does a transfer cost?",
        "retrieved_contexts": [FEES, LIMIT],
        "response": "14.50 euros",
        "reference": "14.50 euros",
        "reference_contexts": ["Transfers abroad cost 14.50 euros each"],
        "faithfulness": 1.0,
    }
    path = written(tmp_path / "rows.jsonl", row)
    entry = read_log(path).entries[0]
    assert entry.meta == {"faithfulness": 1.0}, "what is not understood is kept"
    data = Traces(path).load()
    (gold,) = data.gold.values()
    (alternative,) = gold.parts[0].alternatives
    found = next(p for p in data.passages if p.pid == alternative.pid)
    assert found.text == FEES
    assert found.text[alternative.start : alternative.end] == row["reference_contexts"][0]


def test_ragchecker_results_are_one_document(tmp_path: Path) -> None:
    result = {
        "query_id": "0",
        "query": "What does a transfer cost?",
        "gt_answer": "14.50 euros",
        "response": "It is free.",
        "retrieved_context": [{"doc_id": "fees", "text": FEES}],
        "metrics": {"precision": 0.0, "recall": 0.0},
    }
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": [result]}, indent=2), encoding="utf-8")
    log = read_log(str(path))
    assert log.format == "ragchecker"
    assert log.entries[0].references == ("14.50 euros",)
    assert log.entries[0].shown == ("fees",)
    assert log.entries[0].verdicts == {"precision": 0.0, "recall": 0.0}


def test_a_map_of_fields_reads_what_nobody_foresaw(tmp_path: Path) -> None:
    row = {
        "ticket": 4711,
        "msg": {"user": "What does a transfer cost?", "bot": "Nothing."},
        "docs": [{"chunk_id": "c9", "body": FEES}, {"chunk_id": "c3", "body": LIMIT}],
        "used": ["c3"],
        "label": "fail",
        "region": "north",
    }
    fields = {
        "qid": "ticket", "question": "msg.user", "answer": "msg.bot", "retrieved": "docs",
        "prompt_pids": "used", "verdict": "label",
    }  # fmt: skip
    entry = read_log(written(tmp_path / "log.jsonl", row), "auto", fields).entries[0]
    assert (entry.qid, entry.answer, entry.shown) == ("4711", "Nothing.", ("c3",))
    assert [p.body for p in entry.context or ()] == [LIMIT]
    assert entry.verdicts == {"correct": 0.0}
    assert entry.meta == {"region": "north"}


def test_a_broken_line_is_named_and_a_repeated_question_too(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"question": "a", "answer": "b"}\n{"question": \n', encoding="utf-8")
    with pytest.raises(DatasetError, match="line 2: invalid JSON"):
        read_log(str(path))
    row = {"question": "Same?", "answer": "yes"}
    with pytest.raises(DatasetError, match=r"line 2: .* stands in .*line 1 already"):
        read_log(written(path, row, row))


def test_gold_follows_its_text_into_documents(tmp_path: Path) -> None:
    corpus = written(
        tmp_path / "documents.jsonl", {"id": "terms", "text": f"{HOURS} {FEES} {LIMIT}"}
    )
    row = {
        "qid": "q1", "question": "What does a transfer cost?", "answer": "?",
        "retrieved": [{"pid": "fees#2", "text": FEES}], "gold_pids": ["fees#2"],
    }  # fmt: skip
    data = Traces(written(tmp_path / "log.jsonl", row), corpus=corpus, unit="documents").load()
    (alternative,) = data.gold["q1"].parts[0].alternatives
    assert data.documents[0].text[alternative.start : alternative.end] == FEES
    assert alternative.doc_id == "terms"


def test_a_question_asked_in_two_traces_is_two_questions(tmp_path: Path) -> None:
    later = json.loads(json.dumps(FLAT).replace('"t1"', '"t2"'))
    first, second = read_log(written(tmp_path / "spans.jsonl", *FLAT, *later)).entries
    assert second.qid == f"{first.qid}-2"

"""Logs that are gone through answer by answer."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from ragablate.errors import DatasetError
from ragablate.logs import LogStream, read_log


def line(number: int, **more: object) -> dict[str, object]:
    return {
        "qid": f"q{number}",
        "question": "How long is parental leave?",
        "retrieved": [{"pid": f"handbook:{number}", "text": "x" * 1500, "score": 1.0}],
        "prompt_pids": [f"handbook:{number}"],
        "answer": "14 weeks [1].",
        "model": "m",
        "prompt_version": "7",
        "timestamp": "2026-01-01T00:00:00Z",
        "gold_pids": ["handbook:1"],
        **more,
    }


def lines(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_a_stream_says_of_answers_what_the_whole_log_says(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", line(1), line(2, verdicts={"correct": 0}, qid="other"))
    whole, one_by_one = read_log(path).entries, tuple(LogStream(path))
    for name in ("qid", "answer", "shown", "gold", "verdicts", "place", "timestamp"):
        assert [getattr(e, name) for e in one_by_one] == [getattr(e, name) for e in whole]
    assert [p.pid for p in one_by_one[0].retrieved or ()] == ["handbook:1"]
    assert [p.text for p in one_by_one[0].retrieved or ()] == [None], "texts come and go"


def test_a_stream_holds_one_line_at_a_time(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", *(line(n) for n in range(4000)))
    tracemalloc.start()
    try:
        counted = sum(1 for _ in LogStream(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counted == 4000
    assert peak < Path(path).stat().st_size / 2


def test_a_stream_tells_how_many_bytes_it_has_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", *(line(n) for n in range(2500)))
    told: list[int] = []
    list(LogStream(path, watch=told.append))
    assert len(told) == 3
    assert sum(told) == Path(path).stat().st_size


def test_a_stream_refuses_broken_lines_by_number_and_leaves_them_out_on_request(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.jsonl"
    whole = json.dumps(line(1))
    path.write_text(f"{whole}\n\n{{broken\n[1, 2]\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"line 3: invalid JSON(?s:.*)line 4: no JSON object"):
        list(LogStream(str(path)))
    stream = LogStream(str(path), keep_going=True)
    assert [entry.qid for entry in stream] == ["q1"]
    assert any("2 broken lines were left out" in note and "line 3" in note for note in stream.notes)
    path.write_text("{broken\n[1, 2]\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="line 1: invalid JSON"):
        list(LogStream(str(path), keep_going=True))


def test_a_stream_refuses_an_answer_that_stands_there_twice(tmp_path: Path) -> None:
    path = lines(tmp_path / "log.jsonl", line(1), line(1))
    with pytest.raises(DatasetError, match=r"line 2: question 'q1' stands in .*line 1 already"):
        list(LogStream(path))
    path = lines(tmp_path / "log.jsonl", line(1), line(2, question=" "))
    with pytest.raises(DatasetError, match="line 2: no question"):
        list(LogStream(path))


def test_a_stream_names_the_fields_a_log_should_have(tmp_path: Path) -> None:
    bare = {"question": "How long is parental leave?", "answer": "14 weeks."}
    stream = LogStream(lines(tmp_path / "log.jsonl", bare, line(2)))
    list(stream)
    said = "\n".join(stream.notes)
    for name in ("prompt_pids", "retrieved", "model", "prompt_version", "gold", "timestamp"):
        assert f"1 of 2 entries lack {name}" in said
    assert "cannot separate assembly from retrieval" in said


def test_a_stream_reads_what_is_one_document_and_what_spreads_over_rows(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps([line(1), line(2)], indent=2), encoding="utf-8")
    assert [entry.qid for entry in LogStream(str(path))] == ["q1", "q2"]
    span = {
        "context": {"trace_id": "t1"}, "parent_id": None, "status_code": "OK",
        "attributes": {"openinference.span.kind": "LLM", "input.value": "Why?",
                       "output.value": "So."},
    }  # fmt: skip
    stream = LogStream(lines(tmp_path / "spans.jsonl", span))
    assert [entry.answer for entry in stream] == ["So."]
    assert stream.format == "openinference"


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_a_stream_of_nothing_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match="holds nothing"):
        list(LogStream(str(path)))


def test_a_field_of_our_name_beats_one_that_goes_by_it_too(tmp_path: Path) -> None:
    row = line(1, query="Another?", response="Another.")
    (entry,) = LogStream(lines(tmp_path / "log.jsonl", row))
    assert (entry.question, entry.answer) == ("How long is parental leave?", "14 weeks [1].")

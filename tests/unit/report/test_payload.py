"""What single questions are shown from."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragablate.bundle.read import Bundle
from ragablate.records import Claim, Comparison, Verdict
from ragablate.report.payload import PER_PART, Payload, payload
from ragablate.report.payload_questions import Texts

Study = tuple[Bundle, Comparison]


def unpacked(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def _joined(pieces: list[Any], texts: list[str]) -> str:
    return "".join(texts[piece] if isinstance(piece, int) else piece for piece in pieces)


def _opened(found: Payload) -> tuple[Any, list[Any], list[str]]:
    """The index, all questions and all shared texts."""
    parts = [unpacked(part) for part in found.parts]
    rows = [row for part in parts for row in part["questions"]]
    return unpacked(found.index), rows, [text for part in parts for text in part["texts"]]


@pytest.fixture
def filled(study: Study, add_questions: Callable[..., Study], tmp_path: Path) -> Bundle:
    return add_questions(study, "Ada Lind built it in 1931.", tmp_path)[0]


@settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text())
def test_every_text_comes_back_as_it_was(
    text: str, study: Study, add_questions: Callable[..., Study], tmp_path: Path
) -> None:
    bundle = add_questions(study, text, tmp_path)[0]
    index, rows, texts = _opened(payload(bundle, bundle.study()))
    assert [text, text] == index["text"]
    row = rows[0]
    decode = row["arms"][0][0]
    assert f"head\n{text}" == _joined(row["contexts"][decode["context"]][0][1], texts)
    prompt = row["prompts"][decode["prompt"]]
    assert [f"frame {text}", f"[1] {text}\n"] == [_joined(s[2], texts) for s in prompt]
    said = row["answers"][decode["answer"]]
    written = [p if isinstance(p, str) else p[0] for pieces, _ in said for p in pieces]
    assert f"{text} [1]" == "".join(written)
    assert [text] == row["references"]
    assert [1.0, text] == decode["verdicts"][0]


def test_a_gold_passage_is_followed_through_candidates_and_ranking(filled: Bundle) -> None:
    _, rows, _ = _opened(payload(filled, filled.study()))
    assert rows[0]["gold"] == ["p1", "p3"]
    # The first is candidate 1 and rank 1, the second candidate 3 and was not kept.
    assert rows[0]["arms"][0][0]["found"] == [[1, 1], [3, 0]]


def test_arms_that_show_the_same_share_one_context_prompt_and_answer(filled: Bundle) -> None:
    row = _opened(payload(filled, filled.study()))[1][0]
    assert [len(row[k]) for k in ("arms", "contexts", "prompts", "answers")] == [3, 1, 1, 1]


def test_the_index_has_what_questions_are_found_by(filled: Bundle) -> None:
    index = _opened(payload(filled, filled.study()))[0]
    assert index["arms"] == ["control", "retriever=dense", "placebo"]
    assert index["qids"] == ["q0", "q1"]
    assert index["scores"]["correct"][1] == [1.0, 1.0]
    assert list(index["slices"].values()) == [["Ada Lind built it in 1931."] * 2]
    assert index["contrasts"][0] == [
        "swap_retriever/dense",
        "retriever: bm25 → dense",
        0,
        1,
        "correct",
    ]


def test_a_question_that_was_not_asked_in_an_arm_has_no_decode_there(filled: Bundle) -> None:
    traces = {**filled.traces, "placebo": ()}
    other = replace(filled, traces=traces, verdicts={**filled.verdicts, "placebo": ()})
    index, rows, _ = _opened(payload(other, filled.study()))
    assert rows[0]["arms"][2] == []
    assert index["bucket"][2] == [-1, -1]


def test_a_bundle_without_prompts_is_shown_without_them(filled: Bundle) -> None:
    (filled.folder / "prompts.jsonl").unlink()
    row = _opened(payload(filled, filled.study()))[1][0]
    assert row["prompts"] == []
    assert "prompt" not in row["arms"][0][0]


def test_questions_come_in_parts_and_each_text_lies_in_one(filled: Bundle) -> None:
    count = 2 * PER_PART + 1
    first = filled.questions["q0"]
    questions = {f"q{i:03}": replace(first, qid=f"q{i:03}") for i in range(count)}
    traces = {
        arm: tuple(replace(lines[0], qid=qid) for qid in questions)
        for arm, lines in filled.traces.items()
    }
    other = replace(filled, questions=questions, traces=traces)
    found = payload(other, filled.study())
    index, rows, texts = _opened(found)
    assert len(found.parts) == 3
    assert count == len(rows)
    assert len(set(texts)) == len(texts)
    assert [0, len(texts), len(texts)] == index["firsts"]


def test_no_clock_reaches_the_page(filled: Bundle) -> None:
    later = {
        arm: tuple(replace(t, latency_s=99.0, timestamp="2099") for t in lines)
        for arm, lines in filled.traces.items()
    }
    study = filled.study()
    assert payload(filled, study) == payload(replace(filled, traces=later), study)


def test_shared_texts_are_numbered_as_they_are_met() -> None:
    texts = Texts()
    assert texts.around("[1] body\n", "body") == ["[1] ", 0, "\n"]
    assert texts.around("body", "body") == [0]
    assert texts.around("short", "") == ["short"]
    assert texts.around("x" * 100, "not in it") == [1]
    assert texts.around("", "") == []
    assert texts.taken() == ["body", "x" * 100]
    assert texts.taken() == []
    assert texts.total == 2


def test_claims_come_with_the_passage_that_decides_and_what_led_astray(filled: Bundle) -> None:
    spoken = "Ada Lind built it in 1931."
    against = Claim(spoken, "contradicted", "p1", "in 1930")
    verdicts = (
        Verdict("q0", 1, "faithfulness", 0.0, "", (against,)),
        Verdict("q0", 1, "wrong_passage", 1.0, "", (Claim(spoken, "supported", "p1"),) * 2),
        Verdict("q0", 1, "abstention_fits", 1.0, "answerable: rightly attempted"),
        Verdict("q1", 1, "abstention_fits", None, "eval gap"),
    )
    other = replace(filled, verdicts={**filled.verdicts, "control": verdicts})
    rows = _opened(payload(other, filled.study()))[1]
    decode = rows[0]["arms"][0][0]
    [[_, claims]] = rows[0]["answers"][decode["answer"]]
    assert [["contradicted", "p1", spoken, "in 1930"]] == claims
    assert (decode["astray"], decode["fits"]) == (["p1"], "answerable: rightly attempted")
    unmeasured = rows[1]["arms"][0][0]
    assert (unmeasured["astray"], unmeasured["fits"]) == ([], "")

"""Abstentions by answerability and evidence: a refusal without evidence is a success."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragablate.judge.abstention_by_evidence import CELLS, FITS, AbstentionByEvidence
from ragablate.records import Alternative, Answer, Failure, GateDecision, Gold, Part

HERE, ELSEWHERE = [("a", "the gold text"), ("b", "x")], [("b", "x")]
DECLINED, ANSWERED = "I don't know.", "Paris."


@pytest.mark.parametrize(
    ("answerable", "passages", "answer", "cell", "fits", "said"),
    [
        (True, HERE, ANSWERED, CELLS[0], 1.0, "rightly attempted"),
        (True, HERE, DECLINED, CELLS[0], 0.0, "refused though the evidence was there"),
        (True, ELSEWHERE, ANSWERED, CELLS[1], 0.0, "answered though the evidence was not there"),
        (True, ELSEWHERE, DECLINED, CELLS[1], 1.0, "rightly refused"),
        (False, HERE, ANSWERED, CELLS[2], 0.0, "answered though the evidence was not there"),
        (False, HERE, DECLINED, CELLS[2], 1.0, "rightly refused"),
        (False, ELSEWHERE, ANSWERED, CELLS[3], 0.0, "answered though the evidence was not there"),
        (False, ELSEWHERE, DECLINED, CELLS[3], 1.0, "rightly refused"),
        # Neither an attempt nor an abstention.
        (True, HERE, " ", CELLS[0], 0.0, "empty answer"),
        (True, ELSEWHERE, "", CELLS[1], 0.0, "empty answer"),
        (False, ELSEWHERE, "", CELLS[3], 0.0, "empty answer"),
    ],
)
def test_each_question_lies_in_one_cell(
    request_of: Any, verdict: Any, phrases: Any,
    answerable: bool, passages: Any, answer: str, cell: str, fits: float, said: str,
) -> None:  # fmt: skip
    request = request_of(answer, passages=passages, gold=[["a"]], gold_text="gold text")
    if not answerable:
        named = Gold("q1", parts=(Part((Alternative(pid="a"),)),), answerable=False)
        empty = replace(request.resolved, parts=(), answerable=False)
        request = replace(request, gold=named, resolved=empty)
    got = verdict(AbstentionByEvidence(phrases), request)
    assert got[FITS][0] == fits
    assert got[FITS][1].endswith(f": {said}")
    assert got[cell][0] == float(answer == DECLINED)
    assert [name for name in CELLS if got[name][0] is not None] == [cell]


def test_evidence_in_part_is_no_evidence(request_of: Any, verdict: Any, phrases: Any) -> None:
    request = request_of(DECLINED, passages=HERE, gold=[["a"], ["z"]], gold_text="gold text")
    got = verdict(AbstentionByEvidence(phrases), request)
    assert (got[FITS][0], got["abstained_without_evidence"][0]) == (1.0, 1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"answer": None, "gate": GateDecision("refuse")},
        {"answer": None, "failure": Failure("infrastructure", "x")},
        {"answer": None, "failure": Failure("pipeline", "x")},
        {"answer": None},
        {"gold": []},
    ],
)
def test_where_the_reader_said_nothing_nothing_is_said_of_it(
    request_of: Any, verdict: Any, change: dict[str, Any]
) -> None:
    request = request_of(**{"answer": Answer("x", abstained=True), "gold": [["a"]], **change})
    got = verdict(AbstentionByEvidence(), request)
    assert all(value is None and reason for value, reason in got.values())

from __future__ import annotations

from dataclasses import replace

import pytest

from ragablate.diagnose import BUCKETS, bucket
from ragablate.records import Failure, GateDecision
from ragablate.traces import Retrieved, TraceLine

CLEAN = TraceLine(
    arm="control",
    qid="q1",
    replicate=1,
    question="How long is parental leave?",
    retrieved=(Retrieved("handbook:2", 2.0, 1), Retrieved("handbook:9", 1.0, 2)),
    prompt_pids=("handbook:2", "handbook:9"),
    answer="Parental leave lasts 14 weeks. [1]",
    abstained=False,
    gold_pids=("handbook:2",),
    gold_parts=(("handbook:2",),),
)
WRONG = {"correct": 0.0}
SUPPORTED = {**WRONG, "citation_valid": 1.0, "numbers_supported": 1.0, "faithfulness": 1.0}


@pytest.mark.parametrize(
    ("changes", "verdicts", "expected"),
    [
        ({}, {"correct": 1.0}, "ok"),
        ({"error": Failure("pipeline", "crashed"), "answer": None}, {"correct": 0.0},
         "pipeline error"),
        ({"error": Failure("infrastructure", "timed out"), "answer": None}, {"correct": None},
         "pipeline error"),
        ({"gold_pids": (), "gold_parts": ()}, WRONG, "eval gap"),
        ({"answerable": False, "gold_pids": ()}, WRONG, "fabrication"),
        ({"answerable": False, "gold_pids": (), "abstained": True}, {"correct": 1.0}, "ok"),
        ({"gold_pids": ("other:1",), "gold_parts": (("other:1",),)}, SUPPORTED, "retrieval"),
        ({"gate": GateDecision("refuse"), "prompt_pids": (), "answer": None}, WRONG, "gate"),
        ({"prompt_pids": ("handbook:9",)}, SUPPORTED, "assembly"),
        ({"gold_pids": ("handbook:2", "other:1"),
          "gold_parts": (("handbook:2",), ("other:1",))}, SUPPORTED, "partial evidence"),
        ({"abstained": True}, WRONG, "generation: refusal"),
        ({}, {**SUPPORTED, "citation_valid": 0.5}, "generation: bad citation"),
        ({}, {**SUPPORTED, "numbers_supported": 0.0}, "generation: unsupported number"),
        ({}, {**SUPPORTED, "faithfulness": 0.79}, "generation: unsupported claim"),
        ({}, {**SUPPORTED, "faithfulness": 0.8}, "source-or-label"),
        ({}, WRONG, "source-or-label"),
    ],
)  # fmt: skip
def test_the_first_branch_that_applies_is_the_bucket(changes, verdicts, expected):
    found = bucket(replace(CLEAN, **changes), verdicts)

    assert found == expected
    assert found in BUCKETS


def test_four_logs_surface_in_four_places():
    logs = [
        replace(CLEAN, retrieved=(Retrieved("handbook:9", 1.0, 1),), prompt_pids=("handbook:9",)),
        replace(CLEAN, prompt_pids=("handbook:9",)),
        replace(CLEAN, answer="Not covered by the provided documents.", abstained=True),
        CLEAN,
    ]

    assert [bucket(log, {}) for log in logs] == [
        "retrieval", "assembly", "generation: refusal", "source-or-label"
    ]  # fmt: skip


def test_any_alternative_of_a_part_is_that_part():
    parts = (("handbook:2", "copy:2"), ("handbook:9",))
    log = replace(CLEAN, gold_pids=("handbook:2", "copy:2", "handbook:9"), gold_parts=parts)

    assert bucket(log, SUPPORTED) == "source-or-label"


def test_a_gate_is_not_blamed_for_evidence_it_never_saw():
    log = replace(CLEAN, gate=GateDecision("refuse"), prompt_pids=(), gold_pids=("other:1",),
                  gold_parts=(("other:1",),))  # fmt: skip

    assert bucket(log, WRONG) == "retrieval"


def test_another_measure_may_say_what_failed():
    assert bucket(CLEAN, {"correct": 1.0, "token_f1": 0.2}, measure="token_f1") != "ok"
    assert bucket(CLEAN, {"correct": 0.0, "token_f1": 0.5}, measure="token_f1") == "ok"

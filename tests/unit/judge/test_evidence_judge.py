import pytest

from ragablate.judge.evidence import Evidence
from ragablate.records import Failure, GateDecision

GOLD = "the needle"


def _values(got):
    return [value for value, _ in got.values()]


def test_every_part_must_be_there_for_the_boolean_and_the_share_counts_parts(request_of, verdict):
    request = request_of(
        gold=[["a"], ["b", "c"]],
        gold_text=GOLD,
        retrieved=["x", "a", "c"],
        passages=[("a", f"found {GOLD}"), ("x", "hay")],
    )
    assert _values(verdict(Evidence(), request)) == [1.0, 1.0, 0.0, 0.5]


def test_a_passage_cut_before_its_evidence_is_not_present(request_of, verdict):
    request = request_of(gold=[["a"]], gold_text=GOLD, retrieved=["a"], passages=[("a", "the nee")])
    assert _values(verdict(Evidence(), request)) == [1.0, 1.0, 0.0, 0.0]


def test_empty_rankings_and_contexts_hold_no_evidence(request_of, verdict):
    assert _values(verdict(Evidence(), request_of(gold=[["a"]]))) == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("change", [{"answerable": False, "gold": [["a"]]}, {"gold": []}])
def test_without_evidence_to_find_nothing_is_measured(request_of, verdict, change):
    got = verdict(Evidence(), request_of(retrieved=["a"], **change))
    assert all(value is None and reason for value, reason in got.values())


@pytest.mark.parametrize("kind", ["pipeline", "infrastructure", "judge"])
def test_it_is_measured_where_the_reader_failed(request_of, verdict, kind):
    request = request_of(
        None,
        failure=Failure(kind, "x"),
        gold=[["a"]],
        gold_text=GOLD,
        retrieved=["a"],
        passages=[("a", GOLD)],
    )
    assert _values(verdict(Evidence(), request)) == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(("kind", "expected"), [("pipeline", 0.0), ("infrastructure", None)])
def test_a_failed_retriever_decides_both_stages(request_of, verdict, kind, expected):
    request = request_of(None, failure=Failure(kind, "x"), prompted=False, gold=[["a"]])
    assert _values(verdict(Evidence(), request)) == [expected] * 4


def test_a_failed_assembler_leaves_the_ranking_measured(request_of, verdict):
    request = request_of(
        None,
        failure=Failure("infrastructure", "x"),
        prompted=False,
        gold=[["a"]],
        retrieved=["a"],
    )
    assert _values(verdict(Evidence(), request)) == [1.0, 1.0, None, None]


def test_a_gate_that_declined_left_the_context_empty(request_of, verdict):
    request = request_of(
        None, gate=GateDecision("refuse"), prompted=False, gold=[["a"]], retrieved=["a"]
    )
    got = verdict(Evidence(), request)
    assert _values(got) == [1.0, 1.0, 0.0, 0.0]
    assert "gate declined" in got["evidence_in_context"][1]

from dataclasses import replace

import pytest

from ragablate.judge.citation import Citation
from ragablate.records import Answer, Failure, GateDecision, ResolvedGold

PASSAGES = [("a", "the gold sentence"), ("b", "hay"), ("g", "cut be")]


def _values(got):
    return [value for value, _ in got.values()]


@pytest.mark.parametrize(
    ("answer", "valid", "gold", "number"),
    [
        ("It is so [1].", 1.0, 1.0, None),
        ("It is so [2][9].", 0.5, 0.0, None),
        ("It is so [b], [a].", 1.0, 1.0, None),
        ("It is so [z].", None, None, None),
        ("It is so.", None, None, None),
        ("It cost 5 euros [2]. It was red.", 1.0, 0.0, 1.0),
        ("It cost 5 euros. [1] It weighs 7 kg.", 1.0, 1.0, 0.0),
        ("It cost 5 euros.", None, None, 0.0),
        ("1. It is red [1]\n2. It is so", 1.0, 1.0, None),
        ("它花了5欧元[1]。", 1.0, 1.0, 1.0),
        ("كلفت ٥ يورو [1].", 1.0, 1.0, 1.0),
    ],
)
def test_markers_are_followed_into_the_context(request_of, verdict, answer, valid, gold, number):
    request = request_of(answer, passages=PASSAGES, gold=[["a"]], gold_text="gold sentence")
    assert _values(verdict(Citation(), request)) == [valid, gold, number]


def test_a_citation_of_a_passage_that_was_evicted_is_not_valid(request_of, verdict):
    request = request_of("It is so [a].", passages=[("b", "")], retrieved=["a", "b"], gold=[["a"]])
    got = verdict(Citation(), request)
    assert got["citation_valid"] == (0.0, "point nowhere: a")
    assert got["cites_gold"][0] == 0.0


def test_a_gold_passage_cut_before_its_evidence_is_no_gold(request_of, verdict):
    request = request_of("So [g].", passages=PASSAGES, gold=[["g"]], gold_text="cut before this")
    assert verdict(Citation(), request)["cites_gold"][0] == 0.0


@pytest.mark.parametrize("change", [{"answerable": False}, {"gold": []}])
def test_without_gold_there_is_none_to_cite(request_of, verdict, change):
    request = request_of("So [1].", **{"passages": PASSAGES, "gold": [["a"]], **change})
    got = verdict(Citation(), request)
    assert got["citation_valid"][0] == 1.0
    assert got["cites_gold"][0] is None


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "I don't know 5 [1]."},
        {"answer": ""},
        {"answer": Answer("5 [1]", abstained=True)},
        {"answer": None, "failure": Failure("pipeline", "x")},
        {"answer": None, "failure": Failure("infrastructure", "x")},
        {"answer": None, "gate": GateDecision("clarify")},
        {"answer": None},
    ],
)
def test_what_says_nothing_cites_nothing(request_of, verdict, phrases, change):
    request = request_of(passages=PASSAGES, gold=[["a"]], **change)
    got = verdict(Citation(phrases), request)
    assert all(value is None and reason for value, reason in got.values())


def test_an_empty_resolution_is_an_eval_gap(request_of, verdict):
    request = replace(request_of("So [1].", passages=PASSAGES), resolved=ResolvedGold("q1"))
    assert "eval gap" in verdict(Citation(), request)["cites_gold"][1]

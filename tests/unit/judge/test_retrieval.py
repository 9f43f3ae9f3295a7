import math
from dataclasses import replace

import pytest

from ragablate.judge.retrieval import Retrieval
from ragablate.records import Alternative, Failure, Gold, Hit, Part


def _values(got):
    return {name: value for name, (value, _) in got.items()}


def test_the_order_given_is_the_order_measured(request_of, verdict):
    request = request_of(gold=[["b"], ["z"]], retrieved=["c", "b", "a"])
    assert _values(verdict(Retrieval(), request)) == pytest.approx(
        {
            "recall@10": 0.5,
            "mrr@10": 0.5,
            "ndcg@10": (1 / math.log2(3)) / (1 + 1 / math.log2(3)),
        },
        abs=1e-12,
    )


def test_ties_and_scores_out_of_order_do_not_reorder(request_of, value):
    request = request_of(gold=[["b"]], retrieved=["a", "b"])
    hits = (Hit("a", -3.0), Hit("b", 7.0))
    upside_down = replace(request, trace=replace(request.trace, retrieved=hits))
    judge = Retrieval(recall=[], ndcg=[])
    assert value(judge, request) == value(judge, upside_down) == 0.5


def test_depths_cut_the_ranking(request_of, verdict):
    ranking = [f"p{i}" for i in range(12)]
    request = request_of(gold=[["p1"], ["p11"]], retrieved=ranking)
    got = verdict(Retrieval(recall=[1, 2, 20], mrr=[1, 2], ndcg=[1]), request)
    assert _values(got) == {
        "recall@1": 0.0,
        "recall@2": 0.5,
        "recall@20": 1.0,
        "mrr@1": 0.0,
        "mrr@2": 0.5,
        "ndcg@1": 0.0,
    }


def test_alternatives_are_all_relevant_and_counted_once(request_of, value):
    request = request_of(gold=[["a", "b"], ["a"]], retrieved=["a"])
    assert value(Retrieval(), request, "recall@10") == 0.5


def test_candidates_can_be_measured_instead(request_of, value):
    request = request_of(gold=[["a"]], retrieved=[], candidates=["b", "a"])
    assert value(Retrieval(), request, "mrr@10") == 0.0
    assert value(Retrieval(ranking="candidates"), request, "mrr@10") == 0.5


def test_an_empty_ranking_is_zero_and_no_gold_unmeasured(request_of, verdict):
    empty = verdict(Retrieval(), request_of(gold=[["a"]]))
    assert set(_values(empty).values()) == {0.0}
    none = verdict(Retrieval(), request_of(retrieved=["a"]))
    assert set(none.values()) == {(None, "no gold to look for")}


def test_unanswerable_questions_with_gold_are_measured(request_of, value):
    request = request_of(answerable=False, retrieved=["x", "a"])
    parts = (Part((Alternative(pid="a"),)),)
    request = replace(request, gold=Gold("q1", parts, (), answerable=False))
    assert value(Retrieval(), request, "mrr@10") == 0.5


@pytest.mark.parametrize(("kind", "expected"), [("pipeline", 0.0), ("infrastructure", None)])
def test_only_a_failed_ranking_is_not_measured(request_of, value, kind, expected):
    failure = Failure(kind, "x")
    failed = request_of(None, gold=[["a"]], failure=failure, prompted=False)
    assert value(Retrieval(), failed) == expected
    late = request_of(None, gold=[["a"]], failure=failure, prompted=False, retrieved=["a"])
    assert value(Retrieval(), late) == 1.0
    nothing_found = request_of(None, gold=[["a"]], failure=failure)
    assert value(Retrieval(), nothing_found) == 0.0


def test_one_pass_keeps_questions_of_equal_id_apart(request_of):
    one = request_of(gold=[["a"]], retrieved=["a"], rid="1")
    two = request_of(gold=[["a"]], retrieved=["b", "a"], rid="2")
    none = request_of(retrieved=["a"], rid="3")
    items = list(Retrieval(recall=[], ndcg=[]).judge([one, none, two]))
    assert [(i.id, i.value[0].value) for i in items] == [("1", 1.0), ("3", None), ("2", 0.5)]


def test_ids_of_any_kind_are_fine(request_of, value):
    pids = ["", " ", "a\tb", "\ud800", "0", "日本"]
    assert value(Retrieval(), request_of(gold=[["\ud800"]], retrieved=pids), "mrr@10") == 0.25


def test_a_pid_listed_twice_counts_at_its_first_rank(request_of, value):
    request = request_of(gold=[["b"]], retrieved=["a", "a", "b"])
    assert value(Retrieval(), request, "mrr@10") == 0.5


def test_nothing_to_judge_is_fine():
    assert list(Retrieval().judge([])) == []
    assert Retrieval(recall=[], mrr=[], ndcg=[]).measures() == ()


def test_bad_knobs_are_problems():
    judge = Retrieval(recall=[0], mrr=[5, 5], ndcg=[True], ranking="hits")
    assert len(judge.problems()) == 4
    assert Retrieval().problems() == []

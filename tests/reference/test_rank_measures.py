"""Rank measures against hand values and the textbook formulas."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.judge.retrieval import Retrieval
from ragablate.protocols import JudgeRequest
from ragablate.records import (
    Context,
    ContextPassage,
    Gold,
    GoldPassage,
    Hit,
    ResolvedAlternative,
    ResolvedGold,
    Trace,
)


def _request(ranking, relevant, rid="r"):
    parts = tuple(
        (ResolvedAlternative((GoldPassage(ContextPassage(pid, "", "")),)),) for pid in relevant
    )
    trace = Trace(
        "", "q", 1, "q", (), (), (), tuple(Hit(pid, 0.0) for pid in ranking), None, Context(),
        "c", "f", "p", None, None,
    )  # fmt: skip
    return JudgeRequest(rid, trace, Gold("q"), ResolvedGold("q", parts))


def _values(requests, **depths):
    judge = Retrieval(**depths)
    return [{v.measure: v.value for v in item.value} for item in judge.judge(requests)]


def _recall(ranking, relevant, k):
    return len(set(ranking[:k]) & set(relevant)) / len(relevant)


def _mrr(ranking, relevant, k):
    return next((1 / i for i, pid in enumerate(ranking[:k], 1) if pid in relevant), 0.0)


def _ndcg(ranking, relevant, k):
    gain = sum(1 / math.log2(i + 1) for i, pid in enumerate(ranking[:k], 1) if pid in relevant)
    ideal = sum(1 / math.log2(i + 1) for i in range(1, min(k, len(relevant)) + 1))
    return gain / ideal


@pytest.mark.parametrize(
    ("ranking", "relevant", "recall", "mrr", "ndcg"),
    [
        ("abc", "a", 1.0, 1.0, 1.0),
        ("abc", "b", 1.0, 1 / 2, 0.6309297535714575),
        ("abc", "c", 1.0, 1 / 3, 0.5),
        ("abc", "ac", 1.0, 1.0, 0.9197207891481876),
        ("abc", "xyz", 0.0, 0.0, 0.0),
        ("abc", "bx", 0.5, 1 / 2, 0.38685280723454163),
        ("", "a", 0.0, 0.0, 0.0),
    ],
)
def test_hand_values(ranking, relevant, recall, mrr, ndcg):
    [got] = _values([_request(ranking, relevant)])
    assert got == pytest.approx({"recall@10": recall, "mrr@10": mrr, "ndcg@10": ndcg}, abs=1e-12)


PIDS = [f"p{i}" for i in range(15)]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(PIDS), unique=True, max_size=15),
            st.lists(st.sampled_from(PIDS), unique=True, min_size=1, max_size=12),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 20),
)
def test_formulas(cases, k):
    requests = [_request(ranking, relevant, f"r{i}") for i, (ranking, relevant) in enumerate(cases)]
    got = _values(requests, recall=[k], mrr=[k], ndcg=[k])
    expected = [
        {
            f"recall@{k}": _recall(ranking, relevant, k),
            f"mrr@{k}": _mrr(ranking, relevant, k),
            f"ndcg@{k}": _ndcg(ranking, relevant, k),
        }
        for ranking, relevant in cases
    ]
    for mine, theirs in zip(got, expected, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-12)

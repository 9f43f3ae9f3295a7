import math
import sys
import types

import pytest

from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Hit, Passage, Question
from ragablate.rerank.function import FunctionReranker
from ragablate.rerank.none import NoReranker

CORPUS = Corpus(tuple(Passage(pid, f"text {pid}") for pid in "abcd"), "")
RANKING = (Hit("a", 4.0), Hit("b", 3.0), Hit("c", 2.0), Hit("d", 1.0))


def request(candidates=RANKING, text="question", id="x"):
    return RerankRequest(id, Question("q", text), candidates)


@pytest.fixture
def user(monkeypatch):
    module = types.ModuleType("user_rerank")
    monkeypatch.setitem(sys.modules, "user_rerank", module)
    return module


def rerank(**knobs):
    (item,) = FunctionReranker("user_rerank:score", **knobs).rerank(CORPUS, [request()])
    return item


@pytest.mark.parametrize(("top_k", "kept"), [(2, "ab"), (10, "abcd"), (None, "abcd")])
def test_without_a_reranker_the_ranking_is_cut_and_keeps_its_order(top_k, kept):
    (item,) = NoReranker(top_k).rerank(CORPUS, [request()])
    assert item.id == "x"
    assert "".join(hit.pid for hit in item.value) == kept
    assert item.value == RANKING[: len(kept)]


def test_an_empty_ranking_stays_empty():
    (item,) = NoReranker().rerank(CORPUS, [request(())])
    assert item.value == ()


@pytest.mark.parametrize("top_k", [0, -1])
def test_a_cut_that_keeps_nothing_is_a_problem(top_k):
    for reranker in (NoReranker(top_k), FunctionReranker("rerank:score", top_k)):
        assert "top_k" in reranker.problems()[0]
        with pytest.raises(AdapterError, match="top_k"):
            list(reranker.rerank(CORPUS, []))
    assert NoReranker(1).problems() == NoReranker(None).problems() == []


def test_a_function_reorders_with_ties_by_pid(user):
    seen = []

    def score(question, passages, scores, bonus):
        seen.append((question, [p.text for p in passages], list(scores)))
        return [1, 5 + bonus, 5, 7 + bonus]

    user.score = score
    item = rerank(top_k=3, args={"bonus": 0})
    assert item.value == (Hit("d", 7.0), Hit("b", 5.0), Hit("c", 5.0))
    assert seen == [("question", ["text a", "text b", "text c", "text d"], [4.0, 3.0, 2.0, 1.0])]


def test_a_function_is_not_called_for_an_empty_ranking(user):
    user.score = lambda *_: 1 / 0
    (item,) = FunctionReranker("user_rerank:score").rerank(CORPUS, [request(())])
    assert item.value == ()


@pytest.mark.parametrize(
    ("returned", "said"),
    [([1, 2], "2 scores for 4"), ([1, 2, 3, math.nan], "finite"), (["x"] * 4, "ValueError")],
)
def test_a_wrong_return_value_fails_the_question_as_an_outcome(user, returned, said):
    user.score = lambda *_: returned
    item = rerank()
    assert item.value is None
    assert item.failure.kind == "pipeline"
    assert said in item.failure.message


def test_one_failing_question_leaves_the_others_alone(user):
    def score(question, passages, scores):
        if question == "bad":
            raise ValueError("no idea")
        return scores

    user.score = score
    requests = [request(text="bad", id="1"), request(id="2")]
    first, second = FunctionReranker("user_rerank:score").rerank(CORPUS, requests)
    assert (first.id, first.failure.kind) == ("1", "pipeline")
    assert "no idea" in first.failure.message
    assert second.value == RANKING


def test_a_lost_connection_is_infrastructure(user):
    def score(*_):
        raise ConnectionResetError("gone")

    user.score = score
    assert rerank().failure.kind == "infrastructure"


def test_a_function_that_does_not_exist_is_a_problem_and_an_error():
    reranker = FunctionReranker("no_such_module:score")
    assert "no_such_module" in reranker.problems()[0]
    with pytest.raises(AdapterError, match="no_such_module"):
        list(reranker.rerank(CORPUS, [request()]))


def test_a_declared_version_stands_for_the_source(user):
    user.score = lambda *_: []
    assert FunctionReranker("user_rerank:score", version="v2").identity() == {"version": "v2"}

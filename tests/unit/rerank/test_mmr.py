import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import embedding_model, needs_extra

from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Hit, Passage, Question
from ragablate.rerank.mmr import MMR

TEXTS = ["a river", "a river.", "the bridge of 1931", "krall", "krall and penn", "a town, 8400"]
CORPUS = Corpus(tuple(Passage(f"p{n}", text) for n, text in enumerate(TEXTS)), "c")
RANKING = tuple(Hit(f"p{n}", 6.0 - n) for n in range(6))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(embedding_model(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    return {"cache": str(tmp_path_factory.mktemp("cache")), "device": "cpu"}


@pytest.fixture
def mmr(model, runtime):
    return lambda **knobs: MMR(model, runtime=runtime, **knobs)


def ask(text="which river", id="x", candidates=RANKING):
    return RerankRequest(id, Question("q", text), candidates)


def rerank(reranker, *requests, corpus=CORPUS):
    return {item.id: item.value for item in reranker.rerank(corpus, requests)}


def unit(*coordinates):
    vector = np.array(coordinates, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def choose(pids, question, vectors, **knobs):
    return MMR(**knobs)._choose(pids, unit(*question), np.array([unit(*v) for v in vectors]))


def test_a_copy_of_what_was_chosen_waits_for_something_new():
    # a and b are one text, c is less relevant but new.
    vectors = [(1, 0.1, 0), (1, 0.1, 0), (0.5, 0, 1)]
    ranking = choose("abc", (1, 0, 0), vectors, trade_off=0.5)
    assert [hit.pid for hit in ranking] == ["a", "c", "b"]


def test_the_values_are_those_of_the_paper():
    question, vectors = (1, 0), [(1, 0), (1, 1), (0, 1)]
    cosine = 1 / math.sqrt(2)
    ranking = choose("abc", question, vectors, trade_off=0.7)
    assert ranking == (
        Hit("a", 0.7),
        Hit("b", round(0.7 * cosine - 0.3 * cosine, 6)),
        Hit("c", round(-0.3 * cosine, 6)),
    )


def test_relevance_alone_is_the_order_of_cosines():
    vectors = [(0, 1), (1, 0), (1, 1)]
    assert [h.pid for h in choose("abc", (1, 0), vectors, trade_off=1)] == ["b", "c", "a"]


def test_variety_alone_starts_with_the_smallest_pid():
    vectors = [(1, 0), (1, 0.01), (0, 1)]
    ranking = choose("abc", (1, 0), vectors, trade_off=0)
    assert [h.pid for h in ranking] == ["a", "c", "b"]
    assert ranking[0].score == 0.0


def test_opposite_passages_do_not_count_as_more_than_unrelated():
    ranking = choose("ab", (1, 0), [(1, 0), (-1, 0)], trade_off=0.5)
    assert [h.score for h in ranking] == [0.5, -0.5]


@given(
    vectors=st.lists(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=12),
    trade_off=st.sampled_from([0, 0.25, 0.5, 1]),
)
@settings(deadline=None, max_examples=200)
def test_a_ranking_is_sorted_by_score_with_ties_by_pid(vectors, trade_off):
    pids = [f"{n:02}" for n in range(len(vectors))]
    ranking = choose(pids, (1, 0, 0), vectors, trade_off=trade_off, top_k=None)
    assert sorted(hit.pid for hit in ranking) == pids
    assert list(ranking) == sorted(ranking, key=lambda hit: (-hit.score, hit.pid))


@needs_extra
def test_with_a_real_model_a_near_copy_comes_later(mmr):
    ranking = rerank(mmr(trade_off=0.3, top_k=None), ask("a river"))["x"]
    pids = [hit.pid for hit in ranking]
    assert sorted(pids) == [f"p{n}" for n in range(6)]
    assert pids[0] == "p0"
    assert pids[1] != "p1"
    relevant = rerank(mmr(trade_off=1.0, top_k=None), ask("a river"))["x"]
    assert [hit.pid for hit in relevant][:2] == ["p0", "p1"]
    assert relevant[0].score == 1.0


@needs_extra
def test_only_the_best_candidates_are_chosen_from_and_top_k_are_kept(mmr):
    assert {h.pid for h in rerank(mmr(depth=3, top_k=None), ask())["x"]} == {"p0", "p1", "p2"}
    everything = rerank(mmr(top_k=None), ask())["x"]
    assert rerank(mmr(top_k=2), ask())["x"] == everything[:2]
    assert len(rerank(mmr(depth=None, top_k=50), ask())["x"]) == 6


@needs_extra
def test_neither_the_retrievers_scores_nor_its_order_count(mmr):
    turned = tuple(Hit(hit.pid, n) for n, hit in enumerate(RANKING))[::-1]
    assert rerank(mmr(), ask(candidates=turned)) == rerank(mmr(), ask())


@needs_extra
def test_company_does_not_count(mmr, model):
    requests = [
        ask("a river", "1", RANKING[:4]),
        ask("krall", "2", ()),
        ask("krall", "3", RANKING[2:]),
    ]
    together = rerank(mmr(), *requests)
    assert list(together) == ["1", "2", "3"]
    assert together["2"] == ()
    for request in requests:
        alone = MMR(model, runtime={"device": "cpu"})
        assert rerank(alone, request) == {request.id: together[request.id]}


@needs_extra
def test_no_candidates_and_no_questions_load_no_model(mmr):
    reranker = mmr()
    assert rerank(reranker, ask(candidates=())) == {"x": ()}
    assert rerank(reranker) == {}
    assert reranker._embedder is None


@needs_extra
def test_embeddings_are_shared_with_the_dense_retriever(model, runtime, mmr):
    from ragablate.protocols import SearchRequest
    from ragablate.retrieve.dense import Dense

    corpus = Corpus((Passage("p0", "only here"), Passage("p1", "and here")), "d")
    search = SearchRequest("x", "what is here", Question("q", "what is here"))
    (found,) = Dense(model, runtime=runtime).retrieve(corpus, [search])
    reranker = mmr()
    rerank(reranker, ask("what is here", candidates=found.value), corpus=corpus)
    assert reranker._embedder.encoder._loaded is None


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"trade_off": 1.1}, "trade_off is 1.1"),
        ({"trade_off": "half"}, "trade_off is 'half'"),
        ({"trade_off": math.nan}, "trade_off is nan"),
        ({"top_k": 0}, "top_k is 0"),
        ({"depth": 0}, "depth is 0"),
        ({"fields": []}, "fields is []"),
        ({"runtime": {"search_block": 5}}, "runtime.search_block is no knob"),
        ({"model": "nowhere"}, "the model 'nowhere'"),
    ],
)
def test_a_knob_without_a_meaning_is_a_problem_and_an_error(knobs, said):
    reranker = MMR(**knobs)
    assert any(problem.startswith(said) for problem in reranker.problems())
    with pytest.raises(AdapterError):
        rerank(reranker, ask())

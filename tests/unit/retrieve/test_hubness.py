import numpy as np
import pytest
from tiny_models import embedding_model, needs_extra

from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.dense import Dense
from ragablate.retrieve.exact import search
from ragablate.retrieve.hubness import penalised, penalties, queries_of


@pytest.fixture
def vectors():
    found = np.random.default_rng(3).normal(size=(40, 8)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_the_centre_taken_away_ranks_as_centred_similarities_do(vectors):
    mean = vectors.astype(np.float64).mean(axis=0)
    queries = vectors[:5] + 0.1
    rows, _ = search(queries_of(queries), penalised(vectors, "centre", 1.0, 10, 16), 40)
    centred = (queries - mean) @ (vectors - mean).T
    assert np.array_equal(rows, np.argsort(-centred, axis=1))


def test_neighbours_taken_away_rank_as_csls_does(vectors):
    alike = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    np.fill_diagonal(alike, -np.inf)
    nearest = np.sort(alike, axis=1)[:, -5:].mean(axis=1)
    assert penalties(vectors, "neighbours", 5, 16) == pytest.approx(nearest / 2, abs=1e-6)
    queries = vectors[:5] + 0.1
    rows, _ = search(queries_of(queries), penalised(vectors, "neighbours", 1.0, 5, 16), 40)
    assert np.array_equal(rows, np.argsort(-(2 * queries @ vectors.T - nearest), axis=1))


def test_equal_passages_and_a_single_one_have_penalties_too():
    same = np.ones((4, 2), dtype=np.float32)
    assert penalties(same, "neighbours", 2, 3) == pytest.approx(np.ones(4))
    assert penalties(same[:1], "neighbours", 2, 3) == pytest.approx(np.zeros(1))


@needs_extra
@pytest.mark.parametrize("measure", ["centre", "neighbours"])
def test_a_dense_retriever_lowers_what_is_near_everything(tmp_path, measure):
    model = str(embedding_model(tmp_path / "tiny"))
    passages = tuple(Passage(f"p{n}", text) for n, text in enumerate(
        ["river of the north", "river of the south", "river", "bridge", "1931", "Tollow town"]
    ))  # fmt: skip
    corpus = Corpus(passages, "hubs")

    def scores(**hubs):
        retriever = Dense(model, hubs=hubs or None, runtime={"device": "cpu"})
        request = SearchRequest("r", "which river", Question("q", "?"))
        (item,) = retriever.retrieve(corpus, [request])
        return {hit.pid: hit.score for hit in item.value}

    plain, lowered = scores(), scores(measure=measure, neighbours=3)
    half = scores(measure=measure, neighbours=3, weight=0.5)
    assert scores(measure=measure, weight=0.0) == pytest.approx(plain, abs=1e-5)
    for pid, score in plain.items():
        assert half[pid] - score == pytest.approx((lowered[pid] - score) / 2, abs=1e-5)
    assert len({round(plain[pid] - lowered[pid], 4) for pid in plain}) > 1


@pytest.mark.parametrize(
    ("hubs", "said"),
    [
        ({"measure": "mean"}, "give one of none, centre, neighbours"),
        ({"weight": -1}, "hubs.weight is -1"),
        ({"neighbours": 0}, "hubs.neighbours is 0"),
        ({"k": 3}, "hubs.k is no knob"),
    ],
)
def test_hubs_without_a_meaning_are_told(hubs, said):
    problems = Dense(hubs=hubs).problems()
    assert any(said in problem for problem in problems)

from importlib.util import find_spec

import numpy as np
import pytest
from tiny_models import embedding_model, needs_extra

from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Passage, Question, SearchResult
from ragablate.retrieve.approximate import Graph, recall
from ragablate.retrieve.dense import Dense
from ragablate.retrieve.exact import search

needs_faiss = pytest.mark.skipif(
    find_spec("faiss") is None, reason="needs pip install 'ragablate[approximate]'"
)


@pytest.fixture(scope="module")
def vectors():
    found = np.random.default_rng(5).normal(size=(2000, 24)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def shares(vectors, graph, mask=None):
    queries = vectors[:40] + np.float32(0.1)
    exact, _ = search(queries, vectors, 10, mask=mask)
    return [
        recall(graph.search(query, 10, 6, mask)[0], best).get("exact_recall")
        for query, best in zip(queries, exact.tolist(), strict=True)
    ]


@needs_faiss
def test_a_wider_search_finds_more_of_what_exact_search_finds(vectors):
    narrow = shares(vectors, Graph(vectors, 4, 8, 1))
    wide = shares(vectors, Graph(vectors, 32, 200, 400))
    assert np.mean(narrow) < 0.9 < 0.98 < np.mean(wide)


@needs_faiss
def test_equal_vectors_give_equal_graphs_and_exact_scores(vectors):
    first, again = (Graph(vectors, 16, 40, 20).search(vectors[7], 10, 6, None) for _ in range(2))
    assert first == again
    rows, scores = search(vectors[7:8], vectors, 2000, digits=6)
    exact = dict(zip(rows[0].tolist(), scores[0].tolist(), strict=True))
    assert first[1] == [exact[row] for row in first[0]]
    assert first[1] == sorted(first[1], reverse=True)


@needs_faiss
def test_a_filter_within_the_search_keeps_to_what_passes_and_may_find_too_few(vectors):
    mask = np.zeros(len(vectors), dtype=np.bool_)
    mask[::100] = True
    graph = Graph(vectors, 4, 8, 10)
    found = [graph.search(query, 10, 6, mask)[0] for query in vectors[:40]]
    assert all(mask[rows].all() for rows in found)
    assert min(map(len, found)) < 10


def test_recall_is_of_the_first_ten_and_of_nothing_there_is_none():
    assert recall([1, 2, 9], [1, 2, 3, 4]) == {"exact_recall": 0.5}
    assert recall([], [3]) == {"exact_recall": 0.0}
    assert recall([], []) == {}


@needs_faiss
@needs_extra
def test_a_dense_retriever_tells_how_much_it_found(tmp_path):
    model = str(embedding_model(tmp_path / "tiny"))
    passages = tuple(
        Passage(f"p{n}", f"{word} {n}", meta={"even": n % 2 == 0})
        for n, word in enumerate(["river", "bridge", "town", "timber", "harbour"])
    )
    corpus = Corpus(passages, "near")
    runtime = {"device": "cpu"}

    def searched(**knobs):
        request = SearchRequest("r", "which river", Question("q", "?"))
        return next(Dense(model, runtime=runtime, **knobs).retrieve(corpus, [request]))

    exact, near = searched(), searched(approximate={"index": "hnsw"})
    assert not isinstance(exact, SearchResult)
    assert near.value == exact.value
    assert near.signals == {"exact_recall": 1.0}
    filters = {"where": {"even": True}}
    for mode in ("pre", "in", "post"):
        knobs = {"filters": filters, "filter_mode": mode, "depth": 3}
        item = searched(approximate={"index": "hnsw"}, **knobs)
        assert item.value == searched(**knobs).value
        assert ("exact_recall" in item.signals) is (mode != "pre")


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"index": "ivf"}, "give none or hnsw"),
        ({"links": 1}, "approximate.links is 1: give a number from 2"),
        ({"search": 0}, "approximate.search is 0: give a number from 1"),
        ({"m": 3}, "approximate.m is no knob"),
    ],
)
def test_approximation_without_a_meaning_is_told(node, said):
    assert any(said in problem for problem in Dense(approximate=node).problems())

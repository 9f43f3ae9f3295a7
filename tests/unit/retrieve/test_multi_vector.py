import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import embedding_model, needs_extra, needs_minilm

from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve import maxsim
from ragablate.retrieve.maxsim import Tokens
from ragablate.retrieve.multi_vector import MultiVector

TEXTS = ["The Mirr is a river.", "", "Tollow is a town on the Mirr.", "Timber is wood.", "river"]
CORPUS = Corpus(
    tuple(Passage(f"p{n}", t, meta={"even": n % 2 == 0}) for n, t in enumerate(TEXTS)), "tokens"
)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), max_size=9), st.integers(0, 4))
def test_best_matches_are_those_of_a_loop_whatever_the_blocks(seed, lengths, asked):
    random = np.random.default_rng(seed)
    passages = [random.normal(size=(n, 3)).astype(np.float32) for n in lengths]
    query = random.normal(size=(asked, 3)).astype(np.float32)
    expected = np.full((asked, len(lengths)), -1.0)
    for column, passage in enumerate(passages):
        for row in range(asked):
            if len(passage):
                expected[row, column] = max(float(query[row] @ token) for token in passage)
    tokens = Tokens.of(passages) if passages else Tokens.of([np.zeros((0, 3), np.float32)])
    before = maxsim._CELLS
    try:
        for cells in (1, 7, before):
            maxsim._CELLS = cells
            found = tokens.best(query)[:, : len(lengths)]
            assert np.allclose(found, expected, atol=1e-5)
    finally:
        maxsim._CELLS = before


def search(retriever, text, **question):
    request = SearchRequest("r", text, Question("q", "?", **question))
    (item,) = retriever.retrieve(CORPUS, [request])
    return item


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(embedding_model(tmp_path_factory.mktemp("models") / "tiny"))


def token_vectors(model, text):
    """The library's own token embeddings, without the first and the last, which are special."""
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model, device="cpu", local_files_only=True)
    found = encoder.encode([text], output_value="token_embeddings", batch_size=1)[0]
    rows = found.cpu().numpy().astype(np.float64)[1:-1]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@needs_extra
def test_a_score_is_the_mean_of_the_best_cosines_and_the_weakest_is_told(model):
    item = search(MultiVector(model, runtime={"device": "cpu"}), "river Mirr")
    query = token_vectors(model, "river Mirr")
    cosines = {
        f"p{n}": (query @ token_vectors(model, t).T).max(axis=1) for n, t in enumerate(TEXTS) if t
    }
    assert {hit.pid: hit.score for hit in item.value} == pytest.approx(
        {**{pid: best.mean() for pid, best in cosines.items()}, "p1": -1.0}, abs=2e-5
    )
    weakest = cosines[item.value[0].pid].min()
    assert item.signals == {"weakest_token": pytest.approx(weakest, abs=2e-5)}


@needs_extra
def test_filters_rank_what_passes_and_nothing_else(model):
    everything = search(MultiVector(model), "river").value
    passing = [hit for hit in everything if hit.pid in ("p0", "p2", "p4")]
    filters = {"where": {"even": True}}
    for mode in ("pre", "in"):
        retriever = MultiVector(model, filters=filters, filter_mode=mode, depth=2)
        item = search(retriever, "river")
        assert list(item.value) == passing[:2]
        assert item.signals["pass_rate"] == 0.6
    post = search(MultiVector(model, filters=filters, filter_mode="post", depth=2), "river")
    assert list(post.value) == [hit for hit in everything[:2] if hit in passing]
    assert search(MultiVector(model), "").value == ()


@needs_minilm
def test_the_token_embeddings_of_a_real_model_find_the_right_page():
    item = search(MultiVector(runtime={"device": "cpu"}), "Which town lies on the Mirr?")
    assert item.value[0].pid == "p2"
    assert 0.3 < item.signals["weakest_token"] < 1.0

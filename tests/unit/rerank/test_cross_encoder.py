import json
import math
from pathlib import Path

import pytest
from tiny_models import cross_encoder, embedding_model, needs_extra, needs_minilm

from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Hit, Passage, Question
from ragablate.rerank.cross_encoder import CrossEncoder

TEXTS = ["a river", "the bridge of 1931", "krall", "krall", "a town, 8400 people"]
CORPUS = Corpus(tuple(Passage(f"p{n}", text, "title") for n, text in enumerate(TEXTS)), "c")
RANKING = tuple(Hit(f"p{n}", 6.0 - n) for n in range(5))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(cross_encoder(tmp_path_factory.mktemp("models") / "cross"))


@pytest.fixture
def made(model):
    return lambda **knobs: CrossEncoder(model, runtime={"device": "cpu"}, **knobs)


def ask(text="which river", id="x", candidates=RANKING):
    return RerankRequest(id, Question("q", text), candidates)


def rerank(reranker, *requests):
    return {item.id: item.value for item in reranker.rerank(CORPUS, requests)}


def logits(model, pairs):
    """Scores by transformers alone."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    network = AutoModelForSequenceClassification.from_pretrained(model).eval()
    tokenizer = AutoTokenizer.from_pretrained(model)
    with torch.inference_mode():
        return [network(**tokenizer(*pair, return_tensors="pt")).logits.item() for pair in pairs]


@needs_extra
def test_passages_are_ranked_by_the_models_logits_and_equal_ones_by_pid(made, model):
    ranking = rerank(made(fields=["text"]), ask())["x"]
    assert list(ranking) == sorted(ranking, key=lambda hit: (-hit.score, hit.pid))
    expected = logits(model, [("which river", text) for text in TEXTS])
    by_pid = {hit.pid: hit.score for hit in ranking}
    assert [by_pid[f"p{n}"] for n in range(5)] == pytest.approx(expected, rel=1e-5)
    assert by_pid["p2"] == by_pid["p3"]
    pids = [hit.pid for hit in ranking]
    assert pids.index("p3") == pids.index("p2") + 1
    assert max(map(abs, expected)) > 1  # no sigmoid


@needs_extra
def test_it_reorders_what_the_retriever_gave(made):
    orders = {
        tuple(h.pid for h in rerank(made(), ask(text))["x"])
        for text in ("which river", "who opened the bridge", "8400")
    }
    assert orders != {tuple(h.pid for h in RANKING)}


@needs_extra
def test_the_fields_and_their_separator_are_what_is_read(made, model):
    ranking = rerank(made(separator=", "), ask(candidates=RANKING[:1]))["x"]
    (expected,) = logits(model, [("which river", "title, a river")])
    assert ranking[0].score == pytest.approx(expected, rel=1e-5)


@needs_extra
def test_only_the_best_candidates_are_scored_and_top_k_are_kept(made):
    everything = rerank(made(depth=None, top_k=None), ask())["x"]
    assert len(everything) == 5
    assert {h.pid for h in rerank(made(depth=2), ask())["x"]} == {"p0", "p1"}
    assert rerank(made(top_k=2), ask())["x"] == everything[:2]


@needs_extra
def test_a_score_depends_neither_on_the_batch_nor_on_the_other_candidates(made, model):
    everything = {h.pid: h for h in rerank(made(), ask())["x"]}
    few = rerank(made(), ask("krall", "other"), ask(candidates=RANKING[3:]))["x"]
    assert all(everything[hit.pid] == hit for hit in few)
    batched = CrossEncoder(model, runtime={"device": "cpu", "batch_size": 5, "threads": 2})
    for hit in rerank(batched, ask())["x"]:
        assert hit.score == pytest.approx(everything[hit.pid].score, rel=1e-5)


@needs_extra
def test_the_models_own_length_cuts_long_pairs(made):
    from dataclasses import replace

    long = replace(CORPUS.passages[0], text="river " * 500)
    corpus = Corpus((long,), "long")
    (item,) = made().rerank(corpus, [ask(candidates=RANKING[:1])])
    assert math.isfinite(item.value[0].score)


@needs_extra
def test_a_shorter_length_reads_less(made):
    assert rerank(made(max_length=8), ask()) != rerank(made(), ask())
    with pytest.raises(AdapterError, match=r"max_length is 65, but the model .* at most 64"):
        rerank(made(max_length=65), ask())


@needs_extra
def test_no_candidates_and_no_questions_load_no_model(made):
    reranker = made()
    assert rerank(reranker, ask(candidates=())) == {"x": ()}
    assert rerank(reranker) == {}
    assert reranker._loaded is None


@needs_extra
def test_a_text_no_tokenizer_takes_is_scored(made):
    assert len(rerank(made(), ask("\ud800 river"))["x"]) == 5


@needs_extra
def test_a_score_that_is_not_a_number_fails_the_question(tmp_path):
    from safetensors.torch import load_file, save_file

    place = cross_encoder(tmp_path / "model")
    weights = load_file(place / "model.safetensors")
    weights["classifier.bias"][:] = float("nan")
    save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
    reranker = CrossEncoder(str(place), runtime={"device": "cpu"})
    (item,) = reranker.rerank(CORPUS, [ask()])
    assert item.failure.kind == "pipeline"
    assert "no finite score" in item.failure.message


@needs_extra
def test_a_model_without_a_head_is_refused_before_it_gets_a_random_one(tmp_path):
    place = str(embedding_model(tmp_path / "tiny"))
    (problem,) = CrossEncoder(place).problems()
    assert "BertModel, which scores no pairs" in problem
    with pytest.raises(AdapterError, match="scores no pairs"):
        rerank(CrossEncoder(place), ask())


@needs_extra
def test_a_model_that_gives_several_scores_is_refused(tmp_path):
    place = str(cross_encoder(tmp_path / "three", labels=3))
    with pytest.raises(AdapterError, match="gives 3 scores a pair"):
        rerank(CrossEncoder(place), ask())


@needs_extra
def test_the_identity_follows_the_weights(tmp_path, model):
    other = cross_encoder(tmp_path / "other", seed=5)
    assert CrossEncoder(model).identity()["model"] != CrossEncoder(str(other)).identity()["model"]


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"top_k": 0}, "top_k is 0"),
        ({"depth": 0}, "depth is 0"),
        ({"max_length": "long"}, "max_length is 'long'"),
        ({"fields": ["body"]}, "fields is ['body']"),
        ({"runtime": {"search_block": 5}}, "runtime.search_block is no knob"),
        ({}, "the model 'no/where' is not installed"),
    ],
)
def test_a_knob_without_a_meaning_is_a_problem_and_an_error(knobs, said, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    reranker = CrossEncoder("no/where", **knobs)
    assert any(problem.startswith(said) for problem in reranker.problems())
    with pytest.raises(AdapterError):
        rerank(reranker, ask())


@needs_minilm
@pytest.mark.slow
def test_a_model_that_the_script_trains_is_loaded_and_ranks(tmp_path):
    import sys

    scripts = Path(__file__).resolve().parents[3] / "scripts"
    sys.path.insert(0, str(scripts))
    try:
        import train_tiny_cross_encoder as script
    finally:
        sys.path.remove(str(scripts))
    rows = [
        {"id": p.pid, "title": p.title, "text": f"{p.text}. It is known for that."}
        for p in CORPUS.passages
    ]
    script.train(tmp_path / "model", rows, steps=3, seed=0)
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (config["num_hidden_layers"], config["hidden_size"]) == (2, 64)
    reranker = CrossEncoder(str(tmp_path / "model"), runtime={"device": "cpu"})
    assert reranker.problems() == []
    scores = {hit.score for hit in rerank(reranker, ask())["x"]}
    assert len(scores) > 1
    script.train(tmp_path / "again", rows, steps=3, seed=0)
    again = CrossEncoder(str(tmp_path / "again"), runtime={"device": "cpu"})
    assert rerank(again, ask()) == rerank(reranker, ask())

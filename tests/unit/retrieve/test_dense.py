import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tiny_models import embedding_model, needs_extra, needs_minilm

import ragablate.data
from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.dense import Dense

PASSAGES = (
    Passage("p1", "The Zorbat Bridge was opened in 1931.", "Zorbat Bridge", meta={"lang": "en"}),
    Passage("p2", "The Mirr is a river of 214 kilometres.", "Mirr", meta={"lang": "en"}),
    Passage("p3", "Tollow ist eine Stadt.", "Tollow", meta={"lang": "de"}),
    Passage("p4", "The Mirr is a river of 214 kilometres.", "Mirr", meta={"lang": "de"}),
    Passage("p5", "", "", meta={"lang": "de"}),
)
CORPUS = Corpus(PASSAGES, "corpus")


def ask(text, id="x", **question):
    return SearchRequest(id, text, Question("q", "not what is searched", **question))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(embedding_model(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture(scope="module")
def runtime(tmp_path_factory):
    return {"cache": str(tmp_path_factory.mktemp("cache")), "device": "cpu"}


@pytest.fixture
def dense(model, runtime):
    return lambda **knobs: Dense(model, runtime=knobs.pop("runtime", runtime), **knobs)


def rank(retriever, *requests, corpus=CORPUS):
    return {item.id: item.value for item in retriever.retrieve(corpus, requests)}


def one(retriever, request, corpus=CORPUS):
    return rank(retriever, request, corpus=corpus)["x"]


@needs_extra
def test_passages_are_ranked_by_cosine_and_equal_ones_by_pid(dense, model):
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model, device="cpu", local_files_only=True)
    texts = [f"{p.title} {p.text}" if p.text else "" for p in PASSAGES]
    encoded = encoder.encode(["mirr river", *texts], normalize_embeddings=True, batch_size=1)
    expected = encoded[1:].astype(np.float64) @ encoded[0]

    ranking = one(dense(), ask("mirr river"))
    assert {h.pid for h in ranking} == {"p1", "p2", "p3", "p4", "p5"}
    assert list(ranking) == sorted(ranking, key=lambda h: (-h.score, h.pid))
    for hit in ranking:
        assert hit.score == pytest.approx(expected[int(hit.pid[1]) - 1], abs=2e-6)
    by_pid = {h.pid: h.score for h in ranking}
    assert by_pid["p2"] == by_pid["p4"]
    pids = [h.pid for h in ranking]
    assert pids.index("p4") == pids.index("p2") + 1


@needs_extra
def test_scores_have_six_significant_digits(dense):
    ranking = one(dense(), ask("mirr river"))
    assert all(hit.score == float(f"{hit.score:.6g}") for hit in ranking)


@needs_extra
def test_without_normalising_a_score_is_the_inner_product(dense, model):
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model, device="cpu", local_files_only=True)
    query, passage = encoder.encode(["river", "Mirr The Mirr is a river of 214 kilometres."])
    by_pid = {h.pid: h.score for h in one(dense(normalize=False), ask("river"))}
    assert by_pid["p2"] == pytest.approx(float(query @ passage), rel=1e-5)
    assert by_pid["p2"] > 1.5


@needs_extra
@pytest.mark.parametrize(
    ("knobs", "query", "passage"),
    [
        ({}, "river", "Mirr The Mirr is a river of 214 kilometres."),
        ({"fields": ["text"]}, "river", "The Mirr is a river of 214 kilometres."),
        ({"separator": " | "}, "river", "Mirr | The Mirr is a river of 214 kilometres."),
        (
            {"query_prefix": "q: ", "passage_prefix": "p: "},
            "q: river",
            "p: Mirr The Mirr is a river of 214 kilometres.",
        ),
    ],
)
def test_what_is_embedded_follows_the_knobs(dense, model, knobs, query, passage):
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model, device="cpu", local_files_only=True)
    a, b = encoder.encode([query, passage], normalize_embeddings=True, batch_size=1)
    by_pid = {h.pid: h.score for h in one(dense(**knobs), ask("river"))}
    assert by_pid["p2"] == pytest.approx(float(a @ b), abs=2e-6)


@needs_extra
@pytest.mark.parametrize("depth", [1, 3, 5, 50])
def test_a_shallower_ranking_is_the_beginning_of_a_deeper_one(dense, depth):
    assert one(dense(depth=depth), ask("river")) == one(dense(), ask("river"))[:depth]


@needs_extra
def test_the_search_is_what_counts_not_the_question(dense):
    a = SearchRequest("x", "river", Question("q", "one"))
    b = SearchRequest("x", "river", Question("other", "two"))
    assert one(dense(), a) == one(dense(), b)


@needs_extra
def test_pool_and_filter_restrict_before_the_cut_and_change_no_score(dense):
    everything = {h.pid: h for h in one(dense(), ask("river"))}
    restricted = ask("river", pool=("p4", "p1", "p3"), filter={"lang": "de"})
    assert {h.pid for h in one(dense(), restricted)} == set(everything)
    for knobs, allowed in (
        ({"pool": True}, {"p1", "p3", "p4"}),
        ({"apply_filter": True}, {"p3", "p4", "p5"}),
        ({"pool": True, "apply_filter": True}, {"p3", "p4"}),
    ):
        ranking = one(dense(depth=2, **knobs), restricted)
        wanted = sorted((everything[p] for p in allowed), key=lambda h: (-h.score, h.pid))
        assert list(ranking) == wanted[:2]


@needs_extra
def test_a_filter_that_nothing_passes_gives_an_empty_ranking(dense):
    assert one(dense(apply_filter=True), ask("river", filter={"lang": "fr"})) == ()
    assert one(dense(pool=True), ask("river", pool=())) == ()


@needs_extra
def test_a_pool_with_an_unknown_passage_is_an_error(dense):
    with pytest.raises(AdapterError, match="'p9'"):
        one(dense(pool=True), ask("river", pool=("p9",)))


@needs_extra
def test_an_answer_depends_neither_on_the_batch_nor_on_the_block(dense):
    requests = [ask(f"river {n}", id=str(n)) for n in range(20)]
    together = rank(dense(), *requests)
    assert list(together) == [r.id for r in requests]
    apart = {r.id: rank(dense(runtime={"device": "cpu"}), r)[r.id] for r in requests[:3]}
    assert {k: together[k] for k in apart} == apart
    blocks = {"device": "cpu", "search_block": 2}
    assert rank(dense(runtime=blocks), *requests) == together


@needs_extra
def test_searches_are_embedded_together_whatever_they_are_restricted_to(dense, tmp_path):
    retriever = dense(pool=True, runtime={"device": "cpu", "cache": str(tmp_path)})
    requests = [ask(f"river {n}", id=str(n), pool=(f"p{n}",)) for n in range(1, 6)]
    found = rank(retriever, *requests)
    assert {k: [h.pid for h in v] for k, v in found.items()} == {
        str(n): [f"p{n}"] for n in range(1, 6)
    }
    assert len(list(tmp_path.glob("*/*.npy"))) == 2


@needs_extra
def test_order_of_the_corpus_does_not_matter(dense):
    turned = Corpus(PASSAGES[::-1], "turned")
    assert one(dense(), ask("river"), corpus=turned) == one(dense(), ask("river"))


@needs_extra
def test_two_corpora_do_not_mix(dense):
    retriever = dense()
    few = Corpus(PASSAGES[:2], "few")
    for _ in range(2):
        assert len(one(retriever, ask("river"))) == 5
        assert len(one(retriever, ask("river"), corpus=few)) == 2


@needs_extra
def test_blank_searches_and_empty_corpora_are_valid(dense):
    assert len(one(dense(), ask(""))) == 5
    assert one(dense(), ask("river"), corpus=Corpus((), "none")) == ()
    assert list(dense().retrieve(CORPUS, [])) == []


@needs_extra
def test_the_identity_follows_the_files_of_the_model_not_their_place(model, tmp_path):
    twin = tmp_path / "twin"
    twin.symlink_to(Path(model), target_is_directory=True)
    assert Dense(model).identity() == Dense(str(twin)).identity()
    other = embedding_model(tmp_path / "other", seed=7)
    assert Dense(model).identity()["model"] != Dense(str(other)).identity()["model"]


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"depth": 0}, "depth is 0"),
        ({"fields": "text"}, "fields is 'text'"),
        ({"max_seq_length": 0}, "max_seq_length is 0"),
        ({"query_prefix": None}, "query_prefix is None"),
        ({"runtime": {"threads": 0}}, "runtime.threads is 0"),
        ({"model": "nowhere"}, "the model 'nowhere'"),
    ],
)
def test_a_knob_without_a_meaning_is_a_problem_and_an_error(knobs, said):
    retriever = Dense(**knobs)
    assert any(problem.startswith(said) for problem in retriever.problems())
    with pytest.raises(AdapterError):
        one(retriever, ask("river"))


@needs_minilm
def test_minilm_ranks_the_shipped_data_as_the_shipped_run_says(tmp_path):
    folder = Path(next(iter(ragablate.data.__path__))) / "quickstart"
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        questions = {row["id"]: row["question"] for row in map(json.loads, islice(lines, 4))}
    run = {}
    for line in (folder / "minilm.run").read_text(encoding="utf-8").splitlines():
        qid, _, pid, _, score, _ = line.split()
        if qid in questions and len(run.setdefault(qid, {})) < 8:
            run[qid][pid] = float(score)
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        rows = {row["id"]: row for row in map(json.loads, lines)}
    pids = sorted({pid for ranking in run.values() for pid in ranking})
    corpus = Corpus(tuple(Passage(p, rows[p]["text"], rows[p]["title"]) for p in pids), "")
    requests = [
        SearchRequest(qid, text, Question(qid, text, pool=tuple(run[qid])))
        for qid, text in questions.items()
    ]
    retriever = Dense(pool=True, runtime={"device": "cpu", "cache": str(tmp_path)})
    assert retriever.problems() == []
    for qid, ranking in rank(retriever, *requests, corpus=corpus).items():
        assert [h.pid for h in ranking] == list(run[qid])
        assert [h.score for h in ranking] == pytest.approx(list(run[qid].values()), abs=2e-6)

"""Filters find what brute force over the passing passages finds, however they are applied."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import embedding_model, needs_extra

from ragablate.codec import digest
from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Passage, Question, SearchResult
from ragablate.retrieve.analyze import Analyzer
from ragablate.retrieve.bm25 import BM25
from ragablate.retrieve.dense import Dense
from ragablate.retrieve.exact import search as exact
from ragablate.retrieve.fusion import reciprocal_rank_fusion
from ragablate.retrieve.hybrid import Hybrid

PLAIN = Analyzer(tokenizer="whitespace", stemmer="none", stopwords="none")
STATUSES = ["current", "draft", "superseded"]

passage = st.tuples(
    st.lists(st.sampled_from("abcde"), max_size=6),
    st.sampled_from([None, *STATUSES]),
    st.sampled_from([None, 2019, 2020, 2021, 2021.5, True, "2020"]),
    st.sampled_from([None, "2020-01-01", "2021-06-30T12:00:00Z", "2023-01-01"]),
)
world = st.lists(passage, min_size=1, max_size=14)


def corpus_of(rows):
    made = []
    for number, (words, status, year, ends) in enumerate(rows):
        meta = {"status": status, "year": year, "effective_until": ends}
        kept = {key: value for key, value in meta.items() if value is not None}
        made.append(Passage(f"p{number:02}", " ".join(words), meta=kept))
    return Corpus(tuple(made), digest(made))


def passes(row, statuses, least, day):
    """The rule in plain words, apart from the code under test."""
    _, status, year, ends = row
    if status not in statuses or isinstance(year, str | bool) or year is None or year < least:
        return False
    return ends is None or ends[:10] >= day


def one(retriever, corpus, question=None, text="a b c"):
    (item,) = retriever.retrieve(corpus, [SearchRequest("r", text, question or Question("q", "?"))])
    return item


@settings(deadline=None)
@given(
    world,
    st.lists(st.sampled_from("abcdez"), max_size=4),
    st.sets(st.sampled_from(STATUSES), min_size=1),
    st.integers(2018, 2022),
    st.sampled_from(["2020-01-01", "2021-07-01", "2024-01-01"]),
    st.integers(1, 6),
    st.sampled_from([("okapi", "sparse"), ("lucene", "sparse"), ("okapi", "rank_bm25")]),
    st.booleans(),
)
def test_filtered_bm25_is_brute_force_over_what_passes(
    rows, words, statuses, least, day, depth, kind, fill
):
    corpus = corpus_of(rows)
    knobs = {"variant": kind[0], "engine": kind[1], "analyzer": PLAIN, "fill": fill}
    everything = one(BM25(**knobs, depth=99), corpus, text=" ".join(words)).value
    inside = {f"p{n:02}" for n, row in enumerate(rows) if passes(row, statuses, least, day)}
    filters = {"where": {"status": sorted(statuses), "year": {"least": least}}, "day": day}

    def filtered(mode, **more):
        made = BM25(**knobs, depth=depth, filters=filters, filter_mode=mode, **more)
        return one(made, corpus, text=" ".join(words))

    brute = tuple(hit for hit in everything if hit.pid in inside)[:depth]
    after = tuple(hit for hit in everything[:depth] if hit.pid in inside)
    assert filtered("pre").value == brute
    assert filtered("in").value == brute
    assert filtered("post").value == after
    rate = len(inside) / len(rows)
    for low, high in [(0.0, 0.0), (0.3, 0.6), (1.0, 1.0)]:
        item = filtered("by_pass_rate", pass_rates={"pre": low, "in": high})
        mode = "pre" if rate <= low else "in" if rate <= high else "post"
        assert item.value == (after if mode == "post" else brute)
        assert item.signals == {"pass_rate": rate, f"filtered_{mode}": 1.0}


def test_filtering_after_the_search_returns_too_few():
    texts = ["a a a", "a a", "a", "a b", "a b c"]
    corpus = corpus_of([(t.split(), "superseded" if n < 3 else "current", 2020, None)
                        for n, t in enumerate(texts)])  # fmt: skip
    filters = {"where": {"status": "current"}}
    counts = {
        mode: len(one(BM25("lucene", analyzer=PLAIN, depth=3, filters=filters, filter_mode=mode),
                      corpus, text="a").value)
        for mode in ("pre", "in", "post")
    }  # fmt: skip
    assert counts == {"pre": 2, "in": 2, "post": 0}


@settings(deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(1, 12),
    st.integers(1, 9),
)
def test_exact_search_skips_what_a_mask_leaves_out(seed, count, k, block):
    random = np.random.default_rng(seed)
    passages = random.integers(-2, 3, (count, 4)).astype(np.float32)
    queries = random.integers(-2, 3, (3, 4)).astype(np.float32)
    mask = random.random(count) < 0.5
    skipped = exact(queries, passages, k, block, mask=mask)
    gathered = exact(queries, passages, k, block, rows=np.flatnonzero(mask))
    assert np.array_equal(skipped[0], gathered[0])
    assert np.array_equal(skipped[1], gathered[1])


TOLD = [
    ("a b", "current", 2020, None),
    ("a", "superseded", 2019, "2020-05-01"),
    ("a c", "current", 2021, "2022-05-01"),
    ("b a a", "draft", 2021, None),
]
SMALL = corpus_of([(words.split(), *rest) for words, *rest in TOLD])


def test_a_question_s_own_filter_and_pool_narrow_what_the_config_lets_pass():
    retriever = BM25(
        analyzer=PLAIN, pool=True, apply_filter=True, filters={"where": {"year": {"least": 2020}}}
    )
    asked = Question("q", "?", filter={"status": ("current", "draft"), "year": {"most": 2020}})
    item = one(retriever, SMALL, asked)
    assert [hit.pid for hit in item.value] == ["p00"]
    assert isinstance(item, SearchResult)
    assert item.signals["pass_rate"] == 1 / 4
    pooled = one(retriever, SMALL, replace(asked, pool=("p00", "p02")))
    assert pooled.signals["pass_rate"] == 1 / 2
    alone = one(BM25(analyzer=PLAIN, pool=True), SMALL, replace(asked, pool=("p00", "p02")))
    assert not isinstance(alone, SearchResult)


def test_the_day_may_be_the_question_s_and_is_then_no_condition_of_its_own():
    retriever = BM25(analyzer=PLAIN, apply_filter=True, filters={"day": "filter:as_of"})
    found = {}
    for day in ("2019-01-01", "2021-01-01", "2023-01-01"):
        item = one(retriever, SMALL, Question("q", "?", filter={"as_of": day}))
        found[day] = {hit.pid for hit in item.value}
    assert found["2019-01-01"] == {"p00", "p01", "p02", "p03"}
    assert found["2021-01-01"] == {"p00", "p02", "p03"}
    assert found["2023-01-01"] == {"p00", "p03"}
    assert len(one(retriever, SMALL, Question("q", "?")).value) == 4
    with pytest.raises(AdapterError, match="question 'q' has 'May' as 'as_of'"):
        one(retriever, SMALL, Question("q", "?", filter={"as_of": "May"}))


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"filters": {"were": {}}}, "filters.were is no knob"),
        ({"filters": {"day": "1 May"}}, "give a day as YYYY-MM-DD"),
        ({"filters": {"where": {"year": {"from": 3}}}}, "give a range as"),
        ({"filters": {"where": {"status": []}}}, "an empty list, which no passage meets"),
        ({"filter_mode": "during"}, "give one of pre, in, post, by_pass_rate"),
        ({"pass_rates": {"pre": 0.9, "in": 0.1}}, "the first not above the second"),
        ({"pass_rates": {"pre": "much"}}, "two shares from"),
    ],
)
def test_filters_without_a_meaning_are_told(knobs, said):
    (problem,) = BM25(**knobs).problems()
    assert said in problem


def test_a_hybrid_fuses_filtered_rankings():
    filters = {"where": {"status": "current"}}
    parts = [BM25(analyzer=PLAIN, variant=v, depth=9) for v in ("okapi", "lucene")]
    made = {
        name: BM25(analyzer=PLAIN, variant=name, depth=9, filters=filters)
        for name in ("okapi", "lucene")
    }
    brute = [
        tuple(hit for hit in one(part, SMALL).value if hit.pid in ("p00", "p02")) for part in parts
    ]
    assert one(Hybrid(made), SMALL).value == reciprocal_rank_fusion(brute, 60)


@needs_extra
def test_dense_filters_as_brute_force_does(tmp_path):
    model = str(embedding_model(tmp_path / "tiny"))
    filters = {"where": {"year": {"least": 2020}}}

    def ranked(**knobs):
        return one(Dense(model, runtime={"device": "cpu"}, **knobs), SMALL)

    everything = ranked(depth=9).value
    brute = tuple(hit for hit in everything if hit.pid != "p01")
    for depth in (1, 2, 4):
        for mode in ("pre", "in"):
            assert ranked(depth=depth, filters=filters, filter_mode=mode).value == brute[:depth]
        post = ranked(depth=depth, filters=filters, filter_mode="post")
        assert post.value == tuple(hit for hit in everything[:depth] if hit.pid != "p01")
        assert post.signals == {"pass_rate": 0.75, "filtered_post": 1.0}

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ragablate.retrieve.bm25_index import SparseIndex, top
from ragablate.retrieve.bm25_library import LibraryIndex

TERMS = st.sampled_from(["a", "b", "c", "d", "e", "Straße", "東京"])
CORPORA = st.lists(st.lists(TERMS, max_size=12), min_size=1, max_size=25)
QUERIES = st.lists(st.one_of(TERMS, st.just("unknown")), max_size=6)
EXAMPLES = settings(deadline=None, max_examples=150)


def dense(index, size, query):
    scores = np.zeros(size)
    rows, values = index.scores(query)
    scores[rows] = values
    return scores, set(rows.tolist())


def holding(corpus, query):
    return {row for row, passage in enumerate(corpus) if set(passage) & set(query)}


@EXAMPLES
@given(CORPORA.filter(any), QUERIES, st.floats(0.1, 3), st.floats(0, 0.95), st.floats(0, 1))
def test_okapi_scores_equal_those_of_rank_bm25_for_every_passage(corpus, query, k1, b, epsilon):
    expected = BM25Okapi(corpus, k1=k1, b=b, epsilon=epsilon).get_scores(query)
    scores, rows = dense(SparseIndex.build(corpus, "okapi", k1, b, epsilon), len(corpus), query)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)
    assert rows == holding(corpus, query)


@EXAMPLES
@given(CORPORA.filter(any), QUERIES)
def test_okapi_scores_are_the_same_bits_as_those_of_rank_bm25(corpus, query):
    expected = BM25Okapi(corpus).get_scores(query)
    scores, _ = dense(SparseIndex.build(corpus), len(corpus), query)
    assert scores.tolist() == expected.tolist()


@EXAMPLES
@given(CORPORA, QUERIES)
def test_the_library_engine_finds_the_same_rows_with_the_same_scores(corpus, query):
    ours = dense(SparseIndex.build(corpus), len(corpus), query)
    library = dense(LibraryIndex(corpus, 1.5, 0.75, 0.25), len(corpus), query)
    assert ours[0].tolist() == library[0].tolist()
    assert ours[1] == library[1]


def lucene_by_the_formula(corpus, query, k1, b):
    mean = sum(map(len, corpus)) / len(corpus)
    scores = []
    for passage in corpus:
        score = 0.0
        for term in query:
            n = sum(term in other for other in corpus)
            tf = passage.count(term)
            if tf:
                idf = math.log(1 + (len(corpus) - n + 0.5) / (n + 0.5))
                score += idf * tf / (tf + k1 * (1 - b + b * len(passage) / mean))
        scores.append(score)
    return scores


@EXAMPLES
@given(CORPORA, QUERIES, st.floats(0, 3), st.floats(0, 1))
def test_lucene_scores_follow_the_formula(corpus, query, k1, b):
    scores, rows = dense(SparseIndex.build(corpus, "lucene", k1, b), len(corpus), query)
    expected = lucene_by_the_formula(corpus, query, k1, b)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)
    assert rows == holding(corpus, query)


def test_lucene_scores_of_a_corpus_worked_by_hand():
    index = SparseIndex.build([["a", "b"], ["a", "a", "c", "c"]], "lucene", k1=1.2, b=0.75)
    _, scores = index.scores(["a"])
    idf = math.log(1 + 0.5 / 2.5)
    assert scores.tolist() == pytest.approx(
        [idf * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3)), idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3))]
    )


@EXAMPLES
@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0]), max_size=40),
    st.integers(min_value=1, max_value=50),
)
def test_top_is_the_start_of_the_sorted_order_with_ties_by_row(scores, k):
    rows = np.arange(len(scores)) * 3
    best_rows, best_scores = top(rows, np.array(scores), k)
    expected = sorted(zip(rows.tolist(), scores, strict=True), key=lambda p: (-p[1], p[0]))[:k]
    assert list(zip(best_rows.tolist(), best_scores.tolist(), strict=True)) == expected


def test_ties_at_the_cut_are_the_first_rows():
    index = SparseIndex.build([["x"]] * 5 + [["a"]] * 30 + [["x"]] * 5)
    rows, scores = index.search(["a"], 7)
    assert rows.tolist() == [5, 6, 7, 8, 9, 10, 11]
    assert len(set(scores.tolist())) == 1


def test_frequent_and_rare_terms_add_up_alike():
    corpus = [["the", f"w{i % 50}"] + ["pad"] * (i % 7) for i in range(200)]
    query = ["the", "w3", "the", "pad"]
    expected = BM25Okapi(corpus).get_scores(query)
    scores, _ = dense(SparseIndex.build(corpus), 200, query)
    assert scores.tolist() == expected.tolist()


@pytest.mark.parametrize("corpus", [[], [[]], [[], [], []]])
@pytest.mark.parametrize("variant", ["okapi", "lucene"])
def test_passages_without_any_token_match_nothing(corpus, variant):
    rows, scores = SparseIndex.build(corpus, variant).search(["a"], 10)
    assert (rows.tolist(), scores.tolist()) == ([], [])


@pytest.mark.parametrize("corpus", [[], [[]], [[], []]])
def test_the_library_engine_survives_passages_without_any_token(corpus):
    rows, scores = LibraryIndex(corpus, 1.5, 0.75, 0.25).scores(["a"])
    assert (rows.tolist(), scores.tolist()) == ([], [])


def test_a_single_passage_matches_with_a_negative_score():
    rows, scores = SparseIndex.build([["a", "b"]]).search(["a"], 10)
    assert rows.tolist() == [0]
    assert scores[0] == pytest.approx(0.25 * math.log(0.5 / 1.5))
    assert scores.tolist() == BM25Okapi([["a", "b"]]).get_scores(["a"]).tolist()


def test_a_term_in_half_of_the_passages_matches_with_score_zero():
    corpus = [["a", "x"], ["a", "y"], ["b", "z"], ["b", "w"]]
    rows, scores = SparseIndex.build(corpus).search(["a"], 10)
    assert rows.tolist() == [0, 1]
    assert scores.tolist() == [0.0, 0.0]


def test_a_term_in_most_passages_weighs_epsilon_times_the_mean():
    corpus = [["a", w] for w in "bcdefgh"] + [["z"]]
    low = SparseIndex.build(corpus, epsilon=0.1).search(["a"], 1)[1][0]
    high = SparseIndex.build(corpus, epsilon=0.3).search(["a"], 1)[1][0]
    assert high == pytest.approx(3 * low)
    assert low > 0


@pytest.mark.parametrize("query", [[], ["unknown"], ["unknown", "other"]])
def test_an_empty_or_unknown_query_finds_nothing(query):
    assert SparseIndex.build([["a"], ["b"]]).search(query, 10)[0].tolist() == []


def test_a_repeated_query_term_counts_twice():
    index = SparseIndex.build([["a", "b"], ["c"], ["d"]])
    once, twice = index.scores(["a"])[1], index.scores(["a", "a"])[1]
    assert twice.tolist() == (2 * once).tolist()


def test_a_string_is_no_query_and_no_passage():
    index = SparseIndex.build([["a"], ["b"]])
    with pytest.raises(TypeError, match="not a string"):
        index.search("ab", 10)
    with pytest.raises(TypeError, match="not a string"):
        SparseIndex.build(["ab"])


def test_b_of_one_and_empty_passages_raise_no_warning():
    corpus = [["a"], [], ["b", "b"], ["c"]]
    library = LibraryIndex(corpus, 1.5, 1.0, 0.25)
    rows, scores = library.scores(["a"])
    assert rows.tolist() == [0]
    assert scores.tolist() == SparseIndex.build(corpus, b=1.0).scores(["a"])[1].tolist()


def test_passages_may_come_from_a_generator():
    assert SparseIndex.build(w.split() for w in ["a b", "c", "d"]).search(["c"], 1)[0] == [1]

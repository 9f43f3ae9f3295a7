"""BM25 of several fields against its formula, written out."""

import math

import pytest

from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.analyze import Analyzer
from ragablate.retrieve.bm25 import BM25

PLAIN = Analyzer(tokenizer="whitespace", stemmer="none", stopwords="none")
ROWS = [("a b", "c c d"), ("", "a d e f"), ("c", "b"), ("e", "e f"), ("f", "g"), ("g h", "h")]
CORPUS = Corpus(tuple(Passage(f"p{n}", x, t) for n, (t, x) in enumerate(ROWS)), "fields")


def search(text, **knobs):
    retriever = BM25(analyzer=PLAIN, **knobs)
    (item,) = retriever.retrieve(CORPUS, [SearchRequest("r", text, Question("q", "?"))])
    return {hit.pid: hit.score for hit in item.value}


@pytest.mark.parametrize("variant", ["lucene", "okapi"])
@pytest.mark.parametrize("weights", [{"title": 3.0, "text": 1.0}, {"text": 2.0}])
def test_scores_are_those_of_the_formula(variant, weights):
    k1, b = 1.2, 0.6
    fields = {"title": [t.split() for t, _ in ROWS], "text": [x.split() for _, x in ROWS]}
    count = len(ROWS)

    def frequency(term, row):
        total = 0.0
        for name, weight in weights.items():
            mean = sum(map(len, fields[name])) / count
            norm = 1 - b + b * len(fields[name][row]) / mean
            total += weight * fields[name][row].count(term) / norm
        return total

    expected = {}
    for row in range(count):
        terms = {t: frequency(t, row) for t in ("a", "c")}
        if not any(terms.values()):
            continue
        score = 0.0
        for term, tf in terms.items():
            n = sum(frequency(term, other) > 0 for other in range(count))
            if n == 0:
                continue
            if variant == "lucene":
                score += math.log(1 + (count - n + 0.5) / (n + 0.5)) * tf / (k1 + tf)
            else:
                score += math.log((count - n + 0.5) / (n + 0.5)) * tf * (k1 + 1) / (k1 + tf)
        expected[f"p{row}"] = score
    found = search("a c", variant=variant, k1=k1, b=b, field_weights=weights)
    assert found == pytest.approx(expected)


def test_one_field_alone_is_plain_bm25_over_it():
    alone = search("a d", fields=["text"])
    assert search("a d", field_weights={"text": 1.0}) == pytest.approx(alone)


def test_a_weightier_title_brings_a_passage_to_the_top():
    def first(**weights):
        return next(iter(search("c e", variant="lucene", field_weights=weights)))

    assert first(title=0.1, text=1.0) in ("p0", "p1", "p3")
    assert first(title=9.0, text=1.0) in ("p2", "p3")
    assert search("zzz", field_weights={"title": 1.0, "text": 1.0}) == {}


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"field_weights": {"body": 1}}, "field_weights.body is 1: give title, text or both"),
        ({"field_weights": {"title": 0}}, "field_weights.title is 0"),
        ({"field_weights": {"title": 1}, "engine": "rank_bm25"}, "give engine=sparse"),
    ],
)
def test_field_weights_without_a_meaning_are_told(knobs, said):
    (problem,) = BM25(**knobs).problems()
    assert said in problem

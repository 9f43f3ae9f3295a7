import pytest

from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Failure, Hit, Item, Passage, Question, SearchResult
from ragablate.retrieve.bm25 import BM25
from ragablate.retrieve.recency import Recency

CORPUS = Corpus(
    (
        Passage("new", "a", meta={"updated_at": "2026-01-01T08:00:00Z"}),
        Passage("year", "a", meta={"updated_at": "2025-01-01"}),
        Passage("later", "a", meta={"updated_at": "2027-01-01"}),
        Passage("never", "a"),
        Passage("odd", "a", meta={"updated_at": "spring"}),
    ),
    "dated",
)
REQUEST = SearchRequest("r", "a", Question("q", "a"))


class Fixed:
    def __init__(self, **scores):
        self.scores = scores

    def retrieve(self, corpus, requests):
        for request in requests:
            hits = tuple(Hit(p, s) for p, s in self.scores.items())
            yield SearchResult(request.id, hits, signals={"told": 1.0})


class Failing:
    def retrieve(self, corpus, requests):
        yield Item("r", None, Failure("infrastructure", "timed out"))


def scores(inner, **knobs):
    knobs = {"day": "2026-01-01", "half_life_days": 365, **knobs}
    (item,) = Recency(inner, **knobs).retrieve(CORPUS, [REQUEST])
    return item, {hit.pid: hit.score for hit in item.value or ()}


def test_a_score_is_halved_with_every_half_life():
    level = Fixed(year=8.0, new=6.0, later=5.0, never=4.0, odd=3.0)
    item, found = scores(level)
    assert found == {"new": 6.0, "later": 5.0, "year": 4.0, "never": 4.0, "odd": 3.0}
    assert [hit.pid for hit in item.value] == ["new", "later", "never", "year", "odd"]
    assert item.signals == {"told": 1.0}
    assert scores(level, half_life_days=730)[1]["year"] == pytest.approx(8 * 0.5**0.5)
    assert scores(level, weight=0.5)[1]["year"] == pytest.approx(6.0)
    assert scores(level, weight=0)[1]["year"] == 8.0
    assert scores(level, undated=0.25)[1]["odd"] == 0.75


def test_scores_below_zero_are_not_raised_by_their_age():
    _, found = scores(Fixed(new=-1.0, year=-2.0))
    assert found == {"new": -1.0, "year": -2.0}


def test_a_failure_is_passed_on():
    assert scores(Failing())[0].failure.message == "timed out"


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"day": "today"}, "give the day to count from as YYYY-MM-DD"),
        ({"half_life_days": 0}, "give days above 0"),
        ({"weight": 2}, "weight is 2: give a number from 0 to 1"),
        ({"undated": -1}, "undated is -1: give a number from 0 to 1"),
    ],
)
def test_recency_without_a_meaning_is_told(knobs, said):
    (problem,) = Recency(BM25(), **{"day": "2026-01-01", **knobs}).problems()
    assert said in problem
    assert Recency(BM25(depth=0), day="2026-01-01").problems() == BM25(depth=0).problems()

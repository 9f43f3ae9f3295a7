from __future__ import annotations

import pytest

from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Hit, Passage, Question
from ragablate.rerank.dedupe_versions import DedupeVersions
from ragablate.rerank.status import Status

POLICY = "Refunds are paid within {} days of a cancellation to the card that was charged."
PASSAGES = (
    Passage("old", POLICY.format(30), meta={"updated_at": "2024-01-05", "status": "superseded"}),
    Passage("new", POLICY.format(14), meta={"updated_at": "2026-03-01", "status": "current"}),
    Passage("other", "Support is open on weekdays from nine to five in the office.",
            meta={"effective_from": "2027-01-01"}),
    Passage("bare", "A passage that says nothing of its age at all, or of its standing."),
)  # fmt: skip
CORPUS = Corpus(PASSAGES, "digest")
RANKED = tuple(Hit(p.pid, 4.0 - i) for i, p in enumerate(PASSAGES))


def kept(reranker, ranked=RANKED):
    assert reranker.problems() == []
    request = RerankRequest("q", Question("q", "When is a refund paid?"), ranked)
    (item,) = reranker.rerank(CORPUS, [request])
    return [(hit.pid, hit.score) for hit in item.value]


def test_the_newest_of_two_versions_takes_the_place_of_the_best_ranked():
    assert kept(DedupeVersions()) == [("new", 4.0), ("other", 2.0), ("bare", 1.0)]


def test_versions_must_be_alike():
    assert [pid for pid, _ in kept(DedupeVersions(overlap=0.99))] == ["old", "new", "other", "bare"]


def test_without_dates_the_best_ranked_stays():
    assert kept(DedupeVersions(date="printed"))[0] == ("old", 4.0)


def test_the_cut_counts_groups_and_not_versions():
    assert [pid for pid, _ in kept(DedupeVersions(top_k=2))] == ["new", "other"]


def test_what_was_superseded_is_left_out_and_what_says_nothing_is_kept():
    assert [pid for pid, _ in kept(Status())] == ["new", "other", "bare"]


def test_a_passage_of_another_day_is_left_out():
    assert [pid for pid, _ in kept(Status(day="2026-06-01"))] == ["new", "bare"]
    assert [pid for pid, _ in kept(Status(day="2027-01-01"))] == ["new", "other", "bare"]


def test_nothing_found_is_nothing_kept():
    assert kept(Status(), ()) == kept(DedupeVersions(), ()) == []


@pytest.mark.parametrize(
    ("reranker", "part"),
    [
        (Status(day="June"), "day is 'June'"),
        (Status(allowed=()), "nothing would be left out"),
        (Status(top_k=0), "top_k is 0"),
        (DedupeVersions(overlap=0), "overlap is 0"),
        (DedupeVersions(overlap=True), "overlap is True"),
        (DedupeVersions(top_k=0), "top_k is 0"),
    ],
)
def test_knobs_of_versions_without_a_meaning_are_named(reranker, part):
    assert any(part in problem for problem in reranker.problems())

"""A passage may be searched by another text than its own, and is still the passage that ranks."""

from __future__ import annotations

from ragablate.dataset.digests import corpus_digest
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Question, SearchedPassage
from ragablate.retrieve.bm25 import BM25
from ragablate.searched import searched

LONG = "Audit logs are kept. Retention is a year. Teams under 50 seats need the add-on."
PIECES = tuple((LONG.index(s), LONG.index(s) + len(s)) for s in (LONG[:20], LONG[21:41], LONG[42:]))


def corpus_of(*passages: Passage) -> Corpus:
    return Corpus(passages, corpus_digest(passages))


def test_plain_passages_are_searched_as_they_are() -> None:
    corpus = corpus_of(Passage("a", "one"), Passage("b", "two"))
    view = searched(corpus)
    item = Item("q", (Hit("b", 2.0), Hit("a", 1.0)))
    assert view.corpus is corpus
    assert view.passages(item) is item


def test_pieces_and_prefaces_are_searched_and_the_passage_ranks_by_its_best() -> None:
    corpus = corpus_of(
        SearchedPassage("a", LONG, "Security", meta={"status": "current"}, pieces=PIECES),
        SearchedPassage("b", "Nine euros.", preface="From Plans, Pro."),
        Passage("c", "Support by mail."),
    )
    view = searched(corpus)
    assert {p.pid: p.text for p in view.corpus.passages} == {
        "a#0": "Audit logs are kept.",
        "a#1": "Retention is a year.",
        "a#2": "Teams under 50 seats need the add-on.",
        "b": "From Plans, Pro.\n\nNine euros.",
        "c": "Support by mail.",
    }
    assert view.corpus.passages[1].meta == {"status": "current"}
    assert view.corpus.digest != corpus.digest
    ranking = (Hit("a#2", 3.0), Hit("c", 2.0), Hit("b", 2.0), Hit("a#0", 1.0))
    found = view.passages(Item("q", ranking))
    assert found.value == (Hit("a", 3.0), Hit("b", 2.0), Hit("c", 2.0))


def test_what_is_searched_counts_in_the_digest_of_a_corpus() -> None:
    plain = Passage("a", LONG)
    kinds = [
        plain,
        SearchedPassage("a", LONG, preface="From Plans."),
        SearchedPassage("a", LONG, pieces=PIECES),
        SearchedPassage("a", LONG, pieces=PIECES[:2]),
    ]
    assert len({corpus_digest([kind]) for kind in kinds}) == 4


def test_a_retriever_finds_a_passage_by_its_preface() -> None:
    corpus = corpus_of(
        SearchedPassage("a", "It costs nine euros.", preface="From Plans, Pro."),
        SearchedPassage("b", "It costs four euros.", preface="From Plans, Basic."),
        Passage("c", "Support by mail."),
    )
    view = searched(corpus)
    asked = SearchRequest("q#0", "What does Pro cost?", Question("q", "?"))
    (item,) = BM25().retrieve(view.corpus, [asked])
    assert item.value is not None
    assert item.value[0].pid == "a"

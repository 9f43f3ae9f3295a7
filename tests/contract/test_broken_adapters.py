"""The checks bite: adapters with one planted fault each fail the rule they break."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import checks
import pytest

from ragablate.dataset.digests import corpus_digest
from ragablate.protocols import JudgeRequest, SearchRequest
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Corpus,
    Failure,
    Gold,
    Hit,
    Item,
    Measure,
    Passage,
    Question,
    Ranking,
    ResolvedGold,
    Trace,
    Verdict,
)

PASSAGES = tuple(Passage(f"p{i}", f"text {i}") for i in range(4))
CORPUS = Corpus(PASSAGES, corpus_digest(PASSAGES))
REQUESTS = [SearchRequest(f"q{i}", f"text {i}", Question(f"q{i}", f"text {i}")) for i in range(4)]
RANKING: Ranking = (Hit("p0", 2.0), Hit("p1", 1.0), Hit("p2", 1.0))


class Honest:
    def retrieve(self, corpus: Corpus, requests: Sequence[Any]) -> Iterator[Item[Ranking]]:
        for request in requests:
            yield Item(request.id, RANKING)


class LeavesOneOut(Honest):
    def retrieve(self, corpus: Corpus, requests: Sequence[Any]) -> Iterator[Item[Ranking]]:
        return itertools.islice(super().retrieve(corpus, requests), max(0, len(requests) - 1))


class AnswersTwice(Honest):
    def retrieve(self, corpus: Corpus, requests: Sequence[Any]) -> Iterator[Item[Ranking]]:
        for item in super().retrieve(corpus, requests):
            yield item
            yield item


class HoldsValueAndFailure(Honest):
    def retrieve(self, corpus: Corpus, requests: Sequence[Any]) -> Iterator[Item[Ranking]]:
        for request in requests:
            yield Item(request.id, RANKING, Failure("pipeline", "and yet"))


class Remembers(Honest):
    def __init__(self) -> None:
        self.seen = 0

    def retrieve(self, corpus: Corpus, requests: Sequence[Any]) -> Iterator[Item[Ranking]]:
        for request in requests:
            self.seen += 1
            yield Item(request.id, (Hit("p0", float(self.seen)),))


class DependsOnPlaceInBatch(Honest):
    def retrieve(self, corpus: Corpus, requests: Sequence[Any]) -> Iterator[Item[Ranking]]:
        for place, request in enumerate(requests):
            yield Item(request.id, (Hit("p0", float(place)),))


class AnswersNobody(Honest):
    def retrieve(self, corpus: Corpus, requests: Sequence[Any]) -> Iterator[Item[Ranking]]:
        yield Item("nobody", ())
        yield from super().retrieve(corpus, requests)


def call(adapter: Any, requests: Sequence[Any]) -> Iterator[Item[Any]]:
    return adapter.retrieve(CORPUS, requests)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (LeavesOneOut, checks.answers_each_once),
        (AnswersTwice, checks.answers_each_once),
        (HoldsValueAndFailure, checks.answers_each_once),
        (AnswersNobody, checks.answers_each_once),
        (AnswersNobody, checks.takes_an_empty_batch),
        (Remembers, checks.is_deterministic),
        (DependsOnPlaceInBatch, checks.ignores_order_and_company),
    ],
)
def test_a_broken_retriever_fails_the_rule_it_breaks(broken: Any, rule: Any) -> None:
    rule(Honest, call, REQUESTS)
    with pytest.raises(AssertionError):
        rule(broken, call, REQUESTS)


@pytest.mark.parametrize(
    "ranking",
    [
        (Hit("p0", 1.0), Hit("p1", 2.0)),
        (Hit("p1", 1.0), Hit("p0", 1.0)),
        (Hit("p0", 1.0), Hit("p0", 0.5)),
        (Hit("stranger", 1.0),),
        (Hit("p0", float("nan")),),
    ],
    ids=["ascending", "ties not by pid", "twice", "unknown pid", "nan"],
)
def test_a_malformed_ranking_is_caught(ranking: Ranking) -> None:
    checks.rankings_are_well_formed([Item("q", RANKING)], CORPUS)
    with pytest.raises(AssertionError):
        checks.rankings_are_well_formed([Item("q", ranking)], CORPUS)


@pytest.mark.parametrize(
    "passages",
    [
        (ContextPassage("p0", "a", "a"), ContextPassage("p0", "a", "a")),
        (ContextPassage("p0", "header only", "the body"),),
    ],
    ids=["twice", "body not in text"],
)
def test_a_malformed_context_is_caught(passages: tuple[ContextPassage, ...]) -> None:
    with pytest.raises(AssertionError):
        checks.contexts_are_well_formed([Item("q", Context(passages))])


class FaultyJudge:
    def __init__(self, *verdicts: Verdict) -> None:
        self._verdicts = verdicts

    def measures(self) -> tuple[Measure, ...]:
        return (Measure("m", "read", "m"),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Iterator[Item[tuple[Verdict, ...]]]:
        for request in requests:
            yield Item(request.id, self._verdicts)


TRACE = Trace(
    "", "q", 1, "?", (), (), (), (), None, Context(), "", "", "", Answer("a"), None
)  # fmt: skip
ASKED = [JudgeRequest("q", TRACE, Gold("q"), ResolvedGold("q"))]


@pytest.mark.parametrize(
    "verdicts",
    [
        (),
        (Verdict("q", 1, "other", 1.0),),
        (Verdict("q", 1, "m", 1.3),),
        (Verdict("q", 1, "m", float("nan")),),
        (Verdict("q", 1, "m", None),),
    ],
    ids=["none", "another measure", "out of range", "nan", "unmeasured without a reason"],
)
def test_a_faulty_judge_is_caught(verdicts: tuple[Verdict, ...]) -> None:
    checks.verdicts_are_complete(FaultyJudge(Verdict("q", 1, "m", 1.0)), ASKED)
    with pytest.raises(AssertionError):
        checks.verdicts_are_complete(FaultyJudge(*verdicts), ASKED)


def test_a_constructor_that_changes_its_arguments_is_caught() -> None:
    class Loud:
        def __init__(self, name: str) -> None:
            self.name = name.upper()

    with pytest.raises(AssertionError):
        checks.constructor_only_stores(Loud("a"), {"name": "a"})

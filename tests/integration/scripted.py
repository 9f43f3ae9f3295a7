"""Small real adapters for tests of the runner, each doing one thing and remembering it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragablate.protocols import GateRequest
from ragablate.records import Answer, Corpus, GateDecision, Item, Searches

ASKED: list[str] = []
SEEDS: dict[str, list[int]] = {}
BROKEN: dict[str, type[Exception]] = {}


def reset() -> None:
    ASKED.clear()
    SEEDS.clear()
    BROKEN.clear()


def read(question: str, passages: Sequence[str], seed: int) -> Answer:
    ASKED.append(question)
    SEEDS.setdefault(question, []).append(seed)
    if question in BROKEN:
        raise BROKEN[question]("planted")
    return Answer(passages[0] if passages else "I do not know.", abstained=not passages)


class RefusesSome:
    """A gate that refuses the questions whose text holds a word."""

    def __init__(self, word: str) -> None:
        self.word = word

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        for request in requests:
            refused = self.word in request.question.text
            yield Item(request.id, GateDecision("refuse" if refused else "go", "nothing near"))


class SearchesTwice:
    """A rewriter that searches the question, and then the best hit's pid as text."""

    rounds = 2

    def rewrite(self, requests: Sequence[Any]) -> Iterator[Item[Any]]:
        for request in requests:
            if request.round == 0:
                yield Item(request.id, Searches((request.question.text,), final=False))
            else:
                yield Item(request.id, Searches(("harbour",)))


def stochastic(question: str, passages: Sequence[str], seed: int) -> str:
    return f"{passages[0] if passages else ''} {seed % 1000}"

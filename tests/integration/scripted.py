"""Small real adapters for tests of the runner, each doing one thing and remembering it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragablate.protocols import GateRequest, SearchRequest
from ragablate.records import Answer, Corpus, GateDecision, Hit, Item, Searches, SearchResult

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


class CountsWords:
    """A retriever that finds one passage and tells how many words were searched."""

    def retrieve(self, corpus: Corpus, requests: Sequence[SearchRequest]) -> Iterator[SearchResult]:
        for request in requests:
            found = (Hit(corpus.passages[0].pid, 1.0),)
            told = {"words": float(len(request.text.split()))}
            yield SearchResult(request.id, found, signals=told)


class WantsWords:
    """A gate that goes on at so many words, as the retriever counted them."""

    def __init__(self, words: float) -> None:
        self.words = words

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        for request in requests:
            enough = request.signals["words"] >= self.words
            yield Item(request.id, GateDecision("go" if enough else "refuse"))


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


def relevant(question: str, passages: Sequence[str], prompt: str) -> str:
    """A yes with the first sentence shown, a no or neither, by the length of the question."""
    shown = prompt.split("<passage 1>\n")[1].split("\n</passage 1>")[0]
    return (f'YES: "{shown}"', "NO: what was asked", "Hm.")[len(question) % 3]

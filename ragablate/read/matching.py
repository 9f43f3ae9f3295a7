"""How well a sentence of a context fits a question, by the words they share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import Any

from ragablate.read.evidence import Shown
from ragablate.retrieve.analyze import TextAnalyzer
from ragablate.text.sentences import sentences

_ASKING = (
    "what when where which who whom whose why how many much did do does done has have had having "
    "he her him his she its been being were am can could may might must shall should would i me my "
    "we our you your any each some than so about from name"
)
"""English words that say how a question is put, not what it is about."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts in a match, each in [0, 1]."""

    passage: float
    """Credit for a word of the question that only the rest of the passage has."""
    bigram: float
    """Share of adjacent pairs in the score, the rest being single words."""
    position: float
    """What a sentence of the last passage loses against one of the first."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may answer."""

    passage: int
    """Index of its passage in the context, from 0."""
    text: str
    """Verbatim."""
    terms: tuple[str, ...]
    """Its words as the analyzer has them, in order."""


def candidates(passages: Sequence[Shown], analyzer: TextAnalyzer) -> list[Candidate]:
    """All sentences of a context, in reading order."""
    found = []
    for index, passage in enumerate(passages):
        for start, end in sentences(passage.body):
            text = passage.body[start:end]
            found.append(Candidate(index, text, tuple(analyzer.terms(text))))
    return found


class Matcher:
    """Scores the sentences of one context for one question.

    1. A word weighs less the more sentences of the context hold it: the fourth root of 1/n,
       where n do; one that none holds weighs 1. Stop words weigh nothing. The number of all
       sentences does not count, so that a score means the same in a short context.
    2. A sentence scores the share of the question's weight that its words have; words that
       only the rest of its passage has, title included, count in part.
    3. The same share of adjacent pairs is mixed in, and a late position costs a share.

    Args:
        question: The question's text.
        passages: The context.
        found: Its sentences.
        analyzer: Makes words of text, and drops its language's stop words.
        language: Of English questions the words of asking are dropped too, unless there are
            no others.
    """

    def __init__(
        self,
        question: str,
        passages: Sequence[Shown],
        found: Sequence[Candidate],
        analyzer: TextAnalyzer,
        language: str,
    ) -> None:
        terms = _asked(question, analyzer, language)
        self._weights = _weights(terms, found)
        self._pairs = {pair: fsum(self._weights[t] for t in pair) for pair in pairwise(terms)}
        self._around = [frozenset(analyzer.terms(p.text)) for p in passages]

    def score(self, candidate: Candidate, weights: Weights) -> float:
        """How well the sentence fits, in [0, 1]; 0 where the question has no words."""
        held = set(candidate.terms)
        score = _share(self._weights, held)
        rest = self._around[candidate.passage] - held
        score += weights.passage * _share(self._weights, rest)
        if self._pairs:
            pairs = _share(self._pairs, set(pairwise(candidate.terms)))
            score += weights.bigram * (pairs - score)
        return score * (1 - weights.position * candidate.passage / max(len(self._around) - 1, 1))


def _asked(question: str, analyzer: TextAnalyzer, language: str) -> list[str]:
    terms = analyzer.terms(question)
    if language != "en":
        return terms
    asking = frozenset(analyzer.terms(_ASKING))
    return [term for term in terms if term not in asking] or terms


def _weights(terms: Sequence[str], found: Sequence[Candidate]) -> dict[str, float]:
    holders = Counter(term for candidate in found for term in set(candidate.terms))
    # Square roots are rounded alike on every machine; powers and logarithms are not.
    return {term: 1 / math.sqrt(math.sqrt(max(holders[term], 1))) for term in terms}


def _share(weights: Mapping[Any, float], held: Set[Any]) -> float:
    """The share of all weight that falls on what is held, added up in one fixed order."""
    # fsum, because the built-in sum rounds differently from Python 3.12 on.
    total = fsum(weights.values())
    return fsum(w for key, w in weights.items() if key in held) / total if total else 0.0

"""How well a sentence of a context fits a question, by the words they share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragablate.read.evidence import Shown
from ragablate.text.sentences import sentences
from ragablate.text.stems import stem
from ragablate.text.words import words

_FUNCTION_WORDS = frozenset(
    {
        "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
        "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does",
        "during", "each", "for", "from", "had", "has", "have", "having", "he", "her", "him", "his",
        "how", "i", "if", "in", "into", "is", "it", "its", "itself", "many", "may", "more", "most",
        "much", "must", "no", "not", "of", "on", "or", "other", "our", "out", "over", "s", "she",
        "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
        "these", "they", "this", "those", "through", "to", "under", "up", "was", "we", "were",
        "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with",
        "would", "you", "your",
    }
)  # fmt: skip
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
    """The stems of its words, in order."""


def candidates(passages: Sequence[Shown], language: str | None) -> list[Candidate]:
    """All sentences of a context, in reading order."""
    found = []
    for index, passage in enumerate(passages):
        for start, end in sentences(passage.body):
            text = passage.body[start:end]
            found.append(Candidate(index, text, _stems(words(text), language)))
    return found


class Matcher:
    """Scores the sentences of one context for one question.

    1. A word weighs ``log(1 + N / (n + 0.5))``, where n of the context's N sentences hold it;
       one that none holds weighs as if one did. English function words of the question weigh
       nothing, unless it has no others.
    2. A sentence scores the share of the question's weight that its words have; words that
       only the rest of its passage has, title included, count in part.
    3. The same share of adjacent pairs is mixed in, and a late position costs a share.

    Args:
        question: The question's text.
        passages: The context.
        found: Its sentences.
        language: Snowball stemmer; ``None`` compares words as they are.
    """

    def __init__(
        self,
        question: str,
        passages: Sequence[Shown],
        found: Sequence[Candidate],
        language: str | None,
    ) -> None:
        terms = _stems(_content(words(question), language), language)
        self._idf = _idf(terms, found)
        self._pairs = {pair: sum(self._idf[t] for t in pair) for pair in pairwise(terms)}
        self._around = [frozenset(_stems(words(p.text), language)) for p in passages]

    def score(self, candidate: Candidate, weights: Weights) -> float:
        """How well the sentence fits, in [0, 1]; 0 where the question has no words."""
        held = set(candidate.terms)
        score = _share(self._idf, held)
        rest = self._around[candidate.passage] - held
        score += weights.passage * _share(self._idf, rest)
        if self._pairs:
            pairs = _share(self._pairs, set(pairwise(candidate.terms)))
            score += weights.bigram * (pairs - score)
        return score * (1 - weights.position * candidate.passage / max(len(self._around) - 1, 1))


def _stems(found: Iterable[str], language: str | None) -> tuple[str, ...]:
    return tuple(stem(word, language) for word in found)


def _content(found: Sequence[str], language: str | None) -> Sequence[str]:
    if language != "english":
        return found
    return [word for word in found if word not in _FUNCTION_WORDS] or found


def _idf(terms: Sequence[str], found: Sequence[Candidate]) -> dict[str, float]:
    holders = Counter(term for candidate in found for term in set(candidate.terms))
    return {term: math.log1p(len(found) / (max(holders[term], 1) + 0.5)) for term in terms}


def _share(weights: Mapping[Any, float], held: Set[Any]) -> float:
    """The share of all weight that falls on what is held, added up in one fixed order."""
    total = sum(weights.values())
    return sum(w for key, w in weights.items() if key in held) / total if total else 0.0

"""Whether the questions stand in the corpus together with their answers.

An evaluation file that was indexed makes every retriever look good and every reader look
informed. Texts are compared as words, without case and punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragablate.records import Gold, Passage, Question
from ragablate.text.scripts import SPACELESS

_GRAM = 4
_A_LIST = 3

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leakage:
    """Which questions a corpus gives away."""

    leaked: tuple[str, ...]
    """Qids, sorted."""
    too_short: int
    """Questions of fewer than four words, which ordinary text may hold by chance."""


def leakage(
    questions: Sequence[Question], gold: Mapping[str, Gold], passages: Iterable[Passage]
) -> Leakage:
    """Look for questions in passages, in one pass.

    1. One stretch of four words of every question, its longest in characters, is looked up
       in the stretches of every passage.
    2. Where it is found, the passage leaks the question if it holds the whole question and,
       outside it, one of the reference answers.
    3. A passage that holds three whole questions or more leaks them all: it is a part of a
       list of questions, whether or not it was cut before their answers.
    """
    wanted: dict[tuple[str, ...], list[str]] = {}
    asked: dict[str, str] = {}
    for question in questions:
        words = _words(question.text)
        if len(words) >= _GRAM:
            asked[question.qid] = _joined(words)
            wanted.setdefault(max(_grams(words), key=lambda g: sum(map(len, g))), []).append(
                question.qid
            )
    answers = {qid: [_joined(_words(a)) for a in gold[qid].answers if _words(a)] for qid in asked}
    leaked: set[str] = set()
    for passage in passages:
        words = _words(f"{passage.title}\n{passage.text}")
        found = [qid for gram in set(_grams(words)) & wanted.keys() for qid in wanted[gram]]
        if found:
            leaked |= _given_away(_joined(words), found, asked, answers)
    return Leakage(tuple(sorted(leaked)), len(questions) - len(asked))


def _given_away(
    text: str, qids: Sequence[str], asked: Mapping[str, str], answers: Mapping[str, Sequence[str]]
) -> set[str]:
    whole = [qid for qid in qids if asked[qid] in text]
    if len({asked[qid] for qid in whole}) >= _A_LIST:
        return set(whole)
    return {
        qid
        for qid in whole
        if any(answer in text.replace(asked[qid], " | ") for answer in answers[qid])
    }


def _grams(words: Words) -> list[tuple[str, ...]]:
    return list(zip(*(words[i:] for i in range(_GRAM)), strict=False))


def _joined(words: Words) -> str:
    """Words with white space around each, so that a part of a word is no match."""
    return f" {' '.join(words)} "


def _words(text: str) -> Words:
    form = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return tuple(_pattern().findall(form.casefold()))


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"[{SPACELESS}]|[^\W_{SPACELESS}]+")

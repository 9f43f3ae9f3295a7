"""Which figures of the gold a question asks about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ragablate.judge.content import content_words
from ragablate.judge.figure_tracing import ABOUT, figured_sentences, share_held
from ragablate.judge.figures import Facts, Figure, facts, figures, kinds, stated
from ragablate.records import ResolvedGold

_DATES, _SHARES, _NUMBERS = ("date", "year"), ("percentage",), ("number", "percentage")
# What asks for a figure, and of which kinds; the first that is found decides.
_CUES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"\bpercent(?:age)?\b|\bwhat (?:share|proportion)\b|\bprozent|\banteil\b|\bporcentaje\b"
        r"|\bpourcentage\b|百分|比例|割合|نسبة",
        _SHARES,
    ),
    (
        r"\bwhen\b|\b(?:what|which) (?:year|date|day|month)\b|\bwann\b"
        r"|\bwelche[mnrs]? (?:jahr|datum|tag|monat)\b|\bcuándo\b|\bqué (?:año|fecha|día|mes)\b"
        r"|\bquand\b|\bquelle? (?:année|date|jour|mois)\b|何时|什么时候|什麼時候|哪一?年|几月"
        r"|いつ|何年|\bمتى\b|أي (?:عام|سنة|تاريخ|يوم)",
        _DATES,
    ),
    (
        r"\bhow (?:many|much|long|old|far|tall|high|large|big|often|fast|heavy|deep|wide)\b"
        r"|\bwhat (?:\w+ )?(?:number|amount|price|cost|size|length|height|limit|rate|age)\b"
        r"|\bwie (?:viele?|lange?|alt|hoch|weit|groß|oft|schnell|schwer|tief|breit|teuer)\b"
        r"|\bcuánt[oa]s?\b|\bqué (?:número|cantidad|precio|tamaño|edad)\b|\bcombien\b"
        r"|\bquel(?:le)? (?:nombre|prix|taille|âge|hauteur)\b|多少|几[个人天次年]|多[大长高远久]"
        r"|いくつ|いくら|何[人個回]|\bكم\b",
        _NUMBERS,
    ),
)

Asked = tuple[tuple[Figure, str], ...]
"""Figures, each with the pid of the gold passage that states it."""


def asked_figures(
    question: str, references: Sequence[str], gold: ResolvedGold
) -> tuple[Asked, ...]:
    """The figures of the gold that a question asks about; alternatives, any of which will do.

    1. Where every reference answer has a figure: those of it that a gold passage states, one
       alternative per reference. Where only some have one, an answer can do without: none.
    2. Where no reference has a figure: those of the kind that the question asks for (when, how
       many, what percentage) in the sentence of the gold that has most of its words, at least
       half. Of plain numbers those that could be a year only where there is no other.

    Figures of the question are never asked about. Empty where there are none.
    """
    pieces = list(_pieces(gold))
    known = facts(question)
    given = [reference for reference in references if reference.strip()]
    figured = [bool(figures(reference)) for reference in given]
    if not any(figured):
        by_kind = tuple(_of_kind(question, pieces, known))
        return (by_kind,) if by_kind else ()
    if not all(figured):
        return ()
    told = [tuple(_told(reference, pieces, known)) for reference in given]
    return tuple(each for each in told if each)


def _pieces(gold: ResolvedGold) -> Iterator[tuple[str, str]]:
    """Pid and text of every piece of the gold."""
    for part in gold.parts:
        for alternative in part:
            for found in alternative.passages:
                for text in found.evidence or (found.passage.body,):
                    yield found.passage.pid, text


def _told(
    reference: str, pieces: Sequence[tuple[str, str]], known: Facts
) -> Iterator[tuple[Figure, str]]:
    for figure in figures(reference):
        if stated(figure, known):
            continue
        pid = next((pid for pid, text in pieces if stated(figure, facts(text))), None)
        if pid is not None:
            yield figure, pid


def _of_kind(
    question: str, pieces: Sequence[tuple[str, str]], known: Facts
) -> Iterator[tuple[Figure, str]]:
    wanted = _kinds_asked(question)
    words = content_words(question)
    found = [
        (-share_held(words, sentence), place, pid, inside)
        for place, (pid, text) in enumerate(pieces)
        for sentence, inside in figured_sentences(text)
        if share_held(words, sentence) >= ABOUT
    ]
    if not wanted or not words or not found:
        return
    _, _, pid, inside = min(found, key=lambda each: each[:2])
    own = [placed.figure for placed in inside if not stated(placed.figure, known)]
    fitting = [figure for figure in own if kinds(figure) & wanted]
    if not fitting and "number" in wanted:
        fitting = [figure for figure in own if kinds(figure) == {"year"}]
    yield from ((figure, pid) for figure in fitting)


@lru_cache(maxsize=4096)
def _kinds_asked(question: str) -> frozenset[str]:
    for cue, asked in _cues():
        if cue.search(question):
            return frozenset(asked)
    return frozenset()


@lru_cache(maxsize=1)
def _cues() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    return tuple((re.compile(cue, re.IGNORECASE), asked) for cue, asked in _CUES)

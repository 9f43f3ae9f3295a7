"""Where the figures of an answer come from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal

from ragablate.judge.claims import claims_in
from ragablate.judge.content import content_words, vocabulary
from ragablate.judge.figures import Figure, facts, figures_at, kinds, stated, unfigured
from ragablate.judge.lexical import Lexical
from ragablate.judge.support import Ask
from ragablate.judge.units import same_kind, unit_beside
from ragablate.records import Claim, ContextPassage
from ragablate.text.sentences import sentences

ABOUT = 0.5
"""Share of a claim's other words that a sentence must hold to be about the same thing."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One figure where it stands."""

    figure: Figure
    start: int
    """Its first character in the text it is taken from."""
    end: int
    """One past its last character."""
    unit: str
    """In one spelling; empty where none is known."""
    text: str
    """Verbatim, with the unit."""


Figured = tuple[tuple[str, tuple[Placed, ...]], ...]
"""Sentences and their figures."""


@lru_cache(maxsize=8192)
def placed_figures(text: str) -> tuple[Placed, ...]:
    """The figures of a text in order, with their units."""
    found = []
    for start, figure in figures_at(text):
        end = start + len(figure.text)
        unit, first, last = unit_beside(text, start, end)
        found.append(Placed(figure, start, end, unit, text[first:last]))
    return tuple(found)


@lru_cache(maxsize=4096)
def figured_sentences(text: str) -> Figured:
    """The sentences of a text that have a figure."""
    lines = (line[start:end] for line in text.split("\n") for start, end in sentences(line))
    return tuple((line, placed_figures(line)) for line in lines if placed_figures(line))


def share_held(words: frozenset[str], text: str) -> float:
    """The share of ``words`` that a text holds, in [0, 1]; 1 without any."""
    return len(words & vocabulary(text)) / len(words) if words else 1.0


def traced_figures(
    answer: str,
    passages: Sequence[ContextPassage],
    asked: Sequence[str] = (),
    pids: Collection[str] = (),
) -> tuple[Claim, ...]:
    """Every figure of an answer, and the passage that states it.

    ``supported``: one passage states the value, or the date, and not only with another unit.
    ``contradicted``: one states it with another unit of the same kind (days, weeks), or says the
    claim with another figure (as ``Lexical`` has it). ``vague``: a sentence about the same thing
    has a figure that the answer's is rounded from, "15 %" of 14.5 %. Else ``unsupported``.

    Args:
        answer: What was said.
        passages: What the reader was given, headers included.
        asked: The question and earlier turns, whose figures are left out: repeating them proves
            nothing.
        pids: Those the answer's citation markers may name.

    Returns:
        Claims in the order of the answer: the figure with its unit as written, what the passages
        say of it, the pid that decides (the passage that holds most of the words around the
        figure, ties by pid), and the sentence of it.
    """
    given = [facts(text) for text in asked]
    return tuple(
        _Sought(claim, placed).traced(passages)
        for claim in claims_in(answer, pids)
        for placed in placed_figures(claim)
        if not any(stated(placed.figure, said) for said in given)
    )


class _Sought:
    """One figure of a claim, and the words around it."""

    def __init__(self, claim: str, placed: Placed) -> None:
        self._claim = claim
        self._placed = placed
        self._words = content_words(unfigured(claim))

    def traced(self, passages: Sequence[ContextPassage]) -> Claim:
        holding = [p for p in passages if stated(self._placed.figure, facts(p.text))]
        for status in ("supported", "contradicted"):
            found = [p for p in holding if self._unit(p.text) == status]
            if found:
                best = min(found, key=lambda p: (-share_held(self._words, p.text), p.pid))
                return Claim(self._text, status, best.pid, self._quote(best.text))
        return self._rounded(passages) or self._rival(passages)

    @property
    def _text(self) -> str:
        return self._placed.text

    def _unit(self, text: str) -> Literal["supported", "contradicted", "unsupported"]:
        """What a text that states the value says of its unit; nothing known is agreement."""
        units = {other.unit for other in placed_figures(text) if self._same_value(other)}
        own = self._placed.unit
        if not own or not units or units & {own, ""}:
            return "supported"
        return "contradicted" if any(same_kind(own, unit) for unit in units) else "unsupported"

    def _same_value(self, other: Placed) -> bool:
        return stated(self._placed.figure, other.figure.says)

    def _quote(self, text: str) -> str:
        """The sentence of a passage that has the figure and most of the words around it."""
        found = [
            (-share_held(self._words, sentence), place, sentence)
            for place, (sentence, inside) in enumerate(figured_sentences(text))
            if any(self._same_value(other) for other in inside)
        ]
        return min(found)[2] if found else ""

    def _rounded(self, passages: Sequence[ContextPassage]) -> Claim | None:
        found = [
            (-share_held(self._words, sentence), passage.pid, sentence)
            for passage in passages
            for sentence, inside in figured_sentences(passage.text)
            if any(_rounds(self._placed, other) for other in inside)
            and share_held(self._words, sentence) >= ABOUT
        ]
        return Claim(self._text, "vague", *min(found)[1:]) if found else None

    def _rival(self, passages: Sequence[ContextPassage]) -> Claim:
        [said] = Lexical().check([Ask(self._claim, tuple(passages))])
        if said.status == "contradicted":
            return Claim(self._text, "contradicted", said.pid, said.quote)
        return Claim(self._text, "unsupported")


def _rounds(placed: Placed, other: Placed) -> bool:
    """Whether a figure is another one with fewer digits: 15 % of 14.5 %, 50 of 48."""
    units = {placed.unit, other.unit}
    if not kinds(placed.figure) & kinds(other.figure) or (len(units) == 2 and "" not in units):
        return False
    return any(
        _digits(value) < _digits(exact) and abs(value - exact) <= _step(value) / 2
        for value in _values(placed.figure)
        for exact in _values(other.figure)
    )


def _values(figure: Figure) -> Iterator[Decimal]:
    for way in figure.ways:
        if len(way) == 1 and "date" not in kinds(figure):
            yield from _decimal(next(iter(way)).removesuffix("%"))


def _decimal(text: str) -> Iterator[Decimal]:
    try:
        yield Decimal(text).normalize()
    except InvalidOperation:
        return


def _digits(value: Decimal) -> int:
    return len(value.as_tuple().digits)


def _step(value: Decimal) -> Decimal:
    """What the last digit that is no trailing zero is worth."""
    return Decimal(1).scaleb(int(value.as_tuple().exponent))

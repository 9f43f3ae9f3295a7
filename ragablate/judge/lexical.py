"""Support without a model: the words, names and figures of a claim looked up in a passage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from ragablate.judge.content import content_words, denies, denies_plainly, names, vocabulary
from ragablate.judge.figures import Figure, facts, figures, kinds, stated, unfigured
from ragablate.judge.support import Ask
from ragablate.records import Claim, ContextPassage
from ragablate.text.sentences import sentences

_COMMAS = re.compile(r"\s*[,;:，；：、،؛()（）]\s+|[，；：、（）]|\s[–—-]\s")
_NEARLY = 0.6
"""Share of a stretch's words that a claim must repeat in order to be about the same thing."""


class Lexical:
    """``lexical``: words are compared, not meanings.

    A passage, its header included, supports a claim if it holds at least ``threshold`` of the
    claim's content words, all its names and all its figures, and a word of denial where the claim
    has one. It contradicts a claim that it does not support if one of its sentences holds those
    words and names with another figure of the same kind (a year, a date, a percentage, a number)
    in place of one that the passage does not state; or if a stretch of it between two commas says
    almost nothing but the claim, and exactly one of the two denies it. A paraphrase is
    unsupported, as is a claim that needs two passages.

    Args:
        threshold: Share of a claim's content words that one passage must hold, in (0, 1].
        match_names: Whether every capitalised word behind the first must be held, too.
    """

    cheap = True

    def __init__(self, threshold: float = 0.8, match_names: bool = True) -> None:
        self.threshold = threshold
        self.match_names = match_names

    def problems(self) -> list[str]:
        """A threshold out of range."""
        if 0 < self.threshold <= 1:
            return []
        return [f"threshold is {self.threshold}: set it above 0 and up to 1"]

    def check(self, asks: Sequence[Ask]) -> list[Claim]:
        """What the passages say of each claim."""
        return [self._claim(ask.claim, ask.passages) for ask in asks]

    def _claim(self, claim: str, passages: Sequence[ContextPassage]) -> Claim:
        sought = _Sought(claim, self.threshold, self.match_names)
        best: tuple[float, str] | None = None
        against: list[tuple[str, str]] = []
        for passage in passages:
            share = sought.share(vocabulary(passage.text))
            denied = sought.denied_in(passage.text) if share is not None else ""
            if share is not None and not denied and sought.carried_by(passage.text):
                best = min(best or (1.0, passage.pid), (-share, passage.pid))
                continue
            told = denied or sought.other_figure_in(passage.text)
            against += [(passage.pid, told)] if told else []
        if best is not None:
            return Claim(claim, "supported", best[1])
        if against:
            return Claim(claim, "contradicted", *min(against))
        return Claim(claim, "unsupported")


class _Sought:
    """What a passage must hold to carry a claim."""

    def __init__(self, claim: str, threshold: float, match_names: bool) -> None:
        self._claim = claim
        self._words = content_words(claim)
        self._names = names(claim) if match_names else frozenset[str]()
        self._figures = figures(claim)
        self._denies = denies(claim)
        self._plainly = denies_plainly(claim)
        self._threshold = threshold

    def share(self, held: frozenset[str]) -> float | None:
        """The share of the words that are held; ``None`` where words or names are missing."""
        share = len(self._words & held) / len(self._words) if self._words else 1.0
        return share if share >= self._threshold and self._names <= held else None

    def carried_by(self, text: str) -> bool:
        said = facts(text)
        return all(stated(f, said) for f in self._figures) and self._denies <= denies(text)

    def denied_in(self, text: str) -> str:
        """The stretch that says the claim with or without the denial it lacks or has, if any.

        None where another stretch says it as the claim does.
        """
        if not self._words or (not self._denies and not denies(text)):
            return ""
        found = ""
        for stretch, words, denied in _stretches(text):
            if self.share(words) is None or not self._about(stretch):
                continue
            if denied == self._plainly:
                return ""
            found = found or (stretch if self._told_in(stretch) else "")
        return found

    def other_figure_in(self, text: str) -> str:
        """The sentence that has another figure in place of one the text does not state, if any."""
        if not self._figures:
            return ""
        said = facts(text)
        lost = [f for f in self._figures if not stated(f, said)]
        if not lost:
            return ""
        around = self._around
        if not around._words or around.share(vocabulary(text)) is None:
            return ""
        for sentence, rest, own in _figured(text):
            told = around.share(vocabulary(rest)) is not None and around._about(rest)
            if told and _rivals(lost, own):
                return sentence
        return ""

    @cached_property
    def _around(self) -> _Sought:
        """The same without its figures."""
        return _Sought(unfigured(self._claim), self._threshold, bool(self._names))

    def _about(self, piece: str) -> bool:
        own = content_words(piece)
        return len(own & self._words) >= _NEARLY * len(own)

    def _told_in(self, piece: str) -> bool:
        said = facts(piece)
        return all(stated(f, said) for f in self._figures)


def _rivals(lost: Sequence[Figure], own: Sequence[Figure]) -> bool:
    return all(any(kinds(figure) & kinds(other) for other in own) for figure in lost)


@lru_cache(maxsize=4096)
def _stretches(text: str) -> tuple[tuple[str, frozenset[str], bool], ...]:
    """Pieces between commas and stops: verbatim, words, and whether it denies what it says."""
    return tuple(
        (piece, vocabulary(piece), denies_plainly(piece))
        for sentence in _sentences(text)
        for piece in _COMMAS.split(sentence)
        if piece.strip()
    )


@lru_cache(maxsize=4096)
def _figured(text: str) -> tuple[tuple[str, str, tuple[Figure, ...]], ...]:
    """Sentences with a figure: verbatim, without their figures, the figures."""
    found = ((s, tuple(figures(s))) for s in _sentences(text))
    return tuple((s, unfigured(s), own) for s, own in found if own)


def _sentences(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield from (line[start:end] for start, end in sentences(line))

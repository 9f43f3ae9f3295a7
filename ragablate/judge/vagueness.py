"""Words of an answer that stand where a source has a figure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from ragablate.judge.claims import claims_in
from ragablate.judge.content import content_words, names, vocabulary
from ragablate.judge.figure_tracing import ABOUT, Placed, figured_sentences, share_held
from ragablate.judge.figures import Facts, facts, stated, unfigured
from ragablate.judge.vague_words import vague_words
from ragablate.records import Claim, ContextPassage
from ragablate.text.scripts import SPACELESS

_NEAR = (4, 8)
"""Words, and letters of a script without spaces, on each side of a figure."""
_NEXT = (2, 4)
"""The same, on one side of a vague word."""


def vague_claims(
    answer: str,
    passages: Sequence[ContextPassage],
    asked: Sequence[str] = (),
    pids: Collection[str] = (),
) -> tuple[Claim, ...]:
    """Words of an answer that stand where a passage has a figure: "small teams", "under 50 seats".

    Found where a claim has a word of size, number, time or cost, and a sentence of a passage,
    which has at least half of the claim's other words and its names, has a figure near what the
    word belongs to. None where a passage that is about it has the vague word too, and none
    for figures that the answer or the question states.

    Args:
        answer: What was said.
        passages: What the reader was given, headers included.
        asked: The question and earlier turns.
        pids: Those the answer's citation markers may name.

    Returns:
        Claims of status ``vague`` in the order of the answer, each once: the vague word with what
        follows it, the passage, and the sentence of it that has the figure.
    """
    known = [facts(answer), *(facts(text) for text in asked)]
    found: dict[Claim, None] = {}
    for claim in claims_in(answer, pids):
        for start, end in vague_words(claim):
            hit = _Vague(claim, start, end).replaced(passages, known)
            if hit is not None:
                found[hit] = None
    return tuple(found)


class _Vague:
    """One vague word of a claim, and what it belongs to."""

    def __init__(self, claim: str, start: int, end: int) -> None:
        # A mark in place of the word keeps the letters on its sides from becoming neighbours.
        self._rest = f"{claim[:start]}, {claim[end:]}"
        self._word = content_words(claim[start:end])
        follows, before = _first(claim[end:], _NEXT), _last(claim[:start], _NEAR)
        behind = content_words(follows)
        self._owner = _roots(behind or content_words(before))
        space = " " if claim[end : end + 1].isspace() else ""
        word = claim[start:end]
        self._text = f"{word}{space}{follows}" if behind else f"{before} {word}"

    def replaced(self, passages: Sequence[ContextPassage], known: Sequence[Facts]) -> Claim | None:
        """The finding, if some passage has a figure in place of the word."""
        wanted = content_words(unfigured(self._rest))
        about = [p for p in passages if share_held(wanted, p.text) >= ABOUT]
        if not self._owner or any(self._word <= vocabulary(p.text) for p in about):
            return None
        found = [
            (-share_held(wanted, sentence), passage.pid, sentence)
            for passage in about
            if names(self._rest) <= vocabulary(passage.text)
            for sentence, inside in figured_sentences(passage.text)
            if share_held(wanted, sentence) >= ABOUT
            and any(self._beside(sentence, placed, known) for placed in inside)
        ]
        return (
            Claim(self._text.strip(" .,;:!?。，；：！？؟،؛"), "vague", *min(found)[1:])
            if found
            else None
        )

    def _beside(self, sentence: str, placed: Placed, known: Sequence[Facts]) -> bool:
        if any(stated(placed.figure, said) for said in known):
            return False
        left, right = _last(sentence[: placed.start], _NEAR), _first(sentence[placed.end :], _NEAR)
        return not self._owner.isdisjoint(_roots(vocabulary(left) | vocabulary(right)))


def _first(text: str, most: tuple[int, int]) -> str:
    kept = " ".join(text.split()[: most[0]])
    return kept[: most[1]] if _spaceless().search(kept) else kept


def _last(text: str, most: tuple[int, int]) -> str:
    kept = " ".join(text.split()[-most[0] :])
    return kept[-most[1] :] if _spaceless().search(kept) else kept


def _roots(words: Collection[str]) -> frozenset[str]:
    """Words without the plural that English, Spanish and French write."""
    return frozenset(word.removesuffix("s") for word in words)


@lru_cache(maxsize=1)
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]")

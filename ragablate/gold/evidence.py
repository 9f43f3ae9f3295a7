"""Where in a text the evidence stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ragablate.text.scripts import HANGUL, SPACELESS

_POLAR = frozenset({"yes", "no"})


def anchored(text: str, start: int, end: int) -> str:
    """The stretch ``text[start:end]`` without outer white space, as a piece to look for.

    Where the same characters stand further ahead too, the piece is extended to the left
    until it is the first of its kind and begins with a character to see. So a text cut
    before ``end`` never holds it, and a text cut behind never misses it.
    """
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    end -= len(stretch) - len(stretch.rstrip())
    while start < end and (_repeats(text, start, end) or (text[start].isspace() and start)):
        start -= 1
    return text[start:end]


def _repeats(text: str, start: int, end: int) -> bool:
    return text.find(text[start:end]) < start


def spot(text: str, answers: Iterable[str]) -> tuple[int, int] | None:
    """The first occurrence of the shortest reference answer that occurs in a text.

    Case and the kind and amount of white space do not matter. In scripts with spaces the
    answer must not begin or end within a word or number (``3`` does not occur in ``1913``).
    ``yes`` and ``no`` are never looked for: where they occur says nothing.
    """
    folded, places = _fold(text)
    wanted = {_fold(answer.strip())[0] for answer in answers} - _POLAR - {""}
    for answer in sorted(wanted, key=lambda a: (len(a), a)):
        at = folded.find(answer)
        while at >= 0:
            if _stands_alone(folded, at, at + len(answer)):
                return places[at], places[at + len(answer) - 1] + 1
            at = folded.find(answer, at + 1)
    return None


def _fold(text: str) -> tuple[str, list[int]]:
    """The text in one case with single spaces, and where each character comes from."""
    folded: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char.isspace():
            if folded and folded[-1] == " ":
                continue
            char = " "
        for piece in char.casefold():
            folded.append(piece)
            places.append(place)
    return "".join(folded), places


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = start > 0 and _joined(text[start - 1], text[start])
    after = end < len(text) and _joined(text[end - 1], text[end])
    return not before and not after


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word, in a script that has spaces."""
    if unicodedata.category(right).startswith("M"):
        return True
    return all(char.isalnum() and not _unspaced().match(char) for char in (left, right))


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}{HANGUL}]")

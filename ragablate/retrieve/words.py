"""Cutting text of any script into words, and words without spaces into bigrams."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from ragablate.text.scripts import SPACELESS, marks

_ASCII = r"[a-zA-Z0-9]+(?:(?:(?<=[0-9])[.,](?=[0-9]){apostrophe})[a-zA-Z0-9]+)*"
_ZERO_WIDTH_SPACE = "\u200b"  # separates words in Thai, Khmer, Lao and Myanmar text
_OPTIONAL = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points and accents
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"  # Arabic
    "\u00ad\u061c\u180e\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"  # invisible
)
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\u201b\u2032]")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")


def unify(text: str, lowercase: bool) -> str:
    """One spelling for what readers take to be the same.

    Compatibility forms are unified (NFKC), digits of all scripts become ASCII digits,
    typographic apostrophes plain ones; optional vowel points of Arabic and Hebrew, tatweel
    and invisible characters go; a zero-width space is a space.
    """
    if text.isascii():
        return text.lower() if lowercase else text
    text = unicodedata.normalize("NFKC", text)
    if lowercase:
        text = unicodedata.normalize("NFKC", text.lower())
    text = _OPTIONAL.sub("", text.replace(_ZERO_WIDTH_SPACE, " "))
    text = _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    return _APOSTROPHES.sub("'", text)


def cut(text: str, apostrophes: bool) -> list[str]:
    """The runs of letters, marks and digits of unified ``text``, in order.

    A point or comma between digits stays inside; everything else separates, an underscore
    too. Letters of scripts without spaces make runs of their own.

    Args:
        text: As ``unify`` returns it.
        apostrophes: Whether an apostrophe between letters stays inside, as English needs
            (*don't*); elsewhere it separates (*l'eau*, *Türkiye'nin*).
    """
    return _pattern(text.isascii(), apostrophes).findall(text)


def is_spaceless(run: str) -> bool:
    """Whether a run is of a script without spaces between words."""
    return not run.isascii() and _spaceless()[0].match(run) is not None


def bigrams(run: str) -> tuple[str, ...]:
    """Overlapping pairs of characters with their marks; one alone stands for itself.

    As Lucene's ``CJKAnalyzer`` does for Han and Kana.
    """
    characters = _spaceless()[1].findall(run)
    if len(characters) == 1:
        return (run,)
    return tuple(a + b for a, b in pairwise(characters))


@lru_cache(maxsize=4)
def _pattern(ascii_only: bool, apostrophes: bool) -> re.Pattern[str]:
    if ascii_only:
        return re.compile(_ASCII.replace("{apostrophe}", "|'(?=[a-zA-Z])" if apostrophes else ""))
    letter, m = rf"[^\W_{SPACELESS}]", marks()
    word = rf"{letter}+(?:[{m}]+{letter}*)*"
    inside = r"(?<=\d)[.,](?=\d)" + (rf"|'(?=(?!\d){letter})" if apostrophes else "")
    return re.compile(rf"{word}(?:(?:{inside}){word})*|(?:[{SPACELESS}](?<=\w)[{m}]*)+")


@lru_cache(maxsize=1)
def _spaceless() -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(rf"[{SPACELESS}](?<=\w)"), re.compile(rf"[{SPACELESS}](?<=\w)[{marks()}]*")

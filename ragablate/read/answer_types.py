"""What kind of thing an English question asks for, and whether a sentence has one."""

from __future__ import annotations

import re
from typing import Literal

AnswerType = Literal["number", "name"]
"""A figure (also a date), or something with a name of its own."""

_NUMBER_WORDS = frozenset(
    {
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve", "twenty", "thirty", "forty", "fifty", "hundred", "thousand", "million",
        "billion", "half", "once", "twice",
    }
)  # fmt: skip
_NUMBER = re.compile(
    r"\bwhen\b|\bhow (?:many|much|old|long|far|tall|high|often|large|big)\b|\bpercent"
    r"|\b(?:what|which) (?:\w+ )?(?:year|date|day|month|decade|century|number|percentage)\b"
)
_NAME = re.compile(
    r"\b(?:who|whom|whose|where)\b|\b(?:what|which) (?:\w+ )?(?:city|country|person|name|team"
    r"|company|state|river|place)\b"
)


def answer_type(question: str) -> AnswerType | None:
    """What the question asks for; ``None`` where its wording leaves it open."""
    lowered = question.lower()
    if _NUMBER.search(lowered):
        return "number"
    return "name" if _NAME.search(lowered) else None


def has_type(kind: AnswerType, sentence: str, asked: frozenset[str]) -> bool:
    """Whether the sentence has such a thing that is not among the question's own words.

    Args:
        kind: What is asked for.
        sentence: Verbatim; a name is a capitalised word that is not its first.
        asked: Case-folded words of the question.
    """
    found = re.findall(r"\w+", sentence)
    fresh = [(i, word) for i, word in enumerate(found) if word.casefold() not in asked]
    if kind == "number":
        return any(_is_number(word) for _, word in fresh)
    return any(i > 0 and word[0].isupper() for i, word in fresh)


def _is_number(word: str) -> bool:
    return word.lower() in _NUMBER_WORDS or any(c.isdecimal() for c in word)

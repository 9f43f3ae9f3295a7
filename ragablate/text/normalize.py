"""When two answers say the same words.

``squad_normalize`` is the rule of the SQuAD evaluation script, letter for letter, for
numbers that must be comparable with published ones. ``answer_tokens`` is its sibling for
all scripts, which the measures of this package use by default.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ragablate.text.scripts import HANGUL, SPACELESS, marks

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CITATION = re.compile(
    r"[\[【]\s*(?:(?:pages?|pp?\.|doc(?:ument)?s?|sources?|passages?|refs?|seiten?|nr\.)\s*:?\s*)?"
    r"\d+(?:\s*[,;–-]\s*(?:(?:pages?|pp?\.)\s*)?\d+)*\s*(?:†[^\]】]*)?[\]】]",
    re.IGNORECASE,
)


def squad_normalize(text: str) -> str:
    """Normal form of the SQuAD evaluation (Rajpurkar et al. 2016): lower case, without ASCII
    punctuation, English articles and surplus white space. May be empty.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def strip_citations(text: str) -> str:
    """``text`` without citation markers such as ``[1]``, ``[2, 3]``, ``[page 212]``, ``【4】``."""
    return re.sub(r"[ \t]{2,}", " ", _CITATION.sub(" ", text)).strip()


def answer_tokens(text: str) -> list[str]:
    """The words an answer consists of, for comparison in any script.

    1. Citation markers go; compatibility forms (full-width letters, ligatures), case,
       decimal digits of other scripts, Arabic vowel signs and tatweel are unified.
    2. A number is one token with its sign and decimals: ``1,234.50`` is ``1234.50``,
       ``3,5`` is ``3.5``, ``-5`` is not ``5``.
    3. Apostrophes and the dots of abbreviations are deleted (``U.S.`` is ``us``); other
       punctuation and symbols separate words.
    4. Letters of scripts without spaces, and Hangul, whose particles are glued to words,
       are one token each.
    5. English articles go, unless nothing else is left.

    Text of which nothing is left (``+``, an emoji) is split at white space instead, so only
    blank text has no tokens.
    """
    form = _unify(strip_citations(text))
    tokens = [_number(m) if m["number"] else m[0] for m in _pattern().finditer(form)]
    words = [t for t in tokens if t not in ("a", "an", "the")]
    return words or tokens or text.casefold().split()


def occurs(reference: str, answer: str) -> bool:
    """Whether the tokens of ``reference`` stand in ``answer`` one after the other.

    A blank reference occurs nowhere.
    """
    return holds_sequence(answer_tokens(answer), answer_tokens(reference))


def holds_sequence(tokens: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether ``wanted`` is a contiguous stretch of ``tokens``; false where it is empty."""
    n = len(wanted)
    if n == 0:
        return False
    first, target = wanted[0], list(wanted)
    return any(
        token == first and list(tokens[i : i + n]) == target
        for i, token in enumerate(tokens[: len(tokens) - n + 1])
    )


def _unify(text: str) -> str:
    text = text.lower() if text.isascii() else _one_form(text)
    text = re.sub(r"['’‘ʼ`´]", "", text)
    return re.sub(r"(?<![^\W\d_])((?:[^\W\d_]\.){2,}(?:[^\W\d_](?![^\W\d_]))?)", _joined, text)


def _one_form(text: str) -> str:
    """Text of any script with what ``answer_tokens`` unifies in one form; ASCII has it in
    lower case.
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = re.sub("[\u0640\u064b-\u0652\u0670\u00ad\u200b-\u200f\u2060\ufeff]", "", text)
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return text.replace("\u066b", ".").replace("\u066c", ",").replace("\u2212", "-")


def _joined(match: re.Match[str]) -> str:
    return match[0].replace(".", "")


def _number(match: re.Match[str]) -> str:
    value = match[0]
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", value):
        return value.replace(",", "")
    if re.fullmatch(r"-?\d+,\d+", value):
        return value.replace(",", ".")
    return value


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    m, single = marks(), SPACELESS + HANGUL
    word = rf"(?:(?![{single}])[^\W_][{m}]*)"
    return re.compile(
        rf"(?P<number>(?:(?<![\w)\]%])-)?(?:\d+(?:[.,]\d+)+|\d+(?!{word})))"
        rf"|[{single}](?<=\w)[{m}]*"
        rf"|{word}+"
    )

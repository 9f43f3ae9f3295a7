"""The words of a sentence that say something: content words, names and denials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from ragablate.text.normalize import answer_tokens
from ragablate.text.scripts import HANGUL, SPACELESS

_LETTER = re.compile(f"[{SPACELESS}{HANGUL}]")
_BREAKS = re.compile(r"[^\w\s.'’´`ʼ%-]+")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
_LEADING = re.compile(r"^[^\w]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FUNCTION_WORDS = _set(
    # English
    "a an the and or but if of in on at by for from to with as into than then that this these "
    "those it its he she they them his her their there is are was were be been being am do does "
    "did has have had will would can could may might shall should must which who whom whose what "
    "when where how why i you we me my your our us also such so about over under between during "
    "yes "
    # German
    "der die das den dem des ein eine einen einem einer eines und oder aber wenn von im ins am "
    "an auf bei für aus zu zum zur mit als dass es er sie ihr ihre sein seine ist sind war waren "
    "wird werden wurde wurden hat haben hatte hatten kann können auch durch über unter nach vor "
    "sich wie was wer wo ja "
    # Spanish
    "el la los las un una unos unas y e o u pero de del al en por para con como que se su sus lo "
    "le les es son era eran fue fueron ser ha han había hay también entre sobre sí si "
    # French
    "les des du et ou mais au aux dans par pour avec ce cette ces qui est sont été sa ses son leur "
    "oui "
    # Arabic
    "في من على إلى الى عن مع و أو او ثم هو هي هم هذا هذه ذلك تلك التي الذي كان كانت "
    "قد أن ان إن نعم "
    # Han and Kana particles
    "的 了 是 在 和 与 與 为 為 被 把 于 於 也 而 及 以 之 は が を に の で と も へ"
)
_DENIALS = _set(
    "not no never none nor neither without cannot dont doesnt didnt isnt arent wasnt werent cant "
    "couldnt wont wouldnt hasnt havent hadnt shouldnt nicht nie niemals kein keine keinen keinem "
    "keiner ohne nunca ningún ninguna ninguno sin ne pas jamais sans لا ليس ليست لم لن "
    "不 没 沒 無 无 未"
)

_NOT_ONLY = re.compile(
    r"\bnot\s+(?:only|just|merely)\b|\bnicht\s+(?:nur|bloß)\b|\bno\s+(?:solo|sólo|solamente)\b"
    r"|\bnon\s+seulement\b|\bpas\s+seulement\b|\bno\s+(?:later|earlier|more|less|fewer)\s+than\b"
    r"|不[仅僅但只光]|不[同断斷管论論]|无论|無論|ليس\s+فقط",
    re.IGNORECASE,
)


def content_words(text: str) -> frozenset[str]:
    """What ``text`` says beyond function words, words of denial and figures.

    Words as ``answer_tokens`` has them; where words are not spaced, each pair of neighbouring
    letters, and a letter that stands alone.
    """
    found: set[str] = set()
    for run in _runs(text):
        found.update(_pairs(run) if len(run) > 1 and _LETTER.match(run[0]) else run)
    return frozenset(found - _DENIALS)


@lru_cache(maxsize=4096)
def vocabulary(text: str) -> frozenset[str]:
    """Everything that ``content_words`` and ``names`` of a sentence may find in ``text``.

    Neighbours are also the letters on both sides of a function word, for a sentence may
    leave it out.
    """
    held: set[str] = set()
    for piece in _pieces(text):
        held.update(*piece)
        held.update(_pairs([letter for run in piece for letter in run if _LETTER.match(letter)]))
        held.update(pair for run in piece for pair in _pairs(run))
    return frozenset(held)


def names(sentence: str) -> frozenset[str]:
    """Words with a capital letter behind the first word; every noun of a German sentence."""
    behind = [_LEADING.sub("", word) for word in _POSSESSIVE.sub("", sentence).split()[1:]]
    return frozenset(
        token for word in behind if word[:1].isupper() for run in _runs(word) for token in run
    )


@lru_cache(maxsize=4096)
def denies(text: str) -> bool:
    """Whether a word of denial stands in ``text``."""
    return not _DENIALS.isdisjoint(answer_tokens(text))


@lru_cache(maxsize=4096)
def denies_plainly(text: str) -> bool:
    """The same, but for "not only" and its like, which deny nothing."""
    return denies(_NOT_ONLY.sub(" ", text))


def _runs(text: str) -> Iterator[list[str]]:
    for piece in _pieces(text):
        yield from piece


def _pieces(text: str) -> Iterator[list[list[str]]]:
    """Between two marks of punctuation: one word, or letters that are neighbours, at a time.

    Function words and numbers are left out.
    """
    for stretch in _BREAKS.split(_POSSESSIVE.sub("", text)):
        piece: list[list[str]] = []
        joins = False
        for token in answer_tokens(stretch):
            letter = _LETTER.match(token) is not None
            if token in _FUNCTION_WORDS or not any(c.isalpha() for c in token):
                joins = False
            elif letter and joins:
                piece[-1].append(token)
            else:
                piece.append([token])
                joins = letter
        yield piece


def _pairs(run: list[str]) -> list[str]:
    return [first + second for first, second in pairwise(run)]

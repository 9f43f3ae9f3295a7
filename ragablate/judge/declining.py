"""Whether an answer declines to answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ragablate.judge.markers import Statement, marked_pids, statements
from ragablate.judge.outcome import gate_declined
from ragablate.records import Trace
from ragablate.text.normalize import answer_tokens

_ANYWHERE = "*"
# What ``answer_tokens`` deletes inside a word.
_DROPPED = re.compile("[\u0640\u064b-\u0652\u0670\u00ad\u200b-\u200f\u2060\ufeff]")
_MARKS = str.maketrans("", "", "'’‘ʼ`´.")
_TURNS = (
    "but", "however", "nevertheless", "nonetheless", "that said", "aber", "jedoch", "allerdings",
    "dennoch", "trotzdem", "pero", "sin embargo", "no obstante", "mais", "cependant", "toutefois",
    "però", "tuttavia", "mas", "porém", "но", "однако", "但", "不过", "不過", "然而", "しかし",
    "ただし", "لكن", "ولكن", "ومع ذلك",
)  # fmt: skip


def is_abstention(trace: Trace, phrases: Sequence[str]) -> bool:
    """Whether the gate or the reader declined.

    1. It did where the gate did not let the question go on, or the reader gave its sentinel.
    2. It did where the first sentence of the answer begins with one of ``phrases``, word by
       word after normalisation. A phrase written with a leading ``*`` may stand anywhere in
       that sentence, unless the sentence cites something.
    3. It did not after all where a turn (but, however, aber, pero, 但, …) follows the phrase in
       that sentence or begins a later one: "I do not know the day, but it was in 1887."

    An empty answer declines nothing.
    """
    if gate_declined(trace):
        return True
    if trace.answer is None or trace.failure is not None:
        return False
    if trace.answer.abstained:
        return True
    return declines(trace.answer.text, marked_pids(trace), tuple(phrases))


def declines(text: str, pids: frozenset[str], phrases: tuple[str, ...]) -> bool:
    """Whether a text declines, by rules 2 and 3 of ``is_abstention``.

    Args:
        text: The answer.
        pids: What it may cite by name.
        phrases: What counts as declining.
    """
    return _may_decline(text, phrases) and _declines(text, pids, phrases)


# Every judge of an answer asks, one judge after the other over all answers of an arm.
@lru_cache(maxsize=1 << 15)
def _declines(text: str, pids: frozenset[str], phrases: tuple[str, ...]) -> bool:
    said = statements(text, pids)
    if not said:
        return False
    rest = _after_phrase(said[0], phrases)
    return rest is not None and not _turns(rest, said[1:])


def _may_decline(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether all words of some phrase stand anywhere in a text; most answers end here.

    Every letter of a token of ``answer_tokens`` is in the form that is looked through, and
    in the same order.
    """
    sought = _words_of(phrases)
    if text.isascii():
        form = text.lower()
    else:
        form = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        form = _DROPPED.sub("", form)
    form = form.translate(_MARKS)
    for longest, others in sought.items():
        if longest in form and any(all(word in form for word in words) for words in others):
            return True
    return False


@lru_cache(maxsize=16)
def _words_of(phrases: tuple[str, ...]) -> dict[str, list[list[str]]]:
    """The words of letters of each phrase, by the longest of them."""
    found: dict[str, list[list[str]]] = {}
    for phrase in phrases:
        words = [t for t in answer_tokens(phrase.lstrip(f"{_ANYWHERE} ")) if t.isalpha()]
        found.setdefault(max(words, key=len, default=""), []).append(words)
    return found


def phrase_problems(phrases: Sequence[str]) -> list[str]:
    """One sentence for each phrase that can never be found."""
    return [
        f"phrases holds {phrase!r}, which has no words: remove it"
        for phrase in phrases
        if not phrase.strip(f"{_ANYWHERE} ")
    ]


def _after_phrase(first: Statement, phrases: tuple[str, ...]) -> list[str] | None:
    """What follows the longest phrase found in a sentence, or ``None`` without one."""
    tokens = answer_tokens(first.text)
    forms = _by_first_word(phrases)
    ends = [
        start + len(words)
        for start, token in enumerate(tokens)
        for words, anywhere in forms.get(token, ())
        if (not first.items if anywhere else start == 0)
        and tokens[start : start + len(words)] == words
    ]
    return tokens[max(ends) :] if ends else None


def _turns(rest: list[str], later: Sequence[Statement]) -> bool:
    return any(_turn_at(rest, place) for place in range(len(rest))) or any(
        _turn_at(answer_tokens(statement.text), 0) for statement in later
    )


def _turn_at(tokens: list[str], place: int) -> bool:
    forms = _by_first_word(_TURNS).get(tokens[place], ()) if tokens else ()
    return any(tokens[place : place + len(words)] == words for words, _ in forms)


@lru_cache(maxsize=16)
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, list[tuple[list[str], bool]]]:
    """The words of each phrase, and whether they may stand anywhere, by their first word."""
    forms: dict[str, list[tuple[list[str], bool]]] = {}
    for phrase in phrases:
        words = answer_tokens(phrase.lstrip(f"{_ANYWHERE} "))
        if words:
            anywhere = phrase.lstrip().startswith(_ANYWHERE)
            forms.setdefault(words[0], []).append((words, anywhere))
    return forms

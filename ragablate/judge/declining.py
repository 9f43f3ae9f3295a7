"""Whether an answer declines to answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragablate.judge.markers import Statement, known_pids, statements
from ragablate.judge.outcome import gate_declined
from ragablate.records import Trace
from ragablate.text.normalize import answer_tokens, holds_sequence

_ANYWHERE = "*"
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
    said = statements(trace.answer.text, known_pids(trace))
    if not said:
        return False
    rest = _after_phrase(said[0], tuple(phrases))
    return rest is not None and not _turns(rest, said[1:])


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
    ends = [
        end
        for words, anywhere in _forms(phrases)
        for end in _ends(tokens, words, anywhere and not first.items)
    ]
    return tokens[max(ends) :] if ends else None


def _ends(tokens: list[str], words: list[str], anywhere: bool) -> list[int]:
    """Where ``words`` end in ``tokens``: at the first place they stand, if they do."""
    n = len(words)
    starts = range(len(tokens) - n + 1 if anywhere else 1)
    return [s + n for s in starts if words and tokens[s : s + n] == words][:1]


def _turns(rest: list[str], later: Sequence[Statement]) -> bool:
    turns = _forms(_TURNS)
    if any(holds_sequence(rest, words) for words, _ in turns):
        return True
    openings = [answer_tokens(statement.text)[:4] for statement in later]
    return any(opening[: len(words)] == words for opening in openings for words, _ in turns)


@lru_cache(maxsize=64)
def _forms(phrases: tuple[str, ...]) -> tuple[tuple[list[str], bool], ...]:
    return tuple(
        (answer_tokens(phrase.lstrip(f"{_ANYWHERE} ")), phrase.lstrip().startswith(_ANYWHERE))
        for phrase in phrases
    )

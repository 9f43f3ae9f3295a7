"""Whether an answer declines to answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragablate.judge.markers import known_pids, statements
from ragablate.judge.outcome import gate_declined
from ragablate.records import Trace
from ragablate.text.normalize import answer_tokens, holds_sequence

_ANYWHERE = "*"


def is_abstention(trace: Trace, phrases: Sequence[str]) -> bool:
    """Whether the gate or the reader declined.

    It did where the gate did not let the question go on, where the reader gave its sentinel,
    or where the first sentence of the answer begins with one of ``phrases``, word by word
    after normalisation. A phrase written with a leading ``*`` may stand anywhere in that sentence,
    unless the sentence cites something. What follows the first sentence is not looked at: a
    refusal stays one when advice or a guess follows it. An empty answer declines nothing.
    """
    if gate_declined(trace):
        return True
    if trace.answer is None or trace.failure is not None:
        return False
    if trace.answer.abstained:
        return True
    first = next(iter(statements(trace.answer.text, known_pids(trace))), None)
    if first is None:
        return False
    tokens = answer_tokens(first.text)
    return any(
        not first.items and holds_sequence(tokens, words)
        if anywhere
        else bool(words) and tokens[: len(words)] == list(words)
        for words, anywhere in _forms(tuple(phrases))
    )


def phrase_problems(phrases: Sequence[str]) -> list[str]:
    """One sentence for each phrase that can never be found."""
    return [
        f"phrases holds {phrase!r}, which has no words: remove it"
        for phrase in phrases
        if not phrase.strip(f"{_ANYWHERE} ")
    ]


@lru_cache(maxsize=64)
def _forms(phrases: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], bool], ...]:
    return tuple(
        (
            tuple(answer_tokens(phrase.lstrip(f"{_ANYWHERE} "))),
            phrase.lstrip().startswith(_ANYWHERE),
        )
        for phrase in phrases
    )

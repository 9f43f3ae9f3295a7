"""The primary measure: is the answer right?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.markers import marked_pids, without_markers
from ragablate.judge.outcome import Items, Measured, no_answer, verdicts
from ragablate.protocols import JudgeRequest
from ragablate.records import Gold, Measure, Trace
from ragablate.text.normalize import answer_tokens, holds_sequence


class Correct:
    """``correct``: an answerable question is answered rightly, an unanswerable one declined.

    Answerable: 1 where a reference answer occurs in the answer as a sequence of tokens after
    normalisation, citation markers apart; a reference that is one of ``exact`` must be the
    whole answer. An abstention and an empty answer are 0. Without a reference answer it is
    unmeasured. Unanswerable: 1 exactly where the answer is an abstention. Values are 0 and 1.

    Args:
        phrases: What counts as declining (see ``is_abstention``).
        exact: References such as yes and no, which occur in answers that mean something else.
    """

    cheap = True

    def __init__(self, phrases: Sequence[str] = (), exact: Sequence[str] = ("yes", "no")) -> None:
        self.phrases = phrases
        self.exact = exact

    def problems(self) -> list[str]:
        """Phrases that can never be found."""
        return phrase_problems(self.phrases)

    def measures(self) -> tuple[Measure, ...]:
        """``correct``."""
        return (Measure("correct", "read", "right answers"),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request."""
        return verdicts(requests, self.measures(), lambda r: {"correct": self.measured(r)})

    def measured(self, request: JudgeRequest) -> Measured:
        """What one answer is worth, and why."""
        exact = [list(words) for words in _words(tuple(self.exact))]
        trace, gold = request.trace, request.gold
        if gold.answerable and not any(text.strip() for text in gold.answers):
            return None, "no reference answer"
        missing = no_answer(trace)
        if missing is not None:
            return missing
        if is_abstention(trace, self.phrases):
            return (0.0 if gold.answerable else 1.0), "abstained"
        if trace.answer is None or not trace.answer.text.strip():
            return 0.0, "empty answer"
        if not gold.answerable:
            return 0.0, "answered an unanswerable question"
        return _matched(trace, trace.answer.text, gold, exact)


@lru_cache(maxsize=16)
def _words(texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(answer_tokens(text)) for text in texts)


def _matched(trace: Trace, text: str, gold: Gold, exact: list[list[str]]) -> Measured:
    answer = answer_tokens(without_markers(text, marked_pids(trace)))
    for reference in gold.answers:
        wanted = answer_tokens(reference)
        if answer == wanted or (wanted not in exact and holds_sequence(answer, wanted)):
            return 1.0, f"holds {reference!r}"
    return 0.0, "no reference answer occurs in it"

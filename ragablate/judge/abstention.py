"""Whether the pipeline declined to answer."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.outcome import Items, Measured, gate_declined, no_answer, verdicts
from ragablate.protocols import JudgeRequest
from ragablate.records import Measure


class Abstention:
    """``abstained``: 1 where the gate or the reader declined, else 0.

    Neither direction is good in itself: declining is right where the question is
    unanswerable or its evidence is missing. Measured on every question; an empty answer and
    a failure of the pipeline are 0.

    Args:
        phrases: What counts as declining (see ``is_abstention``).
    """

    cheap = True

    def __init__(self, phrases: Sequence[str] = ()) -> None:
        self.phrases = phrases

    def problems(self) -> list[str]:
        """Phrases that can never be found."""
        return phrase_problems(self.phrases)

    def measures(self) -> tuple[Measure, ...]:
        """``abstained``."""
        return (Measure("abstained", "read", "abstentions", higher_is_better=None),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request."""
        return verdicts(requests, self.measures(), lambda r: {"abstained": self._measure(r)})

    def _measure(self, request: JudgeRequest) -> Measured:
        trace = request.trace
        missing = no_answer(trace)
        if missing is not None:
            return missing
        if gate_declined(trace) and trace.gate is not None:
            return 1.0, f"the gate said {trace.gate.outcome}: {trace.gate.reason or 'no reason'}"
        if is_abstention(trace, self.phrases):
            return 1.0, "the reader declined"
        return 0.0, "answered"

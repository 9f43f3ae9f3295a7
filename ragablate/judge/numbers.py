"""Whether the figures of an answer stand in what the reader was given."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.figures import Figure, bulleted, facts, figures, stated
from ragablate.judge.markers import marked_pids, without_markers
from ragablate.judge.outcome import Items, Measured, unspoken, verdicts
from ragablate.protocols import JudgeRequest
from ragablate.records import Measure, Trace


class Numbers:
    """``numbers_supported``: share of the answer's figures that the given context states.

    Numbers, percentages and dates are compared by value: ``1,000`` is ``1000``, ``14.5 %`` is
    not ``15 %``, ``12 March 2020`` is ``2020-03-12``; a figure counts where one passage, its
    header included, states it. Figures of the question and of earlier turns are left out, for
    repeating them proves nothing. In [0, 1]; an abstention and an answer without figures of
    its own are unmeasured, as is one that failed.

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
        """``numbers_supported``."""
        return (Measure("numbers_supported", "read", "supported figures"),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request."""
        return verdicts(
            requests, self.measures(), lambda r: {"numbers_supported": self._measure(r.trace)}
        )

    def _measure(self, trace: Trace) -> Measured:
        missing = unspoken(trace, is_abstention(trace, self.phrases))
        if missing is not None or trace.answer is None:
            return missing or (None, "no answer was recorded")
        own = _own_figures(trace, without_markers(trace.answer.text, marked_pids(trace)))
        if not own:
            return None, "the answer has no figure of its own"
        given = [facts(passage.text) for passage in trace.context.passages]
        lost = [f.text for f in own if not any(stated(f, said) for said in given)]
        reason = f"not in the context: {', '.join(lost)}" if lost else "all in the context"
        return (len(own) - len(lost)) / len(own), reason


def _own_figures(trace: Trace, answer: str) -> list[Figure]:
    asked = [facts(text) for text in (trace.question, *(turn.text for turn in trace.history))]
    return [
        figure
        for figure in figures(bulleted(answer))
        if not any(stated(figure, said) for said in asked)
    ]

"""Whether the reader declines when it should: by answerability and by the evidence it saw."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.gold import is_gap, present
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.outcome import Items, Measured, gate_declined, same, verdicts
from ragablate.judge.retrieval import relevant_pids
from ragablate.protocols import JudgeRequest
from ragablate.records import Measure

FITS = "abstention_fits"
WITH_EVIDENCE = "abstained_with_evidence"
WITHOUT_EVIDENCE = "abstained_without_evidence"
WITH_LOOKALIKE = "abstained_with_lookalike"
WITHOUT_LOOKALIKE = "abstained_without_lookalike"
CELLS = (WITH_EVIDENCE, WITHOUT_EVIDENCE, WITH_LOOKALIKE, WITHOUT_LOOKALIKE)
"""Measures that are each defined on one of four kinds of questions, which together are all."""

_KINDS = {
    WITH_EVIDENCE: "answerable, evidence in the context",
    WITHOUT_EVIDENCE: "answerable, evidence not in the context",
    WITH_LOOKALIKE: "unanswerable, a passage that its gold names in the context",
    WITHOUT_LOOKALIKE: "unanswerable, no passage that its gold names in the context",
}
_NAMES = {
    (True, True): "refused though the evidence was there",
    (True, False): "rightly refused",
    (False, True): "rightly attempted",
    (False, False): "answered though the evidence was not there",
}


class AbstentionByEvidence:
    """``abstention_fits``, and ``abstained`` in each cell of answerable by evidence present.

    * ``abstained_with_evidence``, ``abstained_without_evidence``: on answerable questions, 1
      where the reader declined; the first where every part of the gold stands in the context as
      text, the second where it does not.
    * ``abstained_with_lookalike``, ``abstained_without_lookalike``: on unanswerable questions, the
      first where the context holds a passage that the question's gold names all the same, as
      data sets do that ask next to a text (Rajpurkar et al. 2018, "SQuAD 2.0").
    * ``abstention_fits``: 1 where the reader attempts an answer with the evidence before it and
      declines without; a refusal without evidence is its success. It does not say whether the
      answer is right.

    Each question has a value in one cell and is unmeasured in the other three, so that the number
    measured and the mean give the counts of the 2 x 2 x 2 table. Where the gate declined, the
    reader was not asked, and where an answer failed there is nothing to say of it; both are
    unmeasured, as are eval gaps. An empty answer neither declines nor attempts: it never fits.

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
        """``abstention_fits`` and the four cells."""
        return (
            Measure(FITS, "read", "attempts and abstentions that fit the evidence"),
            Measure(WITH_EVIDENCE, "read", "abstentions with the evidence in context", False),
            Measure(WITHOUT_EVIDENCE, "read", "abstentions without the evidence in context"),
            Measure(WITH_LOOKALIKE, "read", "abstentions beside a passage that looks alike"),
            Measure(WITHOUT_LOOKALIKE, "read", "abstentions where nothing looks alike"),
        )

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """Five verdicts per request."""
        return verdicts(requests, self.measures(), self._measure)

    def _measure(self, request: JudgeRequest) -> dict[str, Measured]:
        trace = request.trace
        missing = _unasked(request)
        if missing or trace.answer is None:
            return same(self.measures(), (None, missing or "no answer was recorded"))
        cell = _cell(request)
        declined = is_abstention(trace, self.phrases)
        empty = not declined and not trace.answer.text.strip()
        said = "empty answer" if empty else _NAMES[declined, cell == WITH_EVIDENCE]
        reason = f"{_KINDS[cell]}: {said}"
        fits = not empty and declined is not (cell == WITH_EVIDENCE)
        elsewhere: dict[str, Measured] = dict.fromkeys(CELLS, (None, _KINDS[cell]))
        return {FITS: (float(fits), reason), **elsewhere, cell: (float(declined), reason)}


def _unasked(request: JudgeRequest) -> str:
    trace = request.trace
    if gate_declined(trace):
        return "the gate declined, so the reader was not asked"
    if trace.failure is not None:
        return f"{trace.failure.kind} failure: {trace.failure.message or 'no message'}"
    if request.gold.answerable and is_gap(request.resolved):
        return "eval gap: answerable, but without gold"
    return ""


def _cell(request: JudgeRequest) -> str:
    shown = request.trace.context.passages
    if request.gold.answerable:
        held, parts = present(request.resolved, shown)
        return WITH_EVIDENCE if held == parts else WITHOUT_EVIDENCE
    named = relevant_pids(request.gold, request.resolved)
    return WITH_LOOKALIKE if {p.pid for p in shown} & {*named} else WITHOUT_LOOKALIKE

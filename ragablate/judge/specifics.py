"""Whether an answer keeps the figures of its source, and gives those it was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.gold import is_gap
from ragablate.judge.asked_figures import Asked, asked_figures
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.figure_tracing import traced_figures
from ragablate.judge.figures import Facts, facts, stated
from ragablate.judge.markers import marked_pids, without_markers
from ragablate.judge.outcome import Detailed, Items, Measured, same, unspoken, verdicts
from ragablate.judge.vagueness import vague_claims
from ragablate.protocols import JudgeRequest
from ragablate.records import Claim, Measure, Trace


class Specifics:
    """``numbers_exact`` and ``numbers_answered``, both in [0, 1], by rule.

    * ``numbers_exact``: of the answer's own figures, and of the words that stand where its
      source has a figure ("small teams" for "teams under 50 seats"), the share that are figures
      which a passage of the context states with that unit. Each stands in the verdict with the
      passage and its sentence: supported, contradicted, vague (rounded, or words) or
      unsupported; see ``traced_figures`` and ``vague_claims``. Unmeasured without either.
    * ``numbers_answered``: of the figures of the gold that the question asks about (see
      ``asked_figures``), the share that the answer states; the best share of several references.
      Unmeasured without such a figure, and for unanswerable questions.

    Abstentions, empty and failed answers are unmeasured. What a paraphrase says in other words,
    and a vague word that is in no list of ``vague_words``, goes unseen.

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
        """``numbers_exact``, ``numbers_answered``."""
        return (
            Measure("numbers_exact", "read", "figures kept as the source has them"),
            Measure("numbers_answered", "read", "figures asked for that are given"),
        )

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """Two verdicts per request."""
        return verdicts(requests, self.measures(), self._measure)

    def _measure(self, request: JudgeRequest) -> dict[str, Measured] | dict[str, Detailed]:
        trace = request.trace
        missing = unspoken(trace, is_abstention(trace, self.phrases))
        if missing is not None or trace.answer is None:
            return same(self.measures(), missing or (None, "no answer was recorded"))
        exact = _exact(trace, trace.answer.text)
        answered = _answered(request, trace.answer.text)
        return {"numbers_exact": exact, "numbers_answered": (*answered, ())}


def _exact(trace: Trace, answer: str) -> Detailed:
    asked = (trace.question, *(turn.text for turn in trace.history))
    shown, pids = trace.context.passages, marked_pids(trace)
    found = (
        *traced_figures(answer, shown, asked, pids),
        *vague_claims(answer, shown, asked, pids),
    )
    if not found:
        return None, "neither a figure of its own nor words in place of one", ()
    held = sum(claim.status == "supported" for claim in found)
    return held / len(found), _told(found), found


def _told(found: Sequence[Claim]) -> str:
    lost = [
        f"{claim.text} ({claim.status}{f', {claim.pid}' if claim.pid else ''})"
        for claim in found
        if claim.status != "supported"
    ]
    return f"not as the source has it: {'; '.join(lost)}" if lost else "all as the source has them"


def _answered(request: JudgeRequest, answer: str) -> Measured:
    trace, gold = request.trace, request.gold
    if not gold.answerable:
        return None, "unanswerable: there is no gold to ask about"
    if is_gap(request.resolved):
        return None, "eval gap: answerable, but without gold"
    wanted = asked_figures(trace.question, gold.answers, request.resolved)
    if not wanted:
        return None, "the question asks about no figure of its gold"
    said = facts(without_markers(answer, marked_pids(trace)))
    return max((_given(each, said) for each in wanted), key=lambda each: each[0] or 0.0)


def _given(wanted: Asked, said: Facts) -> Measured:
    lost = [f"{figure.text} ({pid})" for figure, pid in wanted if not stated(figure, said)]
    reason = f"left out: {', '.join(lost)}" if lost else "all that was asked for"
    return (len(wanted) - len(lost)) / len(wanted), reason

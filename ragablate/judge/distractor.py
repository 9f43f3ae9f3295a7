"""Whether a wrong answer was taken from a passage that is not the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.gold import is_gap
from ragablate.judge.batches import Batched, Wanted
from ragablate.judge.claims import claims
from ragablate.judge.correct import Correct
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.outcome import Detailed, Items, Measured, unspoken
from ragablate.judge.support import Ask, Support
from ragablate.judge.tracing import gold_shown, taken_elsewhere
from ragablate.protocols import JudgeRequest
from ragablate.records import Claim, ContextPassage, Measure

WRONG_PASSAGE = "wrong_passage"
"""Name of the measure."""


class Distractor:
    """``wrong_passage``: 1 where a wrong answer is grounded in the wrong passage, else 0.

    A wrong answer holds no reference answer, or answers what cannot be answered. It is grounded
    in the wrong passage where one of its claims is supported by a passage of the context that
    carries no gold, and by none that does; the verdict names the passage. Right answers are 0.
    Unmeasured: abstentions, failed answers, answers without a claim, answerable questions
    without a reference or without gold.

    Args:
        support: What decides; ``ragablate.judge.lexical.Lexical`` without a model.
        phrases: What counts as declining (see ``is_abstention``).
        exact: References that must be the whole answer, as in ``Correct``.
    """

    def __init__(
        self, support: Support, phrases: Sequence[str] = (), exact: Sequence[str] = ("yes", "no")
    ) -> None:
        self.support = support
        self.phrases = phrases
        self.exact = exact

    @property
    def cheap(self) -> bool:
        """As what decides."""
        return self.support.cheap

    def problems(self) -> list[str]:
        """Phrases that can never be found."""
        return phrase_problems(self.phrases)

    def measures(self) -> tuple[Measure, ...]:
        """``wrong_passage``."""
        label = "wrong answers taken from another passage"
        return (Measure(WRONG_PASSAGE, "read", label, higher_is_better=False),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request."""
        return Batched(self.support, self.measures(), self._wanted).judge(requests)

    def _wanted(self, request: JudgeRequest) -> Wanted:
        trace = request.trace
        settled = unspoken(trace, is_abstention(trace, self.phrases)) or self._settled(request)
        said = [] if settled is not None else claims(trace)
        if settled is not None or not said:
            return Wanted.settled(self.measures(), settled or (None, "no claim"))
        passages = trace.context.passages
        gold = gold_shown(request.resolved, passages)
        sides: list[tuple[ContextPassage, ...]] = [
            tuple(p for p in passages if (p.pid in gold) is side) for side in (False, True)
        ]
        asks = [Ask(claim, side) for claim in said for side in sides]
        return Wanted(asks, lambda found: {WRONG_PASSAGE: _grounds(found)})

    def _settled(self, request: JudgeRequest) -> Measured | None:
        """What needs no tracing: a right answer, and one of which that cannot be said."""
        if request.gold.answerable and is_gap(request.resolved):
            return None, "eval gap: answerable, but without gold"
        value, reason = Correct(self.phrases, self.exact).measured(request)
        if value is None:
            return None, reason
        return (0.0, f"right: {reason}") if value else None


def _grounds(found: Sequence[Claim]) -> Measured | Detailed:
    pairs = list(zip(found[::2], found[1::2], strict=True))
    traced = tuple(other for other, own in pairs if taken_elsewhere(other, own))
    if traced:
        pids = ", ".join(sorted({claim.pid for claim in traced}))
        return 1.0, f"grounded in the wrong passage: {pids}", traced
    if any("unclear" in (other.status, own.status) for other, own in pairs):
        return None, "the judge gave no usable answer on a claim"
    return 0.0, "wrong, and no other passage supports it"

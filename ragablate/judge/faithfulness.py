"""Whether what the answer claims stands in the given context."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.judge.batches import Batched, Wanted
from ragablate.judge.claims import claims
from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.judge.outcome import Detailed, Items, Measured, unspoken
from ragablate.judge.support import Ask, Support
from ragablate.protocols import JudgeRequest
from ragablate.records import Claim, Measure


class Faithfulness:
    """``faithfulness``: share of the answer's claims that the given context supports.

    The definition is that of Es et al. (2023, "RAGAs"); asking one passage to carry a claim is
    the citation view of Gao et al. (2023, "ALCE"). A claim is a clause with a content word or a
    figure; ``support`` decides whether it is supported, contradicted or neither, and by which
    passage, header included. In [0, 1]; without any passage every claim is unsupported. Each
    claim stands in the verdict with the passage that decides about it.

    Abstentions, failed answers and answers without a claim (yes, no, nothing) are unmeasured, as
    is an answer about one of whose claims the judge gave no usable answer.

    Args:
        support: What decides; ``ragablate.judge.lexical.Lexical`` without a model.
        phrases: What counts as declining (see ``is_abstention``).
    """

    def __init__(self, support: Support, phrases: Sequence[str] = ()) -> None:
        self.support = support
        self.phrases = phrases

    @property
    def cheap(self) -> bool:
        """As what decides."""
        return self.support.cheap

    def problems(self) -> list[str]:
        """Phrases that can never be found; what decides says its own."""
        return phrase_problems(self.phrases)

    def measures(self) -> tuple[Measure, ...]:
        """``faithfulness``."""
        return (Measure("faithfulness", "read", "supported claims"),)

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """One verdict per request."""
        return Batched(self.support, self.measures(), self._wanted).judge(requests)

    def _wanted(self, request: JudgeRequest) -> Wanted:
        trace = request.trace
        missing = unspoken(trace, is_abstention(trace, self.phrases))
        said = [] if missing is not None else claims(trace)
        if missing is not None or not said:
            return Wanted.settled(self.measures(), missing or (None, "no claim"))
        asks = [Ask(claim, trace.context.passages) for claim in said]
        return Wanted(asks, lambda found: {"faithfulness": share_supported(found)})


def share_supported(found: Sequence[Claim]) -> Measured | Detailed:
    """Supported claims over all claims; unmeasured where one is unclear."""
    unclear = sum(claim.status == "unclear" for claim in found)
    if unclear:
        reason = f"the judge gave no usable answer on {unclear} of {len(found)} claims"
        return None, reason, tuple(found)
    held = sum(claim.status == "supported" for claim in found)
    return held / len(found), _reason(found), tuple(found)


def _reason(found: Sequence[Claim]) -> str:
    pids = sorted({claim.pid for claim in found if claim.status == "supported"})
    held = f"supported by {', '.join(pids)}" if pids else "supported by no passage"
    against = sorted({claim.pid for claim in found if claim.status == "contradicted"})
    if against:
        held += f"; contradicted by {', '.join(against)}"
    lost = sum(claim.status == "unsupported" for claim in found)
    return f"{held}; {lost} of {len(found)} claims unsupported" if lost else held

"""Whether the evidence of a question was retrieved, and whether the reader saw it."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.gold import is_gap, present, retrieved_parts
from ragablate.judge.outcome import (
    Items,
    Measured,
    gate_declined,
    never_assembled,
    never_ranked,
    verdicts,
)
from ragablate.protocols import JudgeRequest
from ragablate.records import Measure

_RETRIEVED = "evidence_retrieved"
_IN_CONTEXT = "evidence_in_context"
_PARTIAL = "_partial"


class Evidence:
    """Whether the gold is among the retrieved, and whether it stands in the context as text.

    ``evidence_retrieved`` is 1 where every part of the gold has a passage in the ranking
    handed to the assembler, ``evidence_in_context`` where every part is present as text in
    what the reader saw (a passage cut before its evidence is not); the two ``_partial`` ones
    are the shares of parts. They look at nothing the reader did, so they are measured where
    it failed or abstained too. Where the gate declined, the context is empty and holds no
    evidence. Unanswerable questions and those without gold are unmeasured.
    """

    cheap = True

    def measures(self) -> tuple[Measure, ...]:
        """The two booleans, each followed by its share of parts."""
        return (
            Measure(_RETRIEVED, "retrieve", "evidence retrieved"),
            Measure(_RETRIEVED + _PARTIAL, "retrieve", "parts of the evidence retrieved"),
            Measure(_IN_CONTEXT, "assemble", "evidence in context"),
            Measure(_IN_CONTEXT + _PARTIAL, "assemble", "parts of the evidence in context"),
        )

    def judge(self, requests: Sequence[JudgeRequest]) -> Items:
        """Four verdicts per request."""
        return verdicts(requests, self.measures(), _measure)


def _measure(request: JudgeRequest) -> dict[str, Measured]:
    retrieved, in_context = _retrieved(request), _in_context(request)
    return {
        _RETRIEVED: _all(retrieved),
        _RETRIEVED + _PARTIAL: retrieved,
        _IN_CONTEXT: _all(in_context),
        _IN_CONTEXT + _PARTIAL: in_context,
    }


def _retrieved(request: JudgeRequest) -> Measured:
    missing = _no_evidence(request) or never_ranked(request.trace)
    if missing is not None:
        return missing
    pids = [hit.pid for hit in request.trace.retrieved]
    return _share(retrieved_parts(request.resolved, pids), "among the retrieved")


def _in_context(request: JudgeRequest) -> Measured:
    trace = request.trace
    missing = _no_evidence(request) or never_assembled(trace)
    if missing is not None:
        return missing
    where = "in the context"
    if gate_declined(trace) and not trace.context.passages:
        where = "in the context, which is empty because the gate declined"
    return _share(present(request.resolved, trace.context.passages), where)


def _no_evidence(request: JudgeRequest) -> Measured | None:
    if not request.gold.answerable:
        return None, "unanswerable: there is no evidence to find"
    if is_gap(request.resolved):
        return None, "eval gap: answerable, but without gold"
    return None


def _share(covered: tuple[int, int], where: str) -> Measured:
    n, total = covered
    return n / total, f"{n} of {total} parts {where}"


def _all(share: Measured) -> Measured:
    value, reason = share
    return (None if value is None else float(value == 1.0)), reason

"""What was observed to lose the answers, as parts of the ladder's terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from ragablate.compare.ladder_rungs import (
    ASSEMBLY,
    FAITHFUL,
    JOINT,
    NOT_OBSERVED,
    READER,
    RETRIEVAL,
    UNMEASURED,
    ZERO,
    Climb,
    Complete,
)


def split_by_reason(
    climbed: Climb, reasons: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, Fraction]]:
    """Every term that has observed reasons, as sums over questions by reason.

    Args:
        climbed: The ladder.
        reasons: By stage and qid, what was observed to lose the evidence.
    """
    found: dict[str, dict[str, Fraction]] = {}
    for place, question in enumerate(climbed.complete):
        for term, reason, lost in _lost(climbed, place, question, reasons):
            if lost:
                parts = found.setdefault(term, {})
                parts[reason] = parts.get(reason, ZERO) + lost
    return found


def _lost(
    climbed: Climb, place: int, question: Complete, reasons: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, str, Fraction]]:
    """Term, reason and loss of one question."""
    for stage in (ASSEMBLY, RETRIEVAL):
        observed = reasons.get(stage, {}).get(question.qid, NOT_OBSERVED)
        yield stage, observed, climbed.columns[stage][place]
    if question.evidence:
        for outcome, lost in question.short().items():
            if outcome not in (FAITHFUL, UNMEASURED):
                yield READER, outcome, lost
    for reason, lost in question.more_than_one_fix().items():
        yield JOINT, reason, lost

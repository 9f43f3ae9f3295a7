"""How evidence that a context lacks was lost on the way, as the trace records it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragablate.intervene.evidence import choose
from ragablate.records import ContextPassage, GoldPassage
from ragablate.traces import QuestionLine, TraceLine

RETRIEVAL = "retrieval"
ASSEMBLY = "assembly"

NOT_INDEXED = "not_indexed"
NOT_IN_CANDIDATES = "not_in_candidates"
OTHER_PASSAGE = "right_document_other_passage"
RERANKED_OUT = "reranked_out"
TRUNCATED = "truncated"
NOT_RECORDED = "not_recorded"

RETRIEVAL_REASONS = (NOT_INDEXED, NOT_IN_CANDIDATES, OTHER_PASSAGE, RERANKED_OUT)
"""Earliest in the pipeline first."""
ASSEMBLY_REASONS = (
    "cleaned",
    "deduped",
    "depth_cut",
    "budget_cut",
    "displaced",
    TRUNCATED,
    NOT_RECORDED,
)
"""Earliest in the pipeline first."""


def observed_reasons(
    line: TraceLine, question: QuestionLine, passages: Sequence[ContextPassage]
) -> dict[str, str]:
    """By stage, what was observed to lose evidence; no entry for a stage that lost none.

    Looked at is the gold that would complete the context most easily, the same that the
    repairs of a ladder supply. Where a stage lost several passages in different ways, the
    way that comes first in the pipeline is named.

    Args:
        line: The trace.
        question: With its gold as passages.
        passages: The context the line refers to.
    """
    retrieved = {hit.pid: rank for rank, hit in enumerate(line.retrieved)}
    shown = {passage.pid for passage in passages}
    lost: dict[str, set[str]] = {}
    supplied = list(passages)
    for part in question.resolved.parts:
        for gold in choose(part, supplied, retrieved).lacking:
            pid = gold.passage.pid
            if pid in retrieved or pid in shown:
                lost.setdefault(ASSEMBLY, set()).add(_in_assembly(pid, line, shown))
            else:
                lost.setdefault(RETRIEVAL, set()).add(_in_retrieval(gold, line, question))
            supplied.append(gold.passage)
    order = {RETRIEVAL: RETRIEVAL_REASONS, ASSEMBLY: ASSEMBLY_REASONS}
    return {stage: min(found, key=order[stage].index) for stage, found in sorted(lost.items())}


def _in_assembly(pid: str, line: TraceLine, shown: Collection[str]) -> str:
    if pid in shown:
        return TRUNCATED
    return next((e.reason for e in line.evicted if e.pid == pid), NOT_RECORDED)


def _in_retrieval(gold: GoldPassage, line: TraceLine, question: QuestionLine) -> str:
    pid = gold.passage.pid
    if not gold.indexed:
        return NOT_INDEXED
    if any(hit.pid == pid for hit in line.candidates):
        return RERANKED_OUT
    document = question.documents.get(pid)
    if document and any(hit.document == document for hit in line.retrieved):
        return OTHER_PASSAGE
    return NOT_IN_CANDIDATES

"""Log traversal: following the evidence of one failed answer through what its log records."""

from __future__ import annotations

from collections.abc import Mapping

from ragablate.traces import TraceLine

CORRECT = "correct"
"""The measure that says whether an answer failed, unless another is asked for."""

OK = "ok"
PIPELINE_ERROR = "pipeline error"
EVAL_GAP = "eval gap"
FABRICATION = "fabrication"
RETRIEVAL = "retrieval"
GATE = "gate"
ASSEMBLY = "assembly"
PARTIAL = "partial evidence"
REFUSAL = "generation: refusal"
CITATION = "generation: bad citation"
NUMBER = "generation: unsupported number"
CLAIM = "generation: unsupported claim"
SOURCE_OR_LABEL = "source-or-label"

BUCKETS = (
    PIPELINE_ERROR,
    EVAL_GAP,
    FABRICATION,
    RETRIEVAL,
    GATE,
    ASSEMBLY,
    PARTIAL,
    REFUSAL,
    CITATION,
    NUMBER,
    CLAIM,
    SOURCE_OR_LABEL,
    OK,
)
"""All buckets, in the order they are asked for."""

RIGHT = 0.5
"""A score from here on is no failure."""
SUPPORTED = 0.8
"""Share of supported claims from which an answer counts as supported by its context."""

Verdicts = Mapping[str, float | None]


def bucket(
    line: TraceLine,
    verdicts: Verdicts,
    *,
    measure: str = CORRECT,
    supported: float = SUPPORTED,
) -> str:
    """Where one answer's failure surfaced, from its log alone; the first that applies.

    An answer that never came; no gold to follow; an answer where none was due; gold that is not in
    the ranking at all, was not let through by a gate, is in the ranking and not in the
    prompt, is there in part; and with all gold in the prompt a refusal, a citation that
    points nowhere, a figure that is not in the context, a claim that is not. What is left
    had the support of its context: the source or the label is to be looked at.

    Gold is followed by pid, as a log records it, so a passage that was cut short counts as
    shown. Which of two causes a failure has no log can tell: a bucket says where it
    surfaced.

    Args:
        line: The answer's trace.
        verdicts: What was measured of it, by measure.
        measure: The verdict that says whether it failed; without it every answer is sorted.
        supported: Least faithfulness of an answer that its context supports.
    """
    if line.error is not None:
        return PIPELINE_ERROR
    score = verdicts.get(measure)
    if score is not None and score >= RIGHT:
        return OK
    if not line.answerable:
        return OK if line.abstained else FABRICATION
    if not line.gold_pids:
        return EVAL_GAP
    return _on_the_way(line) or _at_the_reader(line, verdicts, supported)


def _on_the_way(line: TraceLine) -> str:
    """The stage that the evidence did not get past; empty where all of it was shown."""
    shown, gold = frozenset(line.prompt_pids), frozenset(line.gold_pids)
    if not gold & (shown | {hit.pid for hit in line.retrieved}):
        return RETRIEVAL
    if line.gate is not None and line.gate.outcome != "go":
        return GATE
    if not gold & shown:
        return ASSEMBLY
    whole = all(shown.intersection(part) for part in line.gold_parts)
    return "" if whole else PARTIAL


def _at_the_reader(line: TraceLine, verdicts: Verdicts, supported: float) -> str:
    if line.abstained:
        return REFUSAL
    if _below(verdicts.get("citation_valid"), 1.0):
        return CITATION
    if _below(verdicts.get("numbers_supported"), 1.0):
        return NUMBER
    return CLAIM if _below(verdicts.get("faithfulness"), supported) else SOURCE_OR_LABEL


def _below(value: float | None, least: float) -> bool:
    return value is not None and value < least

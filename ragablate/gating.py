"""What a gate is asked: the rankings of a question, and the one slice it may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ragablate.errors import AdapterError
from ragablate.gate.fitting import decides_on, fused_searches
from ragablate.prepared import ByQid, Found, texts, value
from ragablate.protocols import GateRequest
from ragablate.records import Question, Ranking


def gate_requests(
    gate: Any, questions: Mapping[str, Question], found: Found, retrieved: ByQid[Ranking]
) -> list[GateRequest]:
    """One request a question that was ranked, in question order.

    Args:
        gate: The adapter.
        questions: With all their slices, by qid.
        found: What was searched and found.
        retrieved: What the reranker made of it.

    Raises:
        AdapterError: The gate decides on the retriever's scores, and searches were fused.
    """
    several = (len(texts(item)) for item in found.searches.values())
    wrong = fused_searches(decides_on(gate), several)
    if wrong:
        raise AdapterError(wrong)
    segment = str(getattr(gate, "segment", ""))
    return [
        GateRequest(
            qid,
            seen(question, segment),
            value(found.candidates[qid]),
            item.value,
            found.signals.get(qid, {}),
        )
        for qid, question in questions.items()
        if (item := retrieved[qid]).value is not None
    ]


def seen(question: Question, segment: str) -> Question:
    """A question with one slice and no other: most tell what is answerable, and no system knows
    them when it is asked.
    """
    own = {segment: question.slices[segment]} if segment in question.slices else {}
    return replace(question, slices=own)

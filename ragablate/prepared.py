"""What an arm did with a question before the reader, and joining stage results to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ragablate.records import (
    Context,
    Failure,
    GateDecision,
    Item,
    Question,
    Ranking,
    Searches,
    SearchResult,
)
from ragablate.retrieve.fusion import reciprocal_rank_fusion

T = TypeVar("T")
ByQid = Mapping[str, Item[T]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What one arm did with one question, up to the context the reader sees."""

    question: Question
    """The question."""
    searches: tuple[str, ...]
    """Everything that was searched, in order."""
    candidates: Ranking
    """What the retriever returned."""
    retrieved: Ranking
    """The ranking handed to the assembler."""
    gate: GateDecision | None
    """``None`` where an intervention overrode it."""
    context: Context
    """After the intervention."""
    failure: Failure | None = None
    """The first failure on the way; what comes after it is empty."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The retriever's numbers about the search."""
    gate_failed: bool = False
    """Whether the failure is the gate's."""

    @property
    def refused(self) -> bool:
        """Whether a gate kept the question from the reader."""
        return self.gate is not None and self.gate.outcome != "go"


@dataclass(frozen=True, slots=True)
class Found:
    """Results of rewriting and retrieving, with their lineage."""

    searches: ByQid[Searches]
    candidates: ByQid[Ranking]
    lineage: str
    signals: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The retriever's numbers about a question, by qid; none for a question without any."""
    narrower: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What was searched first, by qid, where a broader search took its place."""


def value(item: Item[Ranking]) -> Ranking:
    """A ranking, empty where there is a failure."""
    return item.value if item.value is not None else ()


def failed(items: ByQid[Any]) -> dict[str, Item[Any]]:
    """The failures among stage results, passed on to the next stage."""
    return {
        qid: Item(qid, None, item.failure)
        for qid, item in items.items()
        if item.failure is not None
    }


def texts(item: Item[Searches]) -> tuple[str, ...]:
    """What is searched; nothing where rewriting failed."""
    return item.value.texts if item.value is not None else ()


def extended(before: ByQid[Searches], again: ByQid[Searches]) -> dict[str, Item[Searches]]:
    """Searches so far with another round's added; a failed round ends with its failure."""
    both = dict(before)
    for qid, item in again.items():
        if item.value is None:
            both[qid] = item
        else:
            every = dict.fromkeys((*texts(before[qid]), *item.value.texts))
            both[qid] = Item(qid, Searches(tuple(every), item.value.final, item.value.k))
    return both


def replaced(before: ByQid[Searches], again: ByQid[Searches]) -> dict[str, Item[Searches]]:
    """The searches that differ from those before; a failed rewriting is one."""
    return {
        qid: item if item.value is None else Item(qid, replace(item.value, final=True))
        for qid, item in again.items()
        if item.value is None or texts(item) != texts(before[qid])
    }


def fused(qid: str, searches: Item[Searches], ranked: ByQid[Ranking]) -> Item[Ranking]:
    """One ranking per question; several searches are fused, and one failure fails all."""
    if searches.value is None:
        return Item(qid, None, searches.failure)
    items = [ranked[f"{qid}#{number}"] for number in range(len(searches.value.texts))]
    for item in items:
        if item.failure is not None:
            return Item(qid, None, item.failure)
    rankings = [value(item) for item in items]
    if len(rankings) == 1:
        return Item(qid, rankings[0])
    return Item(qid, reciprocal_rank_fusion(rankings, searches.value.k))


def lowest(searches: ByQid[Searches], ranked: ByQid[Ranking]) -> dict[str, Mapping[str, float]]:
    """Signals by qid: the lowest of a question's searches, of those that every search has.

    A question is as well served as the worst of its parts.
    """
    found: dict[str, Mapping[str, float]] = {}
    for qid, item in searches.items():
        items = [ranked[f"{qid}#{number}"] for number in range(len(texts(item)))]
        each = [i.signals if isinstance(i, SearchResult) else {} for i in items]
        shared = set(each[0]).intersection(*each[1:]) if each else set()
        if shared:
            found[qid] = {name: min(signals[name] for signals in each) for name in sorted(shared)}
    return found


def prepared(
    question: Question,
    found: Found,
    retrieved: ByQid[Ranking],
    gates: ByQid[GateDecision],
    contexts: ByQid[Context],
) -> Prepared:
    """One question's results joined; the first failure on the way stands for all after it."""
    qid = question.qid
    gate = gates.get(qid)
    decision = gate.value if gate is not None else None
    failure = contexts[qid].failure or (gate.failure if gate is not None else None)
    context = contexts[qid].value or Context()
    if decision is not None and decision.outcome != "go":
        # The reader sees nothing of what was assembled for it.
        context = Context(budget_tokens=context.budget_tokens)
    return Prepared(
        question,
        (*found.narrower.get(qid, ()), *texts(found.searches[qid])),
        value(found.candidates[qid]),
        value(retrieved[qid]),
        decision,
        context,
        failure,
        found.signals.get(qid, {}),
        gate is not None and gate.failure is not None and failure is gate.failure,
    )

"""The lines of a bundle's files: traces and questions, as they lie on disk.

The trace line is also what a production log is read as, so its field names are the
documented schema, and every field has a default except those a log must have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Evicted,
    Failure,
    GateDecision,
    Gold,
    Hit,
    ResolvedGold,
    Segment,
    Trace,
    Turn,
)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One passage of the ranking handed to the assembler."""

    pid: str
    """The passage."""
    score: float
    """The reranker's score."""
    rank: int
    """From 1."""
    document: str = ""
    """Document it was cut from; empty where it is not part of a larger one."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of ``traces.jsonl``: one arm, question and replicate."""

    arm: str
    """The arm."""
    qid: str
    """The question."""
    replicate: int
    """The decode."""
    question: str
    """The question's text."""
    retrieved: tuple[Retrieved, ...]
    """The ranking handed to the assembler."""
    prompt_pids: tuple[str, ...]
    """What the reader saw, in prompt order."""
    answer: str | None
    """What was said; ``null`` where there is none."""
    history: tuple[Turn, ...] = ()
    """Earlier turns."""
    searches: tuple[str, ...] = ()
    """What was searched."""
    candidates: tuple[Hit, ...] = ()
    """What the retriever returned."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The retriever's numbers about the search."""
    gate: GateDecision | None = None
    """The gate's decision."""
    evicted: tuple[Evicted, ...] = ()
    """What was retrieved and left out, and why."""
    context_digest: str = ""
    """Key into ``contexts.jsonl``."""
    frame_digest: str = ""
    """Over the prompt without its evidence."""
    prompt_digest: str = ""
    """Key into ``prompts.jsonl``."""
    budget_tokens: int | None = None
    """Budget the context was assembled under."""
    abstained: bool | None = None
    """Whether the reader or the gate declined; ``null`` where that was not measured."""
    declined: bool | None = None
    """Whether the reader itself said so, by its sentinel; ``null`` where that was not recorded."""
    cited: tuple[str, ...] = ()
    """Pids the answer's markers point to."""
    finish_reason: str = ""
    """``stop``, ``length``, …"""
    model: str = ""
    """As reported."""
    prompt_version: str = ""
    """Start of the reader's fingerprint."""
    decoding: Mapping[str, Any] = field(default_factory=dict)
    """Seed of the decode."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Token counts as reported."""
    latency_s: float | None = None
    """Wall clock, as the adapter measured it."""
    error: Failure | None = None
    """What went wrong."""
    gold_pids: tuple[str, ...] = ()
    """Every pid that carries gold."""
    gold_parts: tuple[tuple[str, ...], ...] = ()
    """The same by part."""
    answerable: bool = True
    """Whether the corpus can answer it."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """Strata of the question."""
    timestamp: str | None = None
    """When the answer was stored, UTC."""


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One line of ``questions.jsonl``: what is needed to judge and to verify without a corpus."""

    qid: str
    """The question."""
    question: str
    """Its text."""
    digest: str
    """sha256 over the question."""
    gold_digest: str
    """sha256 over its gold."""
    gold: Gold
    """References and parts."""
    resolved: ResolvedGold
    """Which passages carry the gold, as control's assembler renders them."""
    eval_gap: bool
    """Answerable, but without usable gold."""
    cluster: str
    """Questions of one cluster are not independent."""
    slices: Mapping[str, str]
    """Strata of the question."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """Document of each gold passage that was cut from one, by pid."""
    elsewhere: Mapping[str, ResolvedGold] = field(default_factory=dict)
    """The same as ``resolved`` in the corpora of arms with another chunker, by corpus digest."""

    def gold_in(self, corpus: str) -> ResolvedGold:
        """The gold as it lies in an arm's corpus, by the digest of the corpus."""
        return self.elsewhere.get(corpus, self.resolved)


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One line of ``contexts.jsonl``: a distinct context, once."""

    digest: str
    """``context_digest``."""
    passages: tuple[ContextPassage, ...]
    """In prompt order."""


@dataclass(frozen=True, slots=True)
class PromptLine:
    """One line of ``prompts.jsonl``: a distinct prompt, once."""

    digest: str
    """``prompt_digest``."""
    qid: str
    """The question."""
    question: str
    """Its text."""
    segments: tuple[Segment, ...]
    """In order."""


def trace_line(
    trace: Trace,
    question: QuestionLine,
    *,
    reader: str,
    seed: int,
    abstained: bool | None,
    cited: tuple[str, ...],
    answered: int | None,
    documents: Mapping[str, str],
) -> TraceLine:
    """A trace as it is written.

    Args:
        trace: What every stage did.
        question: The question's line, its gold as it lies in the arm's corpus.
        reader: Fingerprint of the arm's reader.
        seed: Seed of the decode.
        abstained: Verdict of the judge of that measure.
        cited: Pids the answer's markers point to.
        answered: When the answer was stored, nanoseconds since the epoch.
        documents: By pid, the document a passage was cut from.
    """
    answer = trace.answer
    parts = gold_parts(question.resolved)
    return TraceLine(
        arm=trace.arm,
        qid=trace.qid,
        replicate=trace.replicate,
        question=trace.question,
        retrieved=tuple(
            Retrieved(h.pid, h.score, i, documents.get(h.pid, ""))
            for i, h in enumerate(trace.retrieved, 1)
        ),
        prompt_pids=tuple(p.pid for p in trace.context.passages),
        answer=answer.text if answer is not None else None,
        history=trace.history,
        searches=trace.searches,
        candidates=trace.candidates,
        signals=trace.signals,
        gate=trace.gate,
        evicted=trace.context.evicted,
        context_digest=trace.context_digest,
        frame_digest=trace.frame_digest,
        prompt_digest=trace.prompt_digest,
        budget_tokens=trace.context.budget_tokens,
        abstained=abstained,
        declined=answer.abstained if answer is not None else None,
        cited=cited,
        finish_reason=answer.finish_reason if answer is not None else "",
        model=answer.model if answer is not None else "",
        prompt_version=reader[:12],
        decoding={"seed": seed},
        usage=answer.usage if answer is not None else {},
        latency_s=answer.latency_s if answer is not None else None,
        error=trace.failure,
        gold_pids=tuple(dict.fromkeys(pid for part in parts for pid in part)),
        gold_parts=parts,
        answerable=question.gold.answerable,
        slices=question.slices,
        timestamp=_utc(answered),
    )


def gold_parts(resolved: ResolvedGold) -> tuple[tuple[str, ...], ...]:
    """Pids by part, each once."""
    return tuple(
        tuple(dict.fromkeys(g.passage.pid for a in part for g in a.passages))
        for part in resolved.parts
    )


def context_of(line: TraceLine, contexts: Mapping[str, ContextLine]) -> Context:
    """The context a trace line refers to; raises KeyError where it is not stored."""
    return Context(contexts[line.context_digest].passages, line.evicted, line.budget_tokens)


def trace_of(line: TraceLine, contexts: Mapping[str, ContextLine]) -> Trace:
    """The trace a line was written from, the arm's name apart, as judges are shown it.

    Where a line does not say whether the reader gave its sentinel, its judge's word stands in.

    Args:
        line: One arm, question and replicate.
        contexts: By digest.

    Raises:
        KeyError: The context is not stored.
    """
    answer = None
    if line.answer is not None:
        answer = Answer(
            text=line.answer,
            abstained=bool(line.abstained if line.declined is None else line.declined),
            finish_reason=line.finish_reason,
            model=line.model,
            usage=line.usage,
            latency_s=line.latency_s,
        )
    return Trace(
        arm="",
        qid=line.qid,
        replicate=line.replicate,
        question=line.question,
        history=line.history,
        searches=line.searches,
        candidates=line.candidates,
        retrieved=tuple(Hit(hit.pid, hit.score) for hit in line.retrieved),
        gate=line.gate,
        context=context_of(line, contexts),
        context_digest=line.context_digest,
        frame_digest=line.frame_digest,
        prompt_digest=line.prompt_digest,
        answer=answer,
        failure=line.error,
    )


def _utc(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="milliseconds")

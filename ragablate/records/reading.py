"""Prompts, answers, traces and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragablate.records.data import Turn
from ragablate.records.items import Failure
from ragablate.records.upstream import Context, GateDecision, Ranking


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a prompt."""

    role: Literal["system", "user", "assistant"]
    """Chat role; adjacent segments of one role are one message."""
    text: str
    """The piece, verbatim."""
    pid: str = ""
    """The passage this piece is the evidence of; empty for the frame around the evidence."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Exactly what a reader is given for one question."""

    qid: str
    """The question."""
    question: str
    """The question's text, for readers that do not work from rendered text."""
    segments: tuple[Segment, ...]
    """Concatenated in order they are the prompt; those with a pid are the evidence block."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """One decode of one prompt."""

    id: str
    """Unique within the batch."""
    prompt: Prompt
    """What to answer."""
    replicate: int
    """Which decode of this prompt, from 1."""
    seed: int
    """Seed of this decode, the same in every arm (63 bits)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader said."""

    text: str
    """Verbatim; empty is an incomplete answer, not an error."""
    abstained: bool = False
    """The reader's own sentinel; judges also look for phrases."""
    finish_reason: str = "stop"
    """``stop``, ``length`` (cut off), ``content_filter``, …"""
    model: str = ""
    """Model name the server or adapter reports, with its revision or fingerprint."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """Token counts as reported (``prompt_tokens``, ``completion_tokens``)."""
    latency_s: float | None = None
    """Seconds of wall clock as the adapter measured them; no digest depends on it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One line per arm, question and replicate: what every stage did."""

    arm: str
    """The arm's name."""
    qid: str
    """The question's id."""
    replicate: int
    """Which decode, from 1."""
    question: str
    """The question's text."""
    history: tuple[Turn, ...]
    """Earlier turns."""
    searches: tuple[str, ...]
    """What was searched."""
    candidates: Ranking
    """What the retriever returned."""
    retrieved: Ranking
    """The ranking handed to the assembler."""
    gate: GateDecision | None
    """The gate's decision; ``None`` where an intervention overrode it."""
    context: Context
    """What the reader saw, after the intervention."""
    context_digest: str
    """sha256 over the ordered (pid, text) pairs."""
    frame_digest: str
    """sha256 over the prompt with the evidence block cut out; empty without a prompt."""
    prompt_digest: str
    """sha256 over the whole prompt; empty where the gate refused."""
    answer: Answer | None
    """What was said; ``None`` with a failure."""
    failure: Failure | None
    """What went wrong, where something did."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The retriever's numbers about the search."""


ClaimStatus = Literal["supported", "contradicted", "unsupported", "unclear", "vague"]
"""What a passage says of a claim. ``unclear``: a judge that was asked gave no usable answer;
``vague``: words stand where the passage has a figure."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing an answer says, and the passage that decides about it."""

    text: str
    """As the answer words it: a clause, or a figure."""
    status: ClaimStatus
    """What the passages say of it."""
    pid: str = ""
    """The passage that supports or contradicts it; empty where none does."""
    quote: str = ""
    """The words of that passage which do, where they are known."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One measured value for one answer."""

    qid: str
    """The question."""
    replicate: int
    """The decode."""
    measure: str
    """Canonical name of the measure."""
    value: float | None
    """In [0, 1]; ``None`` is unmeasured."""
    reason: str = ""
    """Why it is unmeasured, or what the value rests on (a pid, a quoted span)."""
    claims: tuple[Claim, ...] = ()
    """What was checked one by one, in the order of the answer."""


MeasureStage = Literal["retrieve", "assemble", "read"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A definition of something a judge measures."""

    name: str
    """Canonical name, such as ``ndcg@10``."""
    stage: MeasureStage
    """The stage whose output it looks at: it cannot move when only a later stage changes."""
    label: str
    """What it says, in a few words, for tables."""
    higher_is_better: bool | None = True
    """``None`` where neither direction is good in itself (abstention)."""

"""What the stages before the reader produce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragablate.records.items import Item

GateOutcome = Literal["go", "refuse", "clarify", "broaden"]
"""What a gate decides before anything is assembled."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage of a ranking."""

    pid: str
    """The passage."""
    score: float
    """Higher is better; comparable only within one ranking."""


Ranking = tuple[Hit, ...]
"""Hits by descending score, ties by ascending pid. Empty is a valid ranking."""


@dataclass(frozen=True, slots=True)
class SearchResult(Item[Ranking]):
    """A ranking with numbers about its search: what a retriever may answer for a plain item."""

    signals: Mapping[str, float] = field(default_factory=dict)
    """By name, finite; they reach the trace and the gate. One that a search has no value for is
    left out. Of several searches of a question the lowest stands."""


@dataclass(frozen=True, slots=True)
class Searches:
    """What a rewriter wants searched for one question."""

    texts: tuple[str, ...]
    """Searched apart and fused by the pipeline; empty searches nothing."""
    final: bool = True
    """False asks to be called again with the results, within the rewriter's bound."""
    k: int = 60
    """How much the fusion of several searches levels the top ranks: the larger, the more a
    passage that several searches find beats the best of each."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether the question goes on to the reader."""

    outcome: GateOutcome
    """``go``, or one of the ways not to answer."""
    reason: str = ""
    """What is missing, in a sentence a user may read."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The numbers behind the decision."""


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """A passage as the reader sees it."""

    pid: str
    """The passage, or ``gold:<qid>:<part>`` for a gold text that is in no corpus."""
    text: str
    """The exact text that enters the prompt, header (title, metadata) included."""
    body: str
    """The part of ``text`` that is the passage's own text, after truncation."""
    truncated: bool = False
    """Whether the end of the passage's own text was cut off."""
    tokens: int = 0
    """Length of ``text`` by the assembler's tokenizer."""
    removed: tuple[str, ...] = ()
    """What cleaning took out of the passage's own text, in order."""


@dataclass(frozen=True, slots=True)
class Evicted:
    """A retrieved passage that did not enter the context."""

    pid: str
    """The passage."""
    reason: Literal["deduped", "budget_cut", "depth_cut", "cleaned", "displaced"]
    """``displaced``: an intervention dropped it to keep the budget."""


@dataclass(frozen=True, slots=True)
class Context:
    """The evidence block of one question, in prompt order."""

    passages: tuple[ContextPassage, ...] = ()
    """In the order the reader sees them."""
    evicted: tuple[Evicted, ...] = ()
    """What was retrieved and left out."""
    budget_tokens: int | None = None
    """The budget it was assembled under; ``None`` is unlimited."""


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A gold passage rendered by the control's assembler, untruncated."""

    passage: ContextPassage
    """What an intervention puts into a context."""
    evidence: tuple[str, ...] = ()
    """Verbatim pieces of ``passage.body`` that carry the evidence, all needed; empty where
    it is not located, and then the whole body is needed."""
    indexed: bool = True
    """Whether the corpus holds the passage, so that a retriever could find it."""


@dataclass(frozen=True, slots=True)
class ResolvedAlternative:
    """One alternative of a part, as passages."""

    passages: tuple[GoldPassage, ...]
    """All needed, or any one where ``any_of`` is set."""
    any_of: bool = False
    """Document-level gold: which passage carries the evidence is not known."""


@dataclass(frozen=True, slots=True)
class ResolvedGold:
    """The gold of one question after chunking: what an intervention may supply or remove."""

    qid: str
    """The question."""
    parts: tuple[tuple[ResolvedAlternative, ...], ...] = ()
    """Per part its alternatives, in their given order; empty for an eval gap."""
    answerable: bool = True
    """Copied from the gold: an unanswerable question has no evidence to supply."""

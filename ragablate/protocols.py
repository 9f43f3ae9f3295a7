"""The seams of the pipeline, one protocol a stage.

    documents ─chunk─▶ passages
    question ─rewrite─▶ searches ─retrieve─▶ candidates ─rerank─▶ retrieved
      ─gate─▶ go | refuse ─assemble─▶ context ─intervene─▶ context ─read─▶ answer
      ─judge─▶ verdicts

Rules every adapter keeps (``tests/contract`` enforces them):

1. Batch in; results come as they are ready, in any order, one for each input, by its ``id``.
2. Deterministic: equal constructor arguments and inputs give equal outputs; a reader that
   cannot promise this sets ``stochastic = True`` and uses the request's seed.
3. No gold before the judge: only ``intervene`` and ``judge`` have a parameter that can
   carry it.
4. Constructors only store plain values (no ``DictConfig``); indexes and models load on
   first use. Every knob is a constructor argument. Knobs that cannot change an answer
   are in the argument ``runtime``.
5. Rankings are sorted by descending score, ties by ascending pid; empty is valid.
6. A failure of one item is an ``Item`` with a ``Failure``, not an exception.

A stage may ask a reader of its own (to rewrite a question, to check relevance, to judge):

* its constructor has an argument ``reader``, or ``readers`` for several by name;
* its YAML composes the reader from the group, ``defaults: [/reader@reader: smollm2, _self_]``,
  so that ``reader@rewriter.reader=openai_chat`` on the command line, or in a level of an
  experiment on the rewriter, chooses another; it has ``seed: ${seed}``;
* it makes a ``Prompt`` in words of its own and asks by ``ragablate.read.asking.ask``;
* the runner builds the reader as it builds any, collects its ``problems()`` under
  ``rewriter.reader``, counts its config and source in the fingerprint of the stage, loads a
  model that several stages name alike once, and closes it. Its answers come from the store
  where they are in it, and its calls and cost count in ``budget``;
* what it could not answer is passed on as the failure it is: *infrastructure* leaves the
  question unmeasured and is tried again by the next execution, an answer that cannot be used
  is an outcome of the stage.

Optional methods, found by name:

* ``problems() -> list[str]``: what would stop it from running (a missing file, extra or
  model), one sentence each, found without loading anything heavy;
* ``identity() -> dict``: constructor arguments to replace in the fingerprint, such as a
  path by the digest of the file it names;
* ``close() -> None``: end child processes and connections;
* ``cost_usd(answer) -> float | None`` and ``most_usd(request) -> float | None``, of a reader
  that costs money: what an answer cost and can cost at most; ``None`` where unknown;
* ``estimate(prompts)``, of the same: a ``ragablate.read.prices.Estimate`` of each answer;
* ``read_together([(reader, request)])``, a static method of a reader: yields ``(reader, item)``
  for several readers of its class, asked in the order given rather than one after the other.

Optional attributes, ``False`` where absent:

* ``cheap``: pure, and quicker than reading its results back: not stored;
* ``stochastic``, of a reader: equal prompts may get different answers;
* ``remote``, of a reader: it asks a model elsewhere, which may change without notice;
* ``keeps_gate``, of an intervention: a gate's refusal stands;
* ``decides_on`` (names of signals) and ``segment`` (the one slice it is shown), of a gate;
* ``fuses``, of a rewriter or retriever: its ranking may be fused by rank, without distances;
* ``keeps_scores``, of a reranker: the retriever's; ``rounds`` (an int), of a rewriter: its most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Corpus,
    Dataset,
    Document,
    GateDecision,
    Gold,
    Item,
    Measure,
    Passage,
    Prompt,
    Question,
    Ranking,
    ReadRequest,
    ResolvedGold,
    Searches,
    Trace,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """One question to turn into searches."""

    id: str
    """Unique within the batch."""
    question: Question
    """With its history."""
    results: Ranking = ()
    """What the searches so far found, for a rewriter that reads and searches again."""
    round: int = 0
    """How often this question was searched before."""
    broaden: bool = False
    """A gate asked for a broader search."""
    passages: tuple[Passage, ...] = ()
    """What ``results`` names, best first, as the corpus holds it."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search."""

    id: str
    """Unique within the batch."""
    text: str
    """What to search for."""
    question: Question
    """Carries the filter and the pool; its text is not what is searched."""


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """One ranking to reorder and cut."""

    id: str
    """Unique within the batch."""
    question: Question
    """The original question."""
    candidates: Ranking
    """What the retriever returned."""


@dataclass(frozen=True, slots=True)
class GateRequest:
    """One question to let through or refuse."""

    id: str
    """Unique within the batch."""
    question: Question
    """The original question."""
    candidates: Ranking
    """With the retriever's scores."""
    retrieved: Ranking
    """With the reranker's scores."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """The retriever's numbers about the search (``SearchResult``)."""


@dataclass(frozen=True, slots=True)
class AssembleRequest:
    """One ranking to turn into a context."""

    id: str
    """Unique within the batch."""
    question: Question
    """The original question."""
    retrieved: Ranking
    """Best first."""


@dataclass(frozen=True, slots=True)
class InterveneRequest:
    """One context to keep, replace or edit."""

    id: str
    """Unique within the batch."""
    question: Question
    """The original question."""
    context: Context
    """As assembled."""
    retrieved: Ranking
    """The ranking the context was assembled from."""
    gold: ResolvedGold
    """Rendered by the same assembler."""
    other: Context | None = None
    """The context of the arm an intervention refers to, where it refers to one."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One answer to measure."""

    id: str
    """Unique within the batch."""
    trace: Trace
    """What every stage did. Judges are blind to ``trace.arm``, which is empty here."""
    gold: Gold
    """References and answerability."""
    resolved: ResolvedGold
    """Which passages carry the gold, and where in them."""


@runtime_checkable
class DatasetSource(Protocol):
    """→ documents or passages, questions, gold."""

    def load(self) -> Dataset:
        """Read everything; raises ``DatasetError`` with all problems found."""
        ...


@runtime_checkable
class Chunker(Protocol):
    """documents → passages."""

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order; ``text`` equals ``document.text[start:start + len]``.

        The runner checks every passage. What is searched may differ from the text: a
        ``SearchedPassage`` has a preface, or pieces that are searched apart.
        """
        ...


@runtime_checkable
class Rewriter(Protocol):
    """question + history (+ results so far) → searches."""

    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        """Say what to search. Attribute ``broader``: searches it has when asked to broaden."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """searches → candidates."""

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Search ``corpus``, indexed on first use; items with signals are ``SearchResult``."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """candidates → retrieved."""

    def rerank(self, corpus: Corpus, requests: Sequence[RerankRequest]) -> Iterator[Item[Ranking]]:
        """Reorder and cut to ``top_k``."""
        ...


@runtime_checkable
class Gate(Protocol):
    """candidates, retrieved → go, refuse, clarify or broaden."""

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        """Decide whether the question goes on."""
        ...


@runtime_checkable
class Assembler(Protocol):
    """retrieved → context, with what was evicted or truncated and why."""

    def assemble(
        self, corpus: Corpus, requests: Sequence[AssembleRequest]
    ) -> Iterator[Item[Context]]:
        """Choose, order and cut passages under the budget."""
        ...

    def render(self, passage: Passage) -> ContextPassage:
        """One passage in full, as this assembler would show it."""
        ...


@runtime_checkable
class Intervention(Protocol):
    """assembled context + gold → context: a level of the stage ``context``."""

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """Keep, replace or edit what the reader will see."""
        ...


@runtime_checkable
class Reader(Protocol):
    """question + context → prompt → answer."""

    def prompt(self, question: Question, context: Context) -> Prompt:
        """The exact prompt: pure, and free of anything but its two arguments."""
        ...

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """Answer each prompt."""
        ...


@runtime_checkable
class Judge(Protocol):
    """trace + gold → verdicts."""

    def measures(self) -> tuple[Measure, ...]:
        """What it measures; every request gets exactly one verdict for each."""
        ...

    def judge(self, requests: Sequence[JudgeRequest]) -> Iterator[Item[tuple[Verdict, ...]]]:
        """Measure each answer; what cannot be determined is a verdict of ``None``."""
        ...

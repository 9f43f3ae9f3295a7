"""One arm from question to context, in domain order.

Every stage's result is known by a lineage fingerprint: the adapter's own and those of what
fed it. Two arms whose pipelines agree up to a stage share that stage's results, as the
same objects: what is upstream of a change is literally the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from ragablate.adapters import Pipeline
from ragablate.broadening import Ranked, broadening, joined, may_broaden, settled
from ragablate.codec import digest
from ragablate.dataset.digests import corpus_digest
from ragablate.gating import gate_requests
from ragablate.gold import resolve
from ragablate.prepared import (
    ByQid,
    Found,
    Prepared,
    failed,
    prepared,
    value,
)
from ragablate.protocols import (
    AssembleRequest,
    InterveneRequest,
    RerankRequest,
)
from ragablate.records import (
    Context,
    Corpus,
    Dataset,
    GateDecision,
    Item,
    Passage,
    Ranking,
    ResolvedGold,
)
from ragablate.searched import Searched, cut, searched
from ragablate.searching import Searching
from ragablate.sharing import Shared, over
from ragablate.stages import Progress
from ragablate.store import Store

T = TypeVar("T")
_PURE = {"assemble", "intervene"}


class Upstream:
    """Runs the stages before the reader for any arm, sharing what arms have in common.

    Args:
        dataset: Questions, gold and what is searched.
        store: Where results are kept.
        progress: Told as results arrive.
        coverage: Share of a gold span that passages must hold, as ``resolve`` takes it.
    """

    def __init__(
        self, dataset: Dataset, store: Store, progress: Progress, coverage: float = 1.0
    ) -> None:
        self.dataset = dataset
        self._coverage = coverage
        self._progress = progress
        self._shown: dict[str, dict[str, Context]] = {}
        self._found: dict[str, Found] = {}
        # Slices are for reporting, and may tell what is answerable: no stage sees them.
        self._questions = {q.qid: replace(q, slices={}) for q in dataset.questions}
        self._shared = Shared(dataset, store, progress)
        self._searching = Searching(self._questions, self._shared, self.searched)

    def prepare(self, name: str, arm: Pipeline) -> dict[str, Prepared]:
        """Everything up to the context, by qid, in question order.

        Args:
            name: Of the arm, for interventions of later arms that refer to its contexts.
            arm: Its adapters. An arm it refers to must have been prepared before.
        """
        corpus = self.corpus(arm)
        ranked = self._ranked(arm, corpus, self._searching.found(arm, corpus))
        ranked, gates = self._gated(arm, corpus, ranked)
        self._found[name] = ranked.found
        contexts = self._contexts(arm, corpus, ranked.retrieved, ranked.lineage)
        each = {
            qid: prepared(q, ranked.found, ranked.retrieved, gates, contexts)
            for qid, q in self._questions.items()
        }
        self._shown[name] = {qid: one.context for qid, one in each.items()}
        return each

    def corpus(self, arm: Pipeline) -> Corpus:
        """What an arm searches: the data set's passages, or its documents cut by the chunker."""

        def build() -> Corpus:
            passages: tuple[Passage, ...] = self.dataset.passages
            if self.dataset.documents:
                passages = cut(arm["chunker"], self.dataset.documents, self._progress)
            return Corpus(passages, corpus_digest(passages))

        kind = arm.fingerprints["chunker"] if self.dataset.documents else ""
        return self._shared.once(digest("corpus", kind), build)

    def searched(self, corpus: Corpus) -> Searched:
        """What retrievers are given of a corpus."""
        return self._shared.once(digest("searched", corpus.digest), lambda: searched(corpus))

    def resolved(self, arm: Pipeline) -> dict[str, ResolvedGold]:
        """The gold of every question in an arm's corpus, rendered by its assembler, by qid."""
        corpus = self.corpus(arm)

        def build() -> dict[str, ResolvedGold]:
            documents = {d.doc_id: d for d in self.dataset.documents}
            render = arm["assembler"].render
            return {
                qid: resolve(self.dataset.gold[qid], corpus, documents, render, self._coverage)
                for qid in self._questions
            }

        key = digest("resolved", corpus.digest, arm.fingerprints["assembler"])
        return self._shared.once(key, build)

    def found(self, name: str) -> Found:
        """What a prepared arm searched and found; raises KeyError."""
        return self._found[name]

    # ── stages ──────────────────────────────────────────────────────────────────────────

    def _ranked(self, arm: Pipeline, corpus: Corpus, found: Found) -> Ranked:
        lineage = digest("rerank", arm.fingerprints["reranker"], found.lineage)

        def build() -> dict[str, Item[Ranking]]:
            requests = [
                RerankRequest(qid, self._questions[qid], item.value)
                for qid, item in found.candidates.items()
                if item.value is not None
            ]
            reranker = arm["reranker"]
            call = over(reranker.rerank, corpus)
            done = self._shared.run("rerank", reranker, call, Item[Ranking], lineage, requests)
            return {**failed(found.candidates), **done}

        return Ranked(found, self._shared.once(lineage, build), lineage)

    def _decided(self, arm: Pipeline, corpus: Corpus, ranked: Ranked) -> ByQid[GateDecision]:
        lineage = _of_gate(arm, ranked)
        gate = arm["gate"]

        def build() -> dict[str, Item[GateDecision]]:
            questions = {q.qid: q for q in self.dataset.questions if q.qid in ranked.retrieved}
            requests = gate_requests(gate, questions, ranked.found, ranked.retrieved)
            call = over(gate.decide, corpus)
            return self._shared.run("gate", gate, call, Item[GateDecision], lineage, requests)

        return self._shared.once(lineage, build)

    def _gated(
        self, arm: Pipeline, corpus: Corpus, ranked: Ranked
    ) -> tuple[Ranked, ByQid[GateDecision]]:
        """Decisions by qid, after one broader search where the gate asks for it.

        An intervention overrides what a gate decides, so there are none then; but a search that
        the gate had broadened is what control's was, or more than the context would differ.
        """
        kept = bool(getattr(arm["context"], "keeps_gate", False))
        if not kept and not may_broaden(arm["gate"]):
            return ranked, {}
        decided = self._decided(arm, corpus, ranked)
        asking = broadening(decided)
        if asking:
            upstream = _of_gate(arm, ranked)
            broader = self._searching.broader(arm, corpus, ranked.found, asking, upstream)
            again = self._ranked(arm, corpus, broader)
            decided = settled(decided, again, self._decided(arm, corpus, again))
            ranked = joined(ranked, again)
        return ranked, decided if kept else {}

    def _contexts(
        self, arm: Pipeline, corpus: Corpus, retrieved: ByQid[Ranking], upstream: str
    ) -> ByQid[Context]:
        lineage = digest("assemble", arm.fingerprints["assembler"], upstream)
        assembler = arm["assembler"]

        def assemble() -> dict[str, Item[Context]]:
            requests = [
                AssembleRequest(qid, self._questions[qid], item.value)
                for qid, item in retrieved.items()
                if item.value is not None
            ]
            call = over(assembler.assemble, corpus)
            done = self._shared.run("assemble", assembler, call, Item[Context], lineage, requests)
            return {**failed(retrieved), **done}

        assembled = self._shared.once(lineage, assemble)
        changed = digest("intervene", arm.fingerprints["context"], lineage)
        return self._shared.once(
            changed, lambda: self._intervene(arm, assembled, retrieved, changed)
        )

    def _intervene(
        self, arm: Pipeline, assembled: ByQid[Context], retrieved: ByQid[Ranking], lineage: str
    ) -> dict[str, Item[Context]]:
        gold = self.resolved(arm)
        context = arm["context"]
        other = self._shown.get(referred(arm), {})
        requests = [
            InterveneRequest(
                qid,
                self._questions[qid],
                item.value,
                value(retrieved[qid]),
                gold[qid],
                other.get(qid),
            )
            for qid, item in assembled.items()
            if item.value is not None
        ]
        done = self._shared.run(
            "intervene", context, context.intervene, Item[Context], lineage, requests
        )
        return {**failed(assembled), **done}


def _of_gate(arm: Pipeline, ranked: Ranked) -> str:
    return digest("gate", arm.fingerprints["gate"], ranked.lineage)


def referred(arm: Pipeline) -> str:
    """Name of the arm whose contexts an arm's intervention refers to; empty for none."""
    return str(getattr(arm["context"], "arm", ""))

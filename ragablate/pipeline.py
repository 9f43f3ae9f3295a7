"""One arm from question to context, in domain order.

Every stage's result is known by a lineage fingerprint: the adapter's own and those of what
fed it. Two arms whose pipelines agree up to a stage share that stage's results, as the
same objects: what is upstream of a change is literally the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from ragablate.adapters import Pipeline
from ragablate.codec import digest
from ragablate.dataset.digests import corpus_digest, question_digest
from ragablate.gating import gate_requests
from ragablate.gold import resolve
from ragablate.prepared import (
    ByQid,
    Found,
    Prepared,
    extended,
    failed,
    fused,
    lowest,
    prepared,
    texts,
    value,
)
from ragablate.protocols import (
    AssembleRequest,
    InterveneRequest,
    RerankRequest,
    RewriteRequest,
    SearchRequest,
)
from ragablate.records import (
    Context,
    Corpus,
    Dataset,
    GateDecision,
    Item,
    Passage,
    Question,
    Ranking,
    ResolvedGold,
    Searches,
    SearchResult,
)
from ragablate.searched import Searched, cut, searched
from ragablate.stages import Progress, Work, run, shipped
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
        self._store = store
        self._progress = progress
        self._memo: dict[str, Any] = {}
        self._shown: dict[str, dict[str, Context]] = {}
        self._found: dict[str, Found] = {}
        # Slices are for reporting, and may tell what is answerable: no stage sees them.
        self._questions = {q.qid: replace(q, slices={}) for q in dataset.questions}
        # A question's content is in its key, so an edited question is a new one.
        self._content = {q.qid: question_digest(q)[:16] for q in dataset.questions}

    def prepare(self, name: str, arm: Pipeline) -> dict[str, Prepared]:
        """Everything up to the context, by qid, in question order.

        Args:
            name: Of the arm, for interventions of later arms that refer to its contexts.
            arm: Its adapters. An arm it refers to must have been prepared before.
        """
        corpus = self.corpus(arm)
        self._found[name] = found = self._search(arm, corpus)
        lineage = digest("rerank", arm.fingerprints["reranker"], found.lineage)
        retrieved = self._once(lineage, lambda: self._rerank(arm, corpus, found, lineage))
        gates = self._gate(arm, corpus, found, retrieved, lineage)
        contexts = self._contexts(arm, corpus, retrieved, lineage)
        each = {
            qid: prepared(q, found, retrieved, gates, contexts)
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
        return self._once(digest("corpus", kind), build)

    def searched(self, corpus: Corpus) -> Searched:
        """What retrievers are given of a corpus."""
        return self._once(digest("searched", corpus.digest), lambda: searched(corpus))

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
        return self._once(key, build)

    def found(self, name: str) -> Found:
        """What a prepared arm searched and found; raises KeyError."""
        return self._found[name]

    # ── stages ──────────────────────────────────────────────────────────────────────────

    def _search(self, arm: Pipeline, corpus: Corpus) -> Found:
        """Rewrite and retrieve, again while the rewriter asks for another round."""
        own = arm.fingerprints["rewriter"]
        first = digest("rewrite", own)
        requests = [RewriteRequest(qid, q) for qid, q in self._questions.items()]
        searches = self._once(first, lambda: self._rewrite(arm, first, requests))
        found = self._retrieve(arm, corpus, searches, first)
        for number in range(1, int(getattr(arm["rewriter"], "rounds", 1))):
            waiting = [
                _another(self._questions[qid], value(found.candidates[qid]), number, corpus)
                for qid, item in found.searches.items()
                if item.value is not None and not item.value.final
            ]
            if not waiting:
                break
            lineage = digest("rewrite", own, number, found.lineage)
            again = self._rewrite(arm, lineage, waiting)
            found = self._retrieve(arm, corpus, extended(found.searches, again), lineage)
        return found

    def _rewrite(
        self, arm: Pipeline, lineage: str, requests: Sequence[RewriteRequest]
    ) -> dict[str, Item[Searches]]:
        rewriter = arm["rewriter"]
        return self._run("rewrite", rewriter, rewriter.rewrite, Item[Searches], lineage, requests)

    def _retrieve(
        self, arm: Pipeline, corpus: Corpus, searches: ByQid[Searches], upstream: str
    ) -> Found:
        lineage = digest("retrieve", arm.fingerprints["retriever"], corpus.digest, upstream)

        def build() -> Found:
            requests = [
                SearchRequest(f"{qid}#{number}", text, q)
                for qid, q in self._questions.items()
                for number, text in enumerate(texts(searches[qid]))
            ]
            retriever = arm["retriever"]
            view = self.searched(corpus)
            call = _over(retriever.retrieve, view.corpus)
            items = self._run("retrieve", retriever, call, SearchResult, lineage, requests)
            ranked = {key: view.passages(item) for key, item in items.items()}
            candidates = {qid: fused(qid, searches[qid], ranked) for qid in self._questions}
            return Found(searches, candidates, lineage, lowest(searches, ranked))

        return self._once(lineage, build)

    def _rerank(
        self, arm: Pipeline, corpus: Corpus, found: Found, lineage: str
    ) -> dict[str, Item[Ranking]]:
        requests = [
            RerankRequest(qid, self._questions[qid], item.value)
            for qid, item in found.candidates.items()
            if item.value is not None
        ]
        reranker = arm["reranker"]
        call = _over(reranker.rerank, corpus)
        done = self._run("rerank", reranker, call, Item[Ranking], lineage, requests)
        return {**failed(found.candidates), **done}

    def _gate(
        self,
        arm: Pipeline,
        corpus: Corpus,
        found: Found,
        retrieved: ByQid[Ranking],
        upstream: str,
    ) -> ByQid[GateDecision]:
        """Decisions by qid; empty where an intervention overrides the gate."""
        if not getattr(arm["context"], "keeps_gate", False):
            return {}
        lineage = digest("gate", arm.fingerprints["gate"], upstream)
        gate = arm["gate"]

        def build() -> dict[str, Item[GateDecision]]:
            questions = {q.qid: q for q in self.dataset.questions}
            requests = gate_requests(gate, questions, found, retrieved)
            call = _over(gate.decide, corpus)
            return self._run("gate", gate, call, Item[GateDecision], lineage, requests)

        return self._once(lineage, build)

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
            call = _over(assembler.assemble, corpus)
            done = self._run("assemble", assembler, call, Item[Context], lineage, requests)
            return {**failed(retrieved), **done}

        assembled = self._once(lineage, assemble)
        changed = digest("intervene", arm.fingerprints["context"], lineage)
        return self._once(changed, lambda: self._intervene(arm, assembled, retrieved, changed))

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
        done = self._run("intervene", context, context.intervene, Item[Context], lineage, requests)
        return {**failed(assembled), **done}

    # ── running ─────────────────────────────────────────────────────────────────────────

    def _run(
        self,
        stage: str,
        adapter: Any,
        call: Callable[[Sequence[Any]], Iterator[Item[T]]],
        kind: type[Item[T]],
        lineage: str,
        requests: Iterable[Any],
    ) -> dict[str, Item[T]]:
        """Results by request id."""
        cheap = bool(getattr(adapter, "cheap", stage in _PURE))
        trusted = cheap and stage in _PURE and shipped(adapter)
        work: Work[Any, T] = Work(stage, lineage, kind, call, cheap, trusted)
        keyed = {f"{r.id}:{self._content[r.question.qid]}": r for r in requests}
        results = run(work, keyed, self._store, self._progress)
        return {keyed[key].id: item for key, item in results.items()}

    def _once(self, key: str, build: Callable[[], T]) -> T:
        if key not in self._memo:
            self._memo[key] = build()
        return cast(T, self._memo[key])


def referred(arm: Pipeline) -> str:
    """Name of the arm whose contexts an arm's intervention refers to; empty for none."""
    return str(getattr(arm["context"], "arm", ""))


def _another(question: Question, results: Ranking, number: int, corpus: Corpus) -> RewriteRequest:
    passages = tuple(corpus.by_pid[hit.pid] for hit in results if hit.pid in corpus.by_pid)
    return RewriteRequest(question.qid, question, results, number, passages=passages)


def _over(method: Callable[..., Iterator[Item[T]]], corpus: Corpus) -> Any:
    return lambda requests: method(corpus, requests)

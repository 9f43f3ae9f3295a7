"""Rewriting and retrieving, in as many rounds as a rewriter or a gate asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ragablate.adapters import Pipeline
from ragablate.codec import digest
from ragablate.prepared import ByQid, Found, extended, fused, lowest, replaced, texts, value
from ragablate.protocols import RewriteRequest, SearchRequest
from ragablate.records import Corpus, Item, Question, Ranking, Searches, SearchResult
from ragablate.searched import Searched
from ragablate.sharing import Shared, over


class Searching:
    """Searches for any arm, sharing what arms have in common.

    Args:
        questions: By qid, as stages may see them.
        shared: What was made before.
        view: What a retriever is given of a corpus.
    """

    def __init__(
        self,
        questions: Mapping[str, Question],
        shared: Shared,
        view: Callable[[Corpus], Searched],
    ) -> None:
        self._questions = questions
        self._shared = shared
        self._view = view

    def found(self, arm: Pipeline, corpus: Corpus) -> Found:
        """Rewrite and retrieve, again while the rewriter asks for another round."""
        own = arm.fingerprints["rewriter"]
        first = digest("rewrite", own)
        requests = [RewriteRequest(qid, q) for qid, q in self._questions.items()]
        searches = self._shared.once(first, lambda: self._rewrite(arm, first, requests))
        found = self._retrieve(arm, corpus, searches, first)
        for number in range(1, rounds(arm)):
            waiting = [
                self._another(found, qid, number, corpus)
                for qid, item in found.searches.items()
                if item.value is not None and not item.value.final
            ]
            if not waiting:
                break
            lineage = digest("rewrite", own, number, found.lineage)
            again = self._rewrite(arm, lineage, waiting)
            found = self._retrieve(arm, corpus, extended(found.searches, again), lineage)
        return found

    def broader(
        self, arm: Pipeline, corpus: Corpus, found: Found, asking: Sequence[str], upstream: str
    ) -> Found:
        """What a broader search finds, of the questions for which the rewriter has one.

        Args:
            arm: Its adapters.
            corpus: What it searches.
            found: What was found so far.
            asking: Qids for which a gate asks.
            upstream: Lineage of its decisions: another gate asks for other questions.
        """
        lineage = digest("broaden", arm.fingerprints["rewriter"], upstream)
        requests = [self._another(found, qid, rounds(arm), corpus, broaden=True) for qid in asking]

        def build() -> Found:
            again = self._rewrite(arm, lineage, requests)
            return self._retrieve(arm, corpus, replaced(found.searches, again), lineage)

        return self._shared.once(lineage, build)

    def _another(
        self, found: Found, qid: str, number: int, corpus: Corpus, broaden: bool = False
    ) -> RewriteRequest:
        results = value(found.candidates[qid])
        passages = tuple(corpus.by_pid[hit.pid] for hit in results if hit.pid in corpus.by_pid)
        return RewriteRequest(qid, self._questions[qid], results, number, broaden, passages)

    def _rewrite(
        self, arm: Pipeline, lineage: str, requests: Sequence[RewriteRequest]
    ) -> dict[str, Item[Searches]]:
        rewriter = arm["rewriter"]
        return self._shared.run(
            "rewrite", rewriter, rewriter.rewrite, Item[Searches], lineage, requests
        )

    def _retrieve(
        self, arm: Pipeline, corpus: Corpus, searches: ByQid[Searches], upstream: str
    ) -> Found:
        lineage = digest("retrieve", arm.fingerprints["retriever"], corpus.digest, upstream)

        def build() -> Found:
            requests = [
                SearchRequest(f"{qid}#{number}", text, self._questions[qid])
                for qid in self._questions
                if qid in searches
                for number, text in enumerate(texts(searches[qid]))
            ]
            retriever = arm["retriever"]
            view = self._view(corpus)
            call = over(retriever.retrieve, view.corpus)
            items = self._shared.run("retrieve", retriever, call, SearchResult, lineage, requests)
            ranked: dict[str, Item[Ranking]] = {
                key: view.passages(item) for key, item in items.items()
            }
            candidates = {
                qid: fused(qid, searches[qid], ranked) for qid in self._questions if qid in searches
            }
            return Found(searches, candidates, lineage, lowest(searches, ranked))

        return self._shared.once(lineage, build)


def rounds(arm: Pipeline) -> int:
    """How often an arm's rewriter may search a question by itself."""
    return int(getattr(arm["rewriter"], "rounds", 1))

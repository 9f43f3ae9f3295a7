"""A researcher's own reranker, as a plain function."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragablate.errors import AdapterError
from ragablate.failures import RAISED, failure_of
from ragablate.functions import function_problems, function_version, load_function
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Failure, Hit, Item, Ranking
from ragablate.rerank.none import cut_problems


class FunctionReranker:
    """Passages by the scores of a function ``(question, passages, scores) -> scores``.

    ``question`` is the question's text, ``passages`` are ``Passage`` records in the
    retriever's order and ``scores`` its scores. The function returns one finite number a
    passage, higher is better; ties are broken by pid. It is called once a question with at
    least one candidate. An exception or a wrong return value fails that question only.

    Args:
        function: ``package.module:name``.
        top_k: How many passages are kept; ``None`` keeps all.
        version: What stands for the function's source in the fingerprint; change it when
            the function comes to answer otherwise. Empty takes a hash of its source.
        args: Further keyword arguments for the function.
    """

    def __init__(
        self,
        function: str,
        top_k: int | None = 10,
        version: str = "",
        args: Mapping[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.top_k = top_k
        self.version = version
        self.args = args

    def problems(self) -> list[str]:
        """A function that cannot be loaded, a cut that keeps nothing."""
        return cut_problems(self.top_k) + function_problems(self.function, "reranker.function")

    def identity(self) -> dict[str, object]:
        """The function's version, or its source."""
        return {"version": function_version(self.function, self.version)}

    def rerank(self, corpus: Corpus, requests: Sequence[RerankRequest]) -> Iterator[Item[Ranking]]:
        """Rerank one question after the other."""
        for problem in cut_problems(self.top_k):
            raise AdapterError(f"reranker: {problem}")
        for request in requests:
            yield self._rerank(corpus, request)

    def _rerank(self, corpus: Corpus, request: RerankRequest) -> Item[Ranking]:
        hits = request.candidates
        if not hits:
            return Item(request.id, ())
        function = load_function(self.function, "reranker.function")
        what = f"reranker.function {self.function}"
        try:
            passages = [corpus.by_pid[hit.pid] for hit in hits]
            old = [hit.score for hit in hits]
            new = list(function(request.question.text, passages, old, **(self.args or {})))
            scores = [float(score) for score in new]
        except RAISED as error:
            return Item(request.id, None, failure_of(error, what))
        if len(scores) != len(hits) or not all(map(math.isfinite, scores)):
            return Item(request.id, None, Failure("pipeline", _wrong(what, scores, len(hits))))
        ranked = [Hit(hit.pid, score) for hit, score in zip(hits, scores, strict=True)]
        ranked.sort(key=lambda hit: (-hit.score, hit.pid))
        return Item(request.id, tuple(ranked[: self.top_k]))


def _wrong(what: str, scores: Sequence[float], wanted: int) -> str:
    if len(scores) != wanted:
        return f"{what} returned {len(scores)} scores for {wanted} passages"
    return f"{what} returned a score that is not a finite number"

"""A retriever that is a function of the user's."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from ragablate.errors import AdapterError
from ragablate.failures import RAISED, failure_of
from ragablate.functions import function_problems, function_version, load_function
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Ranking
from ragablate.retrieve.restrict import depth_problems, restriction

_WHERE = "retriever.function"


class FunctionRetriever:
    """Retrieval by a plain function, called once a search.

    The function has this form, and may take more by keyword (``args``)::

        def search(
            question: str, passages: Sequence[Passage], depth: int
        ) -> Iterable[tuple[str, float]] | Mapping[str, float]:
            ...

    ``question`` is the text to search for, ``passages`` what may be found, by ascending
    pid. They are one and the same tuple in every call on one corpus (pool and filter
    apart), so an index can be kept by ``id(passages)``. It returns scores by pid, in any
    order, higher is better; what exceeds ``depth`` is cut off after sorting. An exception
    in it fails that search only; an answer that breaks these rules ends the execution.

    Args:
        function: ``package.module:name``.
        version: Stands for the function's source in fingerprints, where given; needed where
            it depends on more than the module it is in.
        args: Further arguments, by keyword.
        depth: How many passages a ranking holds at most.
        pool: Whether only the passages of the question's pool are given to it.
        apply_filter: Whether only passages that the question's filter passes are given to it.
    """

    def __init__(
        self,
        function: str,
        version: str = "",
        args: Mapping[str, Any] | None = None,
        depth: int = 100,
        pool: bool = False,
        apply_filter: bool = False,
    ) -> None:
        self.function = function
        self.version = version
        self.args = args
        self.depth = depth
        self.pool = pool
        self.apply_filter = apply_filter
        self._sorted: tuple[str, tuple[Passage, ...]] | None = None

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Call the function for each search.

        Raises:
            AdapterError: The function cannot be loaded, or returned something that is no
                ranking of the passages it was given.
        """
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        search = load_function(self.function, _WHERE)
        for request in requests:
            passages = self._passages(corpus, request)
            try:
                found = search(request.text, passages, self.depth, **(self.args or {}))
                # Here, because a generator of the user's runs only now.
                found = found.items() if isinstance(found, Mapping) else found
                pairs = None if found is None else list(found)
            except RAISED as error:
                failure = failure_of(error, f"{_WHERE} {self.function}")
                yield Item(request.id, None, failure)
                continue
            given = corpus.by_pid if len(passages) == len(corpus.passages) else _pids(passages)
            yield Item(request.id, self._ranking(pairs, given, request))

    def problems(self) -> list[str]:
        """A function that cannot be found, or a depth that keeps nothing."""
        return function_problems(self.function, _WHERE) + depth_problems(self.depth)

    def identity(self) -> dict[str, object]:
        """The function's version, or the digest of its source."""
        return {"version": function_version(self.function, self.version)}

    def _passages(self, corpus: Corpus, request: SearchRequest) -> tuple[Passage, ...]:
        if self._sorted is None or self._sorted[0] != corpus.digest:
            by_pid = sorted(corpus.passages, key=lambda passage: passage.pid)
            self._sorted = corpus.digest, tuple(by_pid)
        passes = restriction(corpus, request.question, self.pool, self.apply_filter)
        passages = self._sorted[1]
        return passages if passes is None else tuple(filter(passes, passages))

    def _ranking(
        self, pairs: list[Any] | None, given: Container[str], request: SearchRequest
    ) -> Ranking:
        where = f"{_WHERE} {self.function} (question '{request.question.qid}')"
        if pairs is None:
            raise AdapterError(f"{where} returned None: return pairs of pid and score")
        hits = [_hit(pair, where) for pair in pairs]
        seen: set[str] = set()
        for hit in hits:
            if hit.pid not in given:
                raise AdapterError(
                    f"{where} returned the pid '{hit.pid}', which is none of the passages it was "
                    "given: return their pids"
                )
            if hit.pid in seen:
                raise AdapterError(f"{where} returned the pid '{hit.pid}' twice: return it once")
            seen.add(hit.pid)
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.pid))[: self.depth])


def _pids(passages: Sequence[Passage]) -> frozenset[str]:
    return frozenset(passage.pid for passage in passages)


def _hit(pair: Any, where: str) -> Hit:
    try:
        if isinstance(pair, str):
            raise TypeError("a pid without a score")
        pid, score = (pair.pid, pair.score) if isinstance(pair, Hit) else pair
        hit = Hit(pid, float(score))
    except (TypeError, ValueError, OverflowError) as error:
        raise AdapterError(
            f"{where} returned {pair!r:.80} in its ranking: return pairs of pid and score"
        ) from error
    if not isinstance(pid, str) or not math.isfinite(hit.score):
        raise AdapterError(
            f"{where} returned {pair!r:.80} in its ranking: a pid is a string, and a score a "
            "finite number"
        )
    return hit

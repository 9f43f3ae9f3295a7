"""Several retrievers fused by the ranks or the scores they give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from ragablate.errors import AdapterError
from ragablate.protocols import Retriever, SearchRequest
from ragablate.records import Corpus, Failure, Item, Ranking, SearchResult
from ragablate.retrieve.fusion import NORMALISATIONS, reciprocal_rank_fusion, weighted_fusion
from ragablate.retrieve.identifiers import identifier_problems, routes, weights_for
from ragablate.retrieve.restrict import depth_problems

_FIRST = 10


class Hybrid:
    """Fusion of the rankings of any retrievers, by ranks or by scores.

    Every retriever searches to its own depth, with its own pool and filter knobs. Where one
    of them fails for a search, the hybrid fails for it: a fusion of the rest would be
    another retriever.

    Args:
        retrievers: Retrievers by a name of their own.
        k: How much the top ranks are levelled; 60 in the paper of Cormack et al. (2009).
        weights: By the retrievers' names, at least 0; 1 for a name that is left out, and for
            all where ``None``.
        depth: How many passages the fused ranking holds at most.
        fusion: ``rrf`` fuses ranks (reciprocal rank fusion), ``weighted`` scores.
        normalise: ``weighted``: ``min_max`` or ``z``, see ``fusion.weighted_fusion``.
        identifiers: ``weights`` that take the place of the others for searches that hold an
            identifier, and the ``pattern`` that tells them; ``None`` weights tell none apart.
    """

    fuses = True

    def __init__(
        self,
        retrievers: Mapping[str, Retriever],
        k: int = 60,
        weights: Mapping[str, float] | None = None,
        depth: int = 100,
        fusion: str = "rrf",
        normalise: str = "min_max",
        identifiers: Mapping[str, Any] | None = None,
    ) -> None:
        self.retrievers = retrievers
        self.k = k
        self.weights = weights
        self.depth = depth
        self.fusion = fusion
        self.normalise = normalise
        self.identifiers = identifiers

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Search with every retriever, then fuse search by search.

        Raises:
            AdapterError: A knob has no meaning, or a retriever leaves a search unanswered.
        """
        problems = self._own_problems()
        if problems:
            raise AdapterError(problems[0])
        found = {
            name: {item.id: item for item in retriever.retrieve(corpus, requests)}
            for name, retriever in self.retrievers.items()
        }
        for request in requests:
            yield self._fused(
                request,
                {name: self._item(name, items, request) for name, items in found.items()},
            )

    def problems(self) -> list[str]:
        """Knobs without a meaning, and the retrievers' own problems."""
        found = self._own_problems()
        for retriever in self.retrievers.values():
            ask = getattr(retriever, "problems", None)
            found += ask() if ask else []
        return found

    def close(self) -> None:
        """Close the retrievers that can be closed."""
        for retriever in self.retrievers.values():
            close = getattr(retriever, "close", None)
            if close:
                close()

    def _own_problems(self) -> list[str]:
        found = depth_problems(self.depth)
        if not self.retrievers:
            found.append("retrievers is empty: name at least one")
        if self.k < 0:
            found.append(f"k is {self.k}: give a number of at least 0")
        if self.fusion not in ("rrf", "weighted"):
            found.append(f"fusion is {self.fusion!r}: give rrf or weighted")
        if self.normalise not in NORMALISATIONS:
            found.append(f"normalise is {self.normalise!r}: give {' or '.join(NORMALISATIONS)}")
        found += identifier_problems(self.identifiers)
        found += self._weight_problems("weights", self.weights)
        routed = (self.identifiers or {}).get("weights")
        return found + self._weight_problems("identifiers.weights", routed)

    def _weight_problems(self, knob: str, weights: Mapping[str, float] | None) -> list[str]:
        found = []
        for name, weight in (weights or {}).items():
            if name not in self.retrievers:
                found.append(
                    f"{knob} names '{name}', but the retrievers are {', '.join(self.retrievers)}"
                )
            elif not isinstance(weight, int | float) or not (math.isfinite(weight) and weight >= 0):
                found.append(f"{knob}.{name} is {weight!r}: give a number of at least 0")
        return found

    def _item(
        self, name: str, items: Mapping[str, Item[Ranking]], request: SearchRequest
    ) -> Item[Ranking]:
        if request.id not in items:
            raise AdapterError(
                f"retriever '{name}' of the hybrid ({type(self.retrievers[name]).__name__}) did "
                f"not answer search '{request.id}': every search must be answered once"
            )
        return items[request.id]

    def _fused(self, request: SearchRequest, items: Mapping[str, Item[Ranking]]) -> Item[Ranking]:
        rankings: list[Ranking] = []
        for name, item in items.items():
            if item.failure is not None or item.value is None:
                failure = item.failure or Failure("pipeline", "gave neither ranking nor failure")
                return Item(request.id, None, Failure(failure.kind, f"{name}: {failure.message}"))
            rankings.append(item.value)
        routed = weights_for(self.identifiers, request.text)
        by_name = (self.weights if routed is None else routed) or {}
        weights = [by_name.get(name, 1.0) for name in items]
        if self.fusion == "rrf":
            fused = reciprocal_rank_fusion(rankings, self.k, weights, self.depth)
        else:
            fused = weighted_fusion(rankings, self.normalise, weights, self.depth)
        told = _signals(items, rankings)
        if routes(self.identifiers):
            told["identifier"] = float(routed is not None)
        return SearchResult(request.id, fused, signals=told)


def _signals(items: Mapping[str, Item[Ranking]], rankings: Sequence[Ranking]) -> dict[str, float]:
    """The retrievers' own, each behind its name, and ``overlap``.

    The overlap of two rankings is the share of their first ten passages that both hold, of the
    longer's where they hold fewer; that of several is the mean of their pairs.
    """
    found = {
        f"{name}.{key}": value
        for name, item in items.items()
        if isinstance(item, SearchResult)
        for key, value in item.signals.items()
    }
    firsts = [{hit.pid for hit in ranking[:_FIRST]} for ranking in rankings]
    pairs = [len(a & b) / max(len(a), len(b)) for a, b in combinations(firsts, 2) if a or b]
    return {**found, "overlap": math.fsum(pairs) / len(pairs)} if pairs else found

"""Reciprocal rank fusion of rankings."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from ragablate.records import Hit, Ranking


def reciprocal_rank_fusion(
    rankings: Sequence[Ranking],
    k: int = 60,
    weights: Sequence[float] | None = None,
    depth: int | None = None,
) -> Ranking:
    """One ranking of all passages that any ranking holds (Cormack, Clarke and Büttcher 2009).

    A passage scores the sum of ``weight / (k + rank)`` over the rankings that hold it, with
    ranks from 1; its scores there do not count. Ties by ascending pid. The order of the
    rankings changes nothing, not even the last bit of a score.

    Args:
        rankings: Best first. Empty rankings add nothing; no ranking at all gives an empty one.
        k: How much the top ranks are levelled; 60 in the paper.
        weights: One a ranking, at least 0; equal where ``None``. A ranking of weight 0 is left
            out, with the passages that only it holds.
        depth: Cut of the result; ``None`` keeps all.

    Raises:
        ValueError: ``k`` is negative, or the weights are not one finite number of at least 0
            for every ranking.
    """
    if k < 0:
        raise ValueError(f"k is {k}: it must be at least 0")
    weights = [1.0] * len(rankings) if weights is None else weights
    if len(weights) != len(rankings):
        raise ValueError(f"{len(weights)} weights for {len(rankings)} rankings")
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ValueError(f"weights are {list(weights)}: each must be a number of at least 0")
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for ranking, weight in zip(rankings, weights, strict=True):
        if weight == 0:
            continue
        for rank, hit in enumerate(ranking, start=1):
            shares[hit.pid].append(weight / (k + rank))
    hits = [Hit(pid, math.fsum(parts)) for pid, parts in shares.items()]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.pid))[:depth])

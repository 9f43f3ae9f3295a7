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


def weighted_fusion(
    rankings: Sequence[Ranking],
    normalise: str = "min_max",
    weights: Sequence[float] | None = None,
    depth: int | None = None,
) -> Ranking:
    """One ranking by the weighted mean of normalised scores (Bruch, Gai and Ingber 2023).

    ``min_max`` puts the scores of a ranking on 0 to 1, all on 1 where they are equal; a passage
    that a ranking lacks has 0 there, as the last it found. ``z`` takes the mean away and divides
    by the standard deviation (of the ranking itself, not of a sample), 0 where scores are equal;
    a passage that it lacks has the lowest value there. Ties by ascending pid.

    Args:
        rankings: Best first. An empty one says nothing, and its weight does not count.
        normalise: ``min_max`` or ``z``.
        weights: One a ranking, at least 0; equal where ``None``. A ranking of weight 0 is left
            out, with the passages that only it holds.
        depth: Cut of the result; ``None`` keeps all.
    """
    weighed = [
        (weight, _NORMALISED[normalise]([hit.score for hit in ranking]), ranking)
        for weight, ranking in zip(weights or [1.0] * len(rankings), rankings, strict=True)
        if weight > 0 and ranking
    ]
    total = math.fsum(weight for weight, _, _ in weighed)
    pids = {hit.pid for _, _, ranking in weighed for hit in ranking}
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for weight, values, ranking in weighed:
        own = {hit.pid: value for hit, value in zip(ranking, values, strict=True)}
        lacking = min(0.0, *values)
        for pid in pids:
            shares[pid].append(weight * own.get(pid, lacking) / total)
    hits = [Hit(pid, math.fsum(sorted(parts))) for pid, parts in shares.items()]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.pid))[:depth])


def _min_max(scores: Sequence[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _z(scores: Sequence[float]) -> list[float]:
    mean = math.fsum(scores) / len(scores)
    spread = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / spread if spread > 0 else 0.0 for score in scores]


_NORMALISED = {"min_max": _min_max, "z": _z}
NORMALISATIONS = tuple(_NORMALISED)

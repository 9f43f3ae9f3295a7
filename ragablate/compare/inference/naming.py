"""Naming the largest loss only where the data tell it from every other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ragablate.compare.inference.arrays import ZERO, vector
from ragablate.compare.inference.intervals import mean_interval
from ragablate.compare.inference.randomization import sign_flip
from ragablate.compare.inference.states import FEWEST_CHANGED
from ragablate.errors import EvidenceError


@dataclass(frozen=True, slots=True)
class Naming:
    """Which stage loses most, if that can be said."""

    named: str | None
    """The stage whose loss is larger than every other's; ``None`` where undecided."""
    candidates: tuple[str, ...]
    """The top stage and all that cannot be told from it, largest first; empty where no
    stage loses anything."""
    p_values: Mapping[str, float]
    """Test of the top stage against each other one."""


def name_top(
    losses: Mapping[str, ArrayLike],
    detected: Mapping[str, bool],
    clusters: Sequence[str] | None = None,
    *,
    replicates: int = 1,
    alpha: float = 0.05,
    seed: int = 0,
) -> Naming:
    """Name the stage with the largest mean loss, or the candidates among which it is.

    1. The top stage has the largest mean; without any positive mean there is none.
    2. It is compared with every other stage by the exact sign-flip test of the paired
       differences, unadjusted and two-sided, by cluster where a key repeats. A difference
       counts where the test, the interval and the floor of 6 changed units all allow it.
    3. It is named where all others differ from it and it is itself detected. Otherwise the
       stages that do not differ from it are candidates with it.

    Source: Hung and Fithian, "Rank verification for exponential families"; every other
    stage is asked, not the runner-up alone, because variances differ.

    Args:
        losses: Loss of each question by stage, the same questions in the same order.
        detected: Whether a stage's own loss is detected; a stage left out (a loss that is
            never negative) needs no detection of its own.
        clusters: Cluster key of each question.
        replicates: Decodes averaged into each score.
        alpha: Level of each comparison.
        seed: Seed of the test where it is not exact.

    Raises:
        EvidenceError: The stages do not hold the same number of questions.
    """
    arrays = {name: vector(values, f"losses of {name}") for name, values in losses.items()}
    if len({len(array) for array in arrays.values()}) > 1:
        sizes = ", ".join(f"{name}: {len(array)}" for name, array in arrays.items())
        raise EvidenceError(f"losses of different questions cannot be ranked ({sizes}).")
    means = {name: math.fsum(array.tolist()) / len(array) for name, array in arrays.items()}
    ranked = sorted(arrays, key=lambda name: -means[name])
    if not ranked or means[ranked[0]] < ZERO:
        return Naming(None, (), {})
    top, *others = ranked
    ps: dict[str, float] = {}
    tied = []
    for other in others:
        difference = arrays[top] - arrays[other]
        test = sign_flip(difference, clusters=clusters, denominator=replicates, seed=seed)
        ps[other] = test.p
        units = test.changed if test.clusters_changed is None else test.clusters_changed
        interval = mean_interval(
            difference, replicates=replicates, clusters=clusters, confidence=1 - alpha, bound=2.0
        )
        if not (test.p <= alpha and interval.low > 0 and units >= FEWEST_CHANGED):
            tied.append(other)
    named = top if not tied and detected.get(top, True) else None
    return Naming(named, (top, *tied), ps)

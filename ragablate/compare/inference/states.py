"""What the data say of a difference: up, down, flat or unclear, and what could flip it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragablate.compare.inference.arrays import Floats
from ragablate.errors import EvidenceError
from ragablate.records import Interval, State

FEWEST_CHANGED = 6
"""Fewer changed questions (or clusters) than this cannot reach 0.05."""
FEWEST_QUESTIONS = 20
"""Fewer questions than this are a pilot."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A state with what qualifies it."""

    state: State
    """What the data say."""
    detail: str = ""
    """``negligible``, ``borderline``, ``floor``, ``pilot``, ``errors could flip it`` or
    empty."""
    floor: bool = False
    """Whether too few questions or clusters changed for any test to detect a difference."""
    pilot: bool = False
    """Whether there are fewer than 20 questions."""


def decide(
    *,
    ci95: Interval,
    ci90: Interval,
    p_adjusted: float,
    changed: int,
    margin: float,
    n: int,
    alpha: float = 0.05,
    clusters_changed: int | None = None,
) -> Decision:
    """The state of one difference, from its test, its two intervals and the declared margin.

    1. ``flat`` where ``ci90`` lies strictly inside ±margin (two one-sided tests), with the
       detail ``negligible`` where the test detects a difference all the same.
    2. ``up`` or ``down`` where the test detects it, ``ci95`` excludes 0, and at least 6
       questions changed (at least 6 clusters where clusters are given).
    3. ``unclear`` otherwise: ``borderline`` where only one of test and interval excludes
       0, else ``floor`` where fewer than 6 changed, else ``pilot`` below 20 questions.
    4. A pilot is never ``flat``; a difference it detects stands, with the detail ``pilot``.

    Fewer than two questions are ``refused``.

    Source of the equivalence test: Schuirmann, "A comparison of the two one-sided tests
    procedure and the power approach".

    Args:
        ci95: Interval at 1 - alpha.
        ci90: Interval at 1 - 2 alpha.
        p_adjusted: p-value of the sign-flip test after the family's adjustment.
        changed: Questions whose difference is not 0.
        margin: Smallest difference that matters.
        n: Complete pairs.
        alpha: Level of the test.
        clusters_changed: Clusters whose summed difference is not 0; ``None`` if unclustered.
    """
    if not margin > 0:
        raise ValueError(f"margin must be positive, got {margin}")
    if n < 2:
        return Decision("refused", pilot=True)
    pilot = n < FEWEST_QUESTIONS
    units = changed if clusters_changed is None else min(changed, clusters_changed)
    floor = units < FEWEST_CHANGED
    tested = p_adjusted <= alpha
    sign = (ci95.low > 0) - (ci95.high < 0)
    if -margin < ci90.low and ci90.high < margin and not pilot:
        return Decision("flat", "negligible" if tested else "", floor, pilot)
    if tested and sign and not floor:
        return Decision("up" if sign > 0 else "down", "pilot" if pilot else "", floor, pilot)
    borderline = tested != bool(sign)
    detail = "borderline" if borderline else "floor" if floor else "pilot" if pilot else ""
    return Decision("unclear", detail, floor, pilot)


def smallest_attainable_p(changed: int) -> float:
    """The p-value if all of ``changed`` questions moved the same way: 2^(1 - changed)."""
    return min(1.0, math.ldexp(1.0, max(-1021, 1 - changed)))


def floor_changed(contrasts: int = 1, alpha: float = 0.05) -> int:
    """Fewest changed questions that can reach ``alpha`` as the first of a Holm family."""
    if contrasts < 1 or not 0 < alpha < 1:
        raise ValueError(f"needs a contrast and an alpha in (0, 1), got {contrasts} and {alpha}")
    changed = 1
    while smallest_attainable_p(changed) * contrasts > alpha:
        changed += 1
    return changed


def worst_case(
    control: Sequence[float | None], treatment: Sequence[float | None]
) -> tuple[Floats, Floats]:
    """Differences at the two extremes of what the missing scores could have been.

    Lower: treatment 0 and control 1 where missing. Upper: treatment 1 and control 0.

    Args:
        control: Score of each question in [0, 1]; ``None`` where unmeasured.
        treatment: The same for the treatment arm, in the same order.

    Returns:
        The lower and the upper differences, over all questions.
    """
    return contrast_bounds([control, treatment], [-1.0, 1.0])


def contrast_bounds(
    arms: Sequence[Sequence[float | None]], weights: Sequence[float]
) -> tuple[Floats, Floats]:
    """A weighted sum of arms at the two extremes of what missing scores could have been.

    Lower: 0 where an arm of positive weight is missing, 1 where one of negative weight is.
    Upper: the reverse.

    Raises:
        EvidenceError: The arms do not hold the same number of questions.
    """
    if len({len(arm) for arm in arms}) != 1 or len(arms) != len(weights):
        raise EvidenceError(
            f"arms of {[len(arm) for arm in arms]} questions and {len(weights)} weights do not "
            "pair: give one weight an arm and the same questions in every arm."
        )
    bounds = [np.zeros(len(arms[0])), np.zeros(len(arms[0]))]
    for upper, total in enumerate(bounds):
        for arm, weight in zip(arms, weights, strict=True):
            filler = 1.0 if (weight > 0) == bool(upper) else 0.0
            total += weight * np.asarray([filler if score is None else score for score in arm])
    return bounds[0], bounds[1]


def decide_with_missing(complete: Decision, lower: Decision, upper: Decision) -> Decision:
    """The state on complete pairs, if both worst cases agree with it.

    Args:
        complete: Decided on complete pairs.
        lower: Decided on the lower differences of ``worst_case``.
        upper: Decided on the upper differences.

    Returns:
        ``complete``, or ``unclear`` with the detail ``errors could flip it``.
    """
    if complete.state == lower.state == upper.state or complete.state == "refused":
        return complete
    return Decision("unclear", "errors could flip it", complete.floor, complete.pilot)

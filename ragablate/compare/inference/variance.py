"""Where the variance of a paired difference comes from: questions or decoding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragablate.errors import EvidenceError


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """The variance of a mean paired difference, split by its two sources."""

    mean: float
    """Mean difference."""
    s2_d: float
    """Sample variance over questions of the replicate-averaged difference."""
    within: float | None
    """Mean over questions of the variance over replicates; ``None`` with one replicate."""
    between: float | None
    """What is left for the questions, at least 0; ``None`` with one replicate."""
    se_super: float
    """Standard error for questions like these."""
    se_set: float | None
    """Standard error for exactly these questions; ``None`` with one replicate."""


def variance_split(control: ArrayLike, treatment: ArrayLike) -> VarianceSplit:
    """Split the variance of the mean difference of two arms decoded the same K times.

    1. d = treatment - control per question and replicate, D its mean over replicates.
    2. s2_d is the variance of D over questions, within the mean over questions of the
       variance of d over replicates (shared seeds and reused answers are in it).
    3. between = max(0, s2_d - within/K).
    4. se_super = sqrt(s2_d/n), se_set = sqrt(within/(K n)).

    Sources: Miller, "Adding error bars to evals"; Wang, "Measuring all the noises of LLM
    evals".

    Args:
        control: Scores, one row a question, one column a replicate.
        treatment: The same for the treatment arm.

    Raises:
        EvidenceError: The shapes differ, a score is not finite, or there are fewer than two
            questions.
    """
    old, new = np.asarray(control, dtype=np.float64), np.asarray(treatment, dtype=np.float64)
    if old.shape != new.shape or old.ndim != 2 or old.shape[1] < 1:
        raise EvidenceError(
            f"scores of shape {old.shape} and {new.shape} do not pair: both arms need the same "
            "questions (rows) and the same number of replicates (columns)."
        )
    if len(old) < 2:
        raise EvidenceError("a variance over questions needs at least two questions.")
    if not (np.isfinite(old).all() and np.isfinite(new).all()):
        raise EvidenceError("scores must be finite: drop unmeasured questions first.")
    paired = new - old
    n, replicates = paired.shape
    averaged = [math.fsum(row) / replicates for row in paired.tolist()]
    s2_d = _variance(averaged)
    mean, se_super = math.fsum(averaged) / n, math.sqrt(s2_d / n)
    if replicates == 1:
        return VarianceSplit(mean, s2_d, None, None, se_super, None)
    within = math.fsum(_variance(row) for row in paired.tolist()) / n
    between = max(0.0, s2_d - within / replicates)
    return VarianceSplit(
        mean, s2_d, within, between, se_super, math.sqrt(within / (replicates * n))
    )


def _variance(values: list[float]) -> float:
    """Sample variance, from correctly rounded sums."""
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)

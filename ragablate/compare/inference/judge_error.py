"""What an imperfect judge does to a rate or a difference, and how labels correct it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from ragablate.compare.inference.arrays import ZERO, Floats, check_level, vector
from ragablate.compare.inference.intervals import ENOUGH_MOVES, wilson
from ragablate.errors import EvidenceError
from ragablate.records import Interval

FEW_LABELS = 80
"""With fewer labelled questions two pseudo-labels are added."""


def rogan_gladen(judged_rate: float, sensitivity: float, specificity: float) -> float | None:
    """The true rate behind a judged one, given how often the judge is right on each side.

    (p + q0 - 1)/(q1 + q0 - 1), cut to [0, 1]; ``None`` for a judge that is no better than
    chance, which says nothing about the truth.

    Source: Rogan and Gladen, "Estimating prevalence from the results of a screening test".

    Args:
        judged_rate: Share the judge accepted.
        sensitivity: q1, share of right answers that it accepts.
        specificity: q0, share of wrong answers that it rejects.
    """
    informed = _informedness(sensitivity, specificity)
    if informed is None:
        return None
    return min(1.0, max(0.0, (judged_rate + specificity - 1.0) / informed))


def corrected_difference(
    judged_difference: float, sensitivity: float, specificity: float
) -> float | None:
    """The true difference behind a judged one, where the judge errs alike in both arms.

    The judged difference over q1 + q0 - 1; ``None`` for a judge no better than chance.
    """
    informed = _informedness(sensitivity, specificity)
    return None if informed is None else judged_difference / informed


def _informedness(sensitivity: float, specificity: float) -> float | None:
    """q1 + q0 - 1, or ``None`` where it is not positive."""
    for rate in (sensitivity, specificity):
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"sensitivity and specificity must lie in [0, 1], got {rate}")
    informed = sensitivity + specificity - 1.0
    return informed if informed > 1e-12 else None


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A judged difference corrected by a labelled subset of the same questions."""

    estimate: float
    """Judged mean plus rectifier."""
    judged: float
    """Mean judged difference over all questions."""
    rectifier: float
    """Mean of human minus judged difference over the labelled questions."""
    se: float
    """Standard error of the estimate."""
    labelled: int
    """Labelled questions."""
    interval: Interval
    """t interval, degrees of freedom from the labelled questions."""


def prediction_powered(
    judged: ArrayLike,
    human_by_index: Mapping[int, float],
    *,
    confidence: float = 0.95,
    pseudo_labels: bool | None = None,
) -> PredictionPowered:
    """Paired prediction-powered estimate: all judged differences, corrected by labelled ones.

    1. j is the judged difference of a question, h the human one, where both arms' answers
       were labelled. The labelled questions are a random subset of all.
    2. estimate = mean over all of j + mean over the labelled of (h - j).
    3. SE² = Var(m/n j + (h - j)) over the m labelled / m
       + ((n - m)/n)² Var(j) over the others / (n - m).
    4. With few labels the first term gets two pseudo-labels, +1 and -1: squares + 2, and
       m + 2 for m. So it does not vanish where judge and labels agree throughout.

    Source: Angelopoulos and others, "Prediction-powered inference", in its paired form.

    Args:
        judged: Judged differences of all questions.
        human_by_index: Human differences by position in ``judged``.
        confidence: Nominal coverage.
        pseudo_labels: Whether to add them; ``None`` for below 80 labels, or fewer than 10
            that contribute anything.

    Raises:
        EvidenceError: Fewer than two questions are labelled, or a label has no question.
    """
    check_level(confidence)
    everything = vector(judged, "judged differences")
    n, m = len(everything), len(human_by_index)
    if m < 2:
        raise EvidenceError(f"{m} labelled questions cannot correct a judge: label at least two.")
    if not all(0 <= i < n for i in human_by_index):
        raise EvidenceError(f"a label names a question outside the {n} judged ones.")
    at = np.asarray(sorted(human_by_index))
    human = vector([human_by_index[i] for i in at.tolist()], "human differences")
    chosen, rest = everything[at], np.delete(everything, at)
    rectifier = _mean(human - chosen)
    labelled = m / n * chosen + (human - chosen)
    moved = int(np.count_nonzero(np.abs(labelled) >= ZERO))
    few = pseudo_labels if pseudo_labels is not None else m < FEW_LABELS or moved < ENOUGH_MOVES
    square = _variance_of_mean(labelled, pseudo=few)
    if len(rest) > 1:
        square += ((n - m) / n) ** 2 * _variance_of_mean(rest, pseudo=False)
    mean = _mean(everything)
    estimate, se = mean + rectifier, math.sqrt(square)
    half = float(stdtrit(m - 1, (1 + confidence) / 2)) * se
    return PredictionPowered(
        estimate=estimate,
        judged=mean,
        rectifier=rectifier,
        se=se,
        labelled=m,
        interval=Interval(
            round(estimate - half, 12) + 0.0,
            round(estimate + half, 12) + 0.0,
            confidence,
            "prediction-powered",
        ),
    )


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / len(values)


def _variance_of_mean(values: Floats, *, pseudo: bool) -> float:
    """Squared standard error of a mean, with two pseudo-values +1 and -1 or without."""
    n = len(values)
    if pseudo:
        mean = math.fsum(values.tolist()) / (n + 2)
        return (math.fsum((values * values).tolist()) + 2) / (n + 2) ** 2 - mean * mean / (n + 2)
    mean = _mean(values)
    return math.fsum(((values - mean) ** 2).tolist()) / (n - 1) / n


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree beyond chance."""

    kappa: float | None
    """Cohen's kappa in [-1, 1]; ``None`` where both gave one and the same label throughout."""
    observed: float
    """Share of items with equal labels."""
    chance: float
    """Share expected from the raters' own label frequencies."""
    n: int
    """Items."""
    interval: Interval | None
    """Interval of kappa; ``None`` where kappa is."""


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], *, confidence: float = 0.95
) -> Agreement:
    """Cohen's kappa of two raters on the same items, with an interval that never collapses.

    1. kappa = (observed - chance)/(1 - chance).
    2. The interval is Wilson's of the observed agreement, carried to kappa at the chance
       agreement found. Full agreement on few items therefore keeps a lower limit below 1.

    Source: Cohen, "A coefficient of agreement for nominal scales".

    Raises:
        EvidenceError: There are no items, or the raters labelled different numbers of them.
    """
    n = len(first)
    if n == 0 or len(second) != n:
        raise EvidenceError(
            f"{n} and {len(second)} labels do not pair: both raters must label the same items."
        )
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    counts, others = Counter(first), Counter(second)
    chance = sum(counts[label] * others[label] for label in counts) / (n * n)
    if chance >= 1.0:
        return Agreement(None, agreed / n, 1.0, n, None)
    rate = wilson(agreed, n, confidence=confidence)
    low, high = ((limit - chance) / (1 - chance) for limit in (rate.low, rate.high))
    interval = Interval(max(-1.0, round(low, 12)), round(high, 12), confidence, "wilson")
    return Agreement((agreed / n - chance) / (1 - chance), agreed / n, chance, n, interval)

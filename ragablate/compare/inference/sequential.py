"""Looking at the same contrast more than once while questions are still coming in."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from ragablate.compare.inference.arrays import Floats, check_level, vector
from ragablate.records import Interval

_NODES = 120
_CONSTANT = 1.0 / math.sqrt(2.0 * math.pi)


def look_z(differences: ArrayLike) -> float:
    """The statistic of one look, sum L / sqrt(sum L²); 0 where nothing changed."""
    array = vector(differences)
    square = math.fsum((array * array).tolist())
    return math.fsum(array.tolist()) / math.sqrt(square) if square else 0.0


@lru_cache(maxsize=256)
def obf_bounds(looks: int, *, alpha: float = 0.05) -> tuple[float, ...]:
    """O'Brien-Fleming bounds: the k-th look rejects where abs(z) reaches the k-th bound.

    1. The bound of look k of K is C sqrt(K/k), for looks after equal numbers of questions.
    2. C makes the chance of any rejection ``alpha`` when nothing differs; that chance comes
       from integrating the path of the sum from look to look (Gauss-Legendre).

    A single look gives the fixed-sample bound. Bounds are rounded to 6 decimals.

    Source: O'Brien and Fleming, "A multiple testing procedure for clinical trials"; the
    recursion is that of Armitage, McPherson and Rowe.

    Args:
        looks: Number of looks declared beforehand.
        alpha: Chance of any false rejection.
    """
    check_level(alpha)
    if looks < 1:
        raise ValueError(f"looks must be at least 1, got {looks}")
    low = NormalDist().inv_cdf(1 - alpha / 2)
    high = NormalDist().inv_cdf(1 - alpha / (2 * looks)) + 1e-6
    for _ in range(40):
        middle = (low + high) / 2
        if _crossing(middle * math.sqrt(looks), looks) > alpha:
            low = middle
        else:
            high = middle
    return tuple(round(high * math.sqrt(looks / look), 6) for look in range(1, looks + 1))


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    """Nodes and weights of the quadrature on [-1, 1]."""
    return np.polynomial.legendre.leggauss(_NODES)


def _crossing(bound: float, looks: int) -> float:
    """Chance that a sum of standard normal steps leaves ±bound at one of the looks."""
    nodes, weights = (part * bound for part in _rule())
    step = _CONSTANT * np.exp(-0.5 * (nodes[:, None] - nodes[None, :]) ** 2)
    density = _CONSTANT * np.exp(-0.5 * nodes * nodes)
    for _ in range(looks - 1):
        density = (step * (weights * density)).sum(axis=1)
    return 1.0 - math.fsum((weights * density).tolist())


def confidence_sequence(
    differences: ArrayLike, *, planned_n: int, confidence: float = 0.95
) -> Interval:
    """Interval of a mean difference that holds at all numbers of questions at once.

    1. One question won and one lost are added: m = sum L/(t + 2),
       s² = (sum L² + 2)/(t + 2) - m².
    2. m ± s sqrt(2 (t r² + 1)/(t² r²) log(sqrt(t r² + 1)/alpha)), cut at ±1 (or the largest
       difference seen).
    3. r makes it narrowest at the planned number of questions.

    Covers a growing number of questions on one contrast, not new arms on the same questions.

    Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, "Time-uniform central limit
    theory and asymptotic confidence sequences".

    Args:
        differences: The differences seen so far.
        planned_n: Number of questions the width is tuned to.
        confidence: Nominal coverage over all looks.
    """
    check_level(confidence)
    if planned_n < 1:
        raise ValueError(f"planned_n must be at least 1, got {planned_n}")
    array = vector(differences)
    t, alpha = len(array), 1.0 - confidence
    mean = math.fsum(array.tolist()) / (t + 2)
    spread = math.sqrt((math.fsum((array * array).tolist()) + 2) / (t + 2) - mean * mean)
    log = -2 * math.log(alpha)
    square = (log + math.log(log + 1)) / planned_n
    inner = t * square + 1
    half = spread * math.sqrt(2 * inner / (t * t * square) * math.log(math.sqrt(inner) / alpha))
    reach = max(1.0, float(np.abs(array).max()))
    low, high = max(-reach, mean - half), min(reach, mean + half)
    return Interval(round(low, 12) + 0.0, round(high, 12) + 0.0, confidence, "confidence sequence")

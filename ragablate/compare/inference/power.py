"""How many questions a decision takes, and what the present number can show."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ragablate.compare.inference.arrays import Floats

EXACT_INFLATION = 1.08
"""Questions the exact test needs for each one of the normal approximation."""


def _z(probability: float) -> float:
    return NormalDist().inv_cdf(probability)


def needed_n(
    share_changed: float,
    margin: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    exact_inflation: bool | float = True,
) -> int:
    """Questions that show a difference of ``margin`` between paired 0/1 scores.

    n = (z(1 - alpha/2) sqrt(s) + z(power) sqrt(s - margin²))² / margin², rounded up. A share
    below the margin could not carry such a difference and is raised to it.

    Source: Connor, "Sample size for testing differences in proportions for the paired-sample
    design" (1987).

    Args:
        share_changed: Share of questions whose score changes.
        margin: The declared difference, never the observed one.
        alpha: Two-sided level.
        power: Probability of detecting it.
        exact_inflation: Factor for the exact test: ``True`` for 1.08, ``False`` for none.
    """
    _check(share_changed, margin)
    share = max(share_changed, margin)
    root = _z(1 - alpha / 2) * math.sqrt(share) + _z(power) * math.sqrt(share - margin * margin)
    factor = exact_inflation if not isinstance(exact_inflation, bool) else EXACT_INFLATION
    return math.ceil((root / margin) ** 2 * (factor if exact_inflation else 1.0))


def needed_n_flat(
    share_changed: float, margin: float, *, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Questions that show two arms within ±margin of each other if they do not differ.

    n = (z(1 - alpha) + z(1 - (1 - power)/2))² s / margin², rounded up, and never fewer than
    it takes when nothing changes.
    """
    _check(share_changed, margin)
    root = _z(1 - alpha) + _z(1 - (1 - power) / 2)
    n = math.ceil(root * root * share_changed / (margin * margin))
    return max(n, needed_n_nothing_changed(margin, alpha=alpha))


def needed_n_nothing_changed(margin: float, *, alpha: float = 0.05) -> int:
    """Fewest questions that show flatness when not one score changed.

    The smallest n with z²/(n + z²) < margin, z = z(1 - alpha).
    """
    _check(0.0, margin)
    z = _z(1 - alpha)
    return max(1, math.floor(z * z * (1 / margin - 1)) + 1)


def needed_n_from_variance(
    between: float,
    within: float,
    replicates: int,
    margin: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    """Questions that show a mean difference of ``margin`` given its variance components.

    n = (z(1 - alpha/2) + z(power))² (between + within/replicates) / margin², rounded up.
    """
    _check(0.0, margin)
    root = _z(1 - alpha / 2) + _z(power)
    return max(1, math.ceil((root / margin) ** 2 * (between + within / replicates)))


def needed_n_to_name(
    p_top: float,
    p_second: float,
    gap: float | None = None,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int | None:
    """Questions that tell the largest loss from the next, for losses on disjoint questions.

    n = (z(1 - alpha/2) + z(power))² (p_top + p_second - gap²) / gap², rounded up; ``None``
    where they are equal.

    Args:
        p_top: Largest loss.
        p_second: Second largest.
        gap: Their difference, if it is not that of the two.
        alpha: Two-sided level.
        power: Probability of telling them apart.
    """
    distance = p_top - p_second if gap is None else gap
    if distance <= 0:
        return None
    root = _z(1 - alpha / 2) + _z(power)
    return max(1, math.ceil((root / distance) ** 2 * (p_top + p_second - distance * distance)))


@lru_cache(maxsize=4096)
def detectable_effect(
    n: int, share_changed: float, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Smallest effect on paired 0/1 scores that the exact test detects, in steps of 0.0001.

    1. The number of changed questions is Binomial(n, share), and each of them improves with
       probability (1 + effect/share)/2.
    2. The power is the sum over that number of the probability that the exact two-sided
       McNemar test is at most ``alpha``.
    3. The effect is found by bisection.

    ``None`` where even the largest effect, all changes going one way, is not detected with
    that power.
    """
    _check(share_changed, 1.0)
    steps = math.floor(share_changed * 10_000 + 1e-9)
    if n < 1 or steps < 1:
        return None
    changed, mass, critical = _changed(n, share_changed, alpha)
    low, high = 0, steps + 1
    while high - low > 1:
        middle = (low + high) // 2
        better = min(1.0, (1 + middle / 10_000 / share_changed) / 2)
        rejected = binom.sf(critical - 1, changed, better) + binom.cdf(
            changed - critical, changed, better
        )
        if float(mass @ rejected) >= power:
            high = middle
        else:
            low = middle
    return None if high > steps else high / 10_000


def _changed(n: int, share: float, alpha: float) -> tuple[NDArray[np.int_], Floats, Floats]:
    """Plausible numbers of changed questions, their masses, and the fewest better to reject."""
    spread = 8 * math.sqrt(n * share * (1 - share)) + 10
    changed = np.arange(max(0, int(n * share - spread)), min(n, int(n * share + spread)) + 1)
    critical = np.asarray(binom.isf(alpha / 2, changed, 0.5)) + 1
    return changed, np.asarray(binom.pmf(changed, n, share)), critical


def flip_rate_upper(asked: int, *, confidence: float = 0.95) -> float:
    """Upper limit of the share of answers that change on re-asking, if none of ``asked`` did.

    1 - (1 - confidence)^(1/asked); 1 where nothing was asked.
    """
    return 1.0 if asked < 1 else 1 - (1 - confidence) ** (1 / asked)


def _check(share_changed: float, margin: float) -> None:
    if not 0 <= share_changed <= 1:
        raise ValueError(f"share_changed must lie in [0, 1], got {share_changed}")
    if not 0 < margin <= 1:
        raise ValueError(f"margin must lie in (0, 1], got {margin}")

"""The exact distribution of a sum of integers under random signs.

Probabilities are built from correctly rounded binomial coefficients by elementwise
additions and multiplications in a fixed order, so that the bits are the same on every
machine with IEEE arithmetic; sums over the tail are correctly rounded.
"""

from __future__ import annotations

import math
import sys
from math import comb

import numpy as np

from ragablate.compare.inference.arrays import ZERO, Floats, Integers

_NEGLIGIBLE = 1e-300
"""Smaller masses are dropped, before they leave the range where floats are exact to scale."""

LARGEST_DENOMINATOR = 120
"""Denominators up to this one are looked for when none is given."""

FINEST_DENOMINATOR = 10_000
"""The finest lattice that may be declared."""


def mcnemar_exact(better: int, worse: int, *, midp: bool = False) -> float:
    """Exact two-sided McNemar test of paired 0/1 scores, as a p-value in (0, 1].

    1. Given that m = better + worse questions changed, the number that improved is
       Binomial(m, 1/2) under the hypothesis.
    2. p = min(1, 2 P(X <= min(better, worse))), summed in integers and divided once.
    3. ``midp`` takes off the probability of what was observed (half of each tail).

    Nothing changed gives 1. A value below the smallest normal float is returned as that
    float, never as 0.

    Source: Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data".

    Args:
        better: Questions that improved.
        worse: Questions that got worse.
        midp: Whether to return the mid-p value.

    Raises:
        ValueError: A count is negative.
    """
    if better < 0 or worse < 0:
        raise ValueError(f"counts cannot be negative, got {better} and {worse}")
    changed, fewer = better + worse, min(better, worse)
    if changed == 0:
        return 1.0
    coefficient, tail = 1, 1
    for j in range(fewer):
        coefficient = coefficient * (changed - j) // (j + 1)
        tail += coefficient
    twice = min(2 * tail, 1 << changed)
    # In halves of 2^-changed: the mid-p of an even split takes off only half its own mass.
    off = (coefficient if 2 * fewer == changed else 2 * coefficient) if midp else 0
    return never_zero((2 * twice - off) / (1 << (changed + 1)))


def find_denominator(array: Floats, hint: int | None = None) -> int | None:
    """The smallest denominator that makes all values integers, up to 120; the hint first."""
    if hint is not None and not 1 <= hint <= FINEST_DENOMINATOR:
        raise ValueError(f"denominator must lie in 1 … {FINEST_DENOMINATOR}, got {hint}")
    distinct = np.unique(np.abs(array))
    candidates: list[int] = [*([] if hint is None else [hint]), *range(1, LARGEST_DENOMINATOR + 1)]
    for candidate in candidates:
        for some in (distinct[-16:], distinct):
            multiples = some * candidate
            if float(np.abs(multiples - np.rint(multiples)).max()) > ZERO * candidate:
                break
        else:
            return candidate
    return None


def never_zero(p: float) -> float:
    """``p`` within (0, 1]: an exact p-value too small for a float is the smallest normal one."""
    return min(1.0, max(p, sys.float_info.min))


def two_sided(magnitudes: Integers, total: int, *, midp: bool = False) -> float:
    """Probability that a randomly signed sum is as far from 0 as ``total``, in (0, 1].

    1. Equal magnitudes v, m of them, contribute v (2X - m) with X ~ Binomial(m, 1/2).
    2. The distribution of the sum of all magnitudes but the most frequent is convolved,
       smallest support first.
    3. For each of its values the tail of the most frequent magnitude is added.

    Args:
        magnitudes: Positive integers, one for each unit whose sign is flipped.
        total: The observed signed sum.
        midp: Whether ties with the observed sum count by half.
    """
    if total == 0 and not midp:
        return 1.0
    values, counts = (a.tolist() for a in np.unique(magnitudes, return_counts=True))
    if len(values) == 1:
        better = (counts[0] + abs(total) // values[0]) // 2
        return mcnemar_exact(better, counts[0] - better, midp=midp)
    last = max(range(len(values)), key=lambda i: (counts[i], values[i]))
    value, row = values.pop(last), _binomial(counts.pop(last))
    rest = _subset_sums(values, counts)
    needed = (abs(total) + int(magnitudes.sum())) // 2 - np.arange(len(rest))
    tail = np.append(np.cumsum(row[::-1])[::-1], 0.0)
    at_least = tail[np.clip(-(-needed // value), 0, len(row))]
    p = min(1.0, 2.0 * math.fsum((rest * at_least).tolist()))
    if midp:
        hit = (needed % value == 0) & (needed >= 0) & (needed < value * len(row))
        exactly = math.fsum((rest[hit] * row[needed[hit] // value]).tolist())
        p -= exactly if total else exactly / 2.0
    smallest = math.ldexp(1.0, 1 - len(magnitudes)) / (2.0 if midp else 1.0)
    return never_zero(max(p, smallest))


def work(magnitudes: Integers) -> int:
    """Elementary operations that ``two_sided`` needs, about a nanosecond each."""
    values, counts = (a.tolist() for a in np.unique(magnitudes, return_counts=True))
    support: int = 1
    total: int = max(counts)
    for value, count in sorted(zip(values, counts, strict=True), key=lambda x: x[0] * x[1]):
        total += min(support, count + 1) * (support + value * count)
        support += value * count
    return total


def _binomial(m: int) -> Floats:
    """Binomial(m, 1/2) masses, each correctly rounded; what is negligible is 0."""
    row = np.zeros(m + 1)
    middle = m // 2
    coefficient, whole = comb(m, middle), 1 << m
    for j in range(middle, -1, -1):
        mass = coefficient / whole
        if mass < _NEGLIGIBLE:
            break
        row[j] = row[m - j] = mass
        coefficient = coefficient * j // (m - j + 1)
    return row


def _subset_sums(values: list[int], counts: list[int]) -> Floats:
    """Distribution of the sum of a random subset, as masses at 0, 1, 2 and so on."""
    mass = np.ones(1)
    for value, count in sorted(zip(values, counts, strict=True), key=lambda x: (x[0] * x[1], x)):
        mass = _convolve(mass, value, _binomial(count))
        mass[mass < _NEGLIGIBLE] = 0.0
    return mass


def _convolve(mass: Floats, value: int, row: Floats) -> Floats:
    """Add ``value`` times a binomial count, looping over the shorter of the two supports."""
    span = value * (len(row) - 1) + 1
    out = np.zeros(len(mass) + span - 1)
    if np.count_nonzero(row) <= np.count_nonzero(mass):
        for j in np.flatnonzero(row).tolist():
            out[value * j : value * j + len(mass)] += row[j] * mass
    else:
        for s in np.flatnonzero(mass).tolist():
            out[s : s + span : value] += mass[s] * row
    return out

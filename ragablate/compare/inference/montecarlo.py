"""Sums of integers under random or all sign flips, where no small lattice exists.

Everything is an integer, so sums are exact in any order and the counts are the same on
every machine.
"""

from __future__ import annotations

import math

import numpy as np

from ragablate.compare.inference.arrays import Floats, Integers

_BITS = 50
"""The absolute sum of scaled values stays below 2^50."""
_SIGNS = 2 * ((np.arange(256, dtype=np.int64)[:, None] >> np.arange(8)) & 1) - 1
"""The signs of eight units for every byte."""
ENUMERATED = 20
"""Up to this many changed units all sign patterns are visited."""


def scaled(values: Floats) -> tuple[Integers, float]:
    """Values times a power of two, rounded to integers, and that power.

    The rounding moves the sum by less than 1e-10 of the absolute sum.
    """
    size = math.fsum(np.abs(values).tolist())
    power = math.ldexp(1.0, _BITS - math.frexp(size)[1]) if size else 1.0
    return np.rint(values * power).astype(np.int64), power


def all_sums(magnitudes: Integers) -> Integers:
    """The sum under every sign pattern that leaves the first sign alone; the rest mirror it."""
    sums = magnitudes[:1].copy()
    for a in magnitudes[1:].tolist():
        sums = np.concatenate((sums - a, sums + a))
    return sums


def flipped_sums(table: Integers, *, resamples: int, seed: int) -> Integers:
    """Randomly signed column sums, all columns under the same flips.

    1. Units (rows) are taken eight at a time; a random byte says which of them are flipped.
    2. The 256 possible sums of the eight are tabulated, and looked up for every byte.

    A unit's flips depend on the seed and its position alone, so appending units of zeros
    changes nothing, nor does the number of columns.

    Args:
        table: One row a unit, one column a contrast.
        resamples: Number of random sign patterns.
        seed: Seed of the PCG64 stream.

    Returns:
        One row a column of ``table``, one column a resample.
    """
    generator = np.random.PCG64(seed)
    words = -(-resamples // 8)
    sums = np.zeros((table.shape[1], resamples), dtype=np.int64)
    for start in range(0, len(table), 8):
        draws = np.asarray(generator.random_raw(words), dtype="<u8").view(np.uint8)[:resamples]
        patterns = draws.astype(np.intp)
        eight = table[start : start + 8]
        possible = (_SIGNS[:, : len(eight)] @ eight).T.copy()
        for total, values in zip(sums, possible, strict=True):
            total += np.take(values, patterns)
    return sums

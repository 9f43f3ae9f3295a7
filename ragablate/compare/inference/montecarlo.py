"""Sums of integers under random or all sign flips, where no small lattice exists.

Everything is an integer held in a float below 2^53, so matrix products are exact in any
order of summation and the counts are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ragablate.compare.inference.arrays import Floats, Integers

_BITS = 50
"""The absolute sum of scaled values stays below 2^50."""
_CHUNK = 128
"""Units whose flips are held in memory at once."""
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


def flips(units: int, resamples: int, seed: int) -> Iterator[tuple[slice, Floats]]:
    """Random bits, unit by unit: which sign each resample gives it.

    A unit's bits depend on the seed and its position alone, so fewer units see a prefix of
    the same flips.

    Yields:
        The units of a chunk and a 0/1 array of shape (units in the chunk, resamples).
    """
    words = -(-resamples // 64)
    generator = np.random.PCG64(seed)
    for start in range(0, units, _CHUNK):
        rows = min(_CHUNK, units - start)
        raw = np.asarray(generator.random_raw(rows * words), dtype="<u8").view(np.uint8)
        bits = np.unpackbits(raw.reshape(rows, words * 8), axis=1, count=resamples)
        yield slice(start, start + rows), bits.astype(np.float64)


def flipped_sums(columns: Sequence[Integers], *, resamples: int, seed: int) -> list[Floats]:
    """Randomly signed sums of each column, all columns under the same flips.

    Args:
        columns: Positive integers, largest first; columns may differ in length.
        resamples: Number of random sign patterns.
        seed: Seed of the PCG64 stream.
    """
    units = max((len(column) for column in columns), default=0)
    table = np.zeros((len(columns), units))
    for row, column in zip(table, columns, strict=True):
        row[: len(column)] = column
    sums = np.zeros((len(columns), resamples))
    for chunk, bits in flips(units, resamples, seed):
        sums += table[:, chunk] @ bits
    return list(2.0 * sums - table.sum(axis=1)[:, None])

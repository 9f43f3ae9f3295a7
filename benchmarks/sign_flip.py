"""Exact sign-flip test against scipy's permutation test, on one data set in one process.

Run: python benchmarks/sign_flip.py [questions] [replicates]

Prints the two p-values, whether they agree within Monte Carlo error, and how many times
faster the exact test is. Absolute times depend on the machine; the ratio is the claim.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from ragablate.compare.inference.randomization import sign_flip

RESAMPLES = 9_999
REQUIRED = 20.0


def differences(n: int, replicates: int, seed: int = 0) -> np.ndarray:
    """Fractional paired differences of two readers of nearly equal skill."""
    rng = np.random.default_rng(seed)
    skill = rng.beta(2, 2, size=n)
    new = rng.binomial(replicates, np.clip(skill + 0.008, 0, 1))
    return (new - rng.binomial(replicates, skill)) / replicates


def best_of(times: int, call: Callable[[], Any]) -> tuple[float, Any]:
    """Shortest wall time of several calls, and the last result."""
    shortest, result = math.inf, None
    for _ in range(times):
        start = time.perf_counter()
        result = call()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def main(n: int = 5_000, replicates: int = 3) -> int:
    """Print the comparison; 0 where the ratio and the agreement are as required."""
    data = differences(n, replicates)
    ours, exact = best_of(5, lambda: sign_flip(data, denominator=replicates))
    theirs, drawn = best_of(
        1,
        lambda: stats.permutation_test(
            (data,),
            lambda x, axis: x.sum(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=500,
            random_state=np.random.default_rng(1),
        ),
    )
    p, q = exact.p, drawn.pvalue
    error = 4 * math.sqrt(p * (1 - p) / RESAMPLES) + 1 / RESAMPLES
    ratio = theirs / ours
    print(f"questions {n}, replicates {replicates}, changed {exact.changed}")
    print(f"exact sign-flip             p = {p:.6f}   {ours * 1e3:9.2f} ms")
    print(
        f"scipy permutation_test      p = {q:.6f}   {theirs * 1e3:9.2f} ms, {RESAMPLES} resamples"
    )
    print(f"difference {abs(p - q):.6f}, allowed {error:.6f}")
    print(f"ratio {ratio:.0f} (at least {REQUIRED:.0f} is required)")
    return 0 if ratio >= REQUIRED and abs(p - q) <= error else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

"""How exact search compares with faiss's flat index, in one process on the same vectors.

    pip install faiss-cpu
    python benchmarks/dense_search.py [--passages 100000] [--width 384] [--queries 200] [-k 10]

Vectors lie around random centres and have length 1, as embeddings do; some are repeated, so
that there are ties. It prints the ratio of the times, which says something on any machine,
and whether both find the same passages; it exits with 1 where they do not. Without faiss it
times this search alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragablate.retrieve.exact import search


def main() -> int:
    args = arguments()
    passages, queries = vectors(args.passages, args.width, args.queries)
    print(f"passages {args.passages} x {args.width}, queries {args.queries}, k {args.k}")
    try:
        import faiss
    except ImportError:
        times = [timed(lambda: search(queries, passages, args.k))[0] for _ in range(args.rounds)]
        print(f"faiss is not installed; this search: {statistics.median(times):.3f} s")
        return 0

    index = faiss.IndexFlatIP(args.width)
    index.add(passages)
    ours, theirs = [], []
    for _ in range(args.rounds):  # in turn, so that both meet the same machine
        seconds, (rows, scores) = timed(lambda: search(queries, passages, args.k))
        ours.append(seconds)
        seconds, (expected, _) = timed(lambda: index.search(queries, args.k))
        theirs.append(seconds)

    ratio = statistics.median(theirs) / statistics.median(ours)
    print(f"this search {statistics.median(ours):.3f} s, faiss {statistics.median(theirs):.3f} s")
    print(f"{ratio:.2f} times as fast as faiss (median of {args.rounds} rounds)")
    same = same_top(queries, passages, rows, scores, expected)
    print(f"same top {args.k}, ties by row: {'yes' if same else 'NO'}")
    return 0 if same else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


def vectors(
    passages: int, width: int, queries: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit vectors around 500 centres; every hundredth passage is the one before it again."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((500, width))

    def some(count: int) -> NDArray[np.float32]:
        made = centres[rng.integers(0, len(centres), count)]
        made = made + rng.standard_normal((count, width))
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        return made.astype(np.float32)

    found = some(passages)
    found[99::100] = found[98::100][: len(found[99::100])]
    return found, some(queries)


def same_top(
    queries: NDArray[np.float32],
    passages: NDArray[np.float32],
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    expected: NDArray[np.float32],
) -> bool:
    """Whether ``rows`` are the best by all products in double precision, ties by row, and
    faiss's scores are the same but for its rounding.

    Rows are not compared with faiss's own: it breaks ties by chance.
    """
    wide = passages.astype(np.float64)
    order = np.arange(len(passages))
    for query, found in zip(queries.astype(np.float64), rows, strict=True):
        products = np.round(wide @ query, 12)
        if not np.array_equal(np.lexsort((order, -products))[: len(found)], found):
            return False
    return bool(np.allclose(scores, expected, rtol=0, atol=1e-5))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


if __name__ == "__main__":
    sys.exit(main())

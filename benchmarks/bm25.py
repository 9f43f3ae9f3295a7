"""How the sparse BM25 index compares with rank-bm25, in one process on the same tokens.

    python benchmarks/bm25.py [--data DIR] [--passages 100000] [--queries 10]

The passages of ``DIR/corpus.jsonl`` are repeated under new ids until there are enough. It
prints ratios, which say something on any machine, and whether both engines rank the same
ten passages with the same scores; it exits with 1 where they do not. Queries are the first
words of passages and hence hold frequent words as well as rare ones.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from ragablate.retrieve.bm25_index import SparseIndex

SHIPPED = Path(__file__).resolve().parent.parent / "ragablate" / "data" / "quickstart"


def main() -> int:
    args = arguments()
    texts, passages = replicated(args.data / "corpus.jsonl", args.passages)
    queries = [text.split()[:8] for text in texts[:: max(1, len(texts) // args.queries)]]
    queries = queries[: args.queries]

    library_build, library = timed(lambda: BM25Okapi(passages))
    sparse_build, index = timed(lambda: SparseIndex.build(passages))
    index.search(queries[0], 10)

    slower, equal = [], True
    for query in queries:
        library_time, expected = timed(lambda query=query: library.get_scores(query))
        times, found = zip(
            *(timed(lambda q=query: index.search(q, 10)) for _ in range(5)), strict=True
        )
        slower.append(library_time / statistics.median(times))
        equal &= same_top(expected, *found[0])

    terms = sum(map(len, queries)) / len(queries)
    print(f"passages {len(passages)}, queries {len(queries)} of {terms:.1f} terms")
    print(f"index: takes {sparse_build / library_build:.2f} times as long as rank-bm25")
    print(
        f"query: {statistics.median(slower):.0f} times faster than rank-bm25 (median; "
        f"slowest ratio {min(slower):.0f}, best {max(slower):.0f})"
    )
    print(f"top 10 with ties by pid, scores to the last bit: {'equal' if equal else 'DIFFERENT'}")
    return 0 if equal else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHIPPED)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=10)
    return parser.parse_args()


def replicated(corpus: Path, size: int) -> tuple[list[str], list[list[str]]]:
    """The texts of a corpus, and ``size`` tokenised passages made of them in turn.

    Row order is pid order: pids are the row numbers, zero-padded.
    """
    with corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"].lower() for line in lines]
    tokens = [text.split() for text in texts]
    return texts, [list(tokens[i % len(tokens)]) for i in range(size)]


def same_top(expected: np.ndarray, rows: np.ndarray, scores: np.ndarray) -> bool:
    """Whether ``rows`` are the ten best of rank-bm25's scores for every passage."""
    best = np.lexsort((np.arange(len(expected)), -expected))[:10]
    return bool(np.array_equal(best, rows) and np.array_equal(expected[best], scores))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


if __name__ == "__main__":
    sys.exit(main())

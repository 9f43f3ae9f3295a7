"""Which passages a question may be answered from: its filter, its pool, and how many."""

from __future__ import annotations

from collections.abc import Callable

from ragablate.errors import AdapterError
from ragablate.records import Corpus, Passage, Question, Scalar


def restriction(
    corpus: Corpus, question: Question, pool: bool, apply_filter: bool
) -> Callable[[Passage], bool] | None:
    """The test a passage must pass to be ranked for ``question``; ``None`` lets all pass.

    The restriction comes before ranking: a passage that passes keeps its score, and depth
    counts only those that pass.

    Args:
        corpus: What is searched.
        question: Carries the pool and the filter.
        pool: Whether its pool counts; a question without one searches the whole corpus.
        apply_filter: Whether its filter counts: a passage must carry every key with an equal
            value. 1 equals 1.0 but neither ``true`` nor ``"1"``.

    Raises:
        AdapterError: The pool names a passage that the corpus does not hold.
    """
    pids = _pool(corpus, question) if pool and question.pool is not None else None
    wanted = dict(question.filter) if apply_filter else {}
    if pids is None and not wanted:
        return None
    return lambda passage: (pids is None or passage.pid in pids) and _carries(passage, wanted)


def depth_problems(depth: int) -> list[str]:
    """What is wrong with the length of a ranking."""
    if isinstance(depth, int) and depth >= 1:
        return []
    return [f"depth is {depth!r}: give a number of passages from 1"]


def _pool(corpus: Corpus, question: Question) -> frozenset[str]:
    pids = frozenset(question.pool or ())
    missing = sorted(pids - corpus.by_pid.keys())
    if missing:
        raise AdapterError(
            f"question '{question.qid}' is restricted to a pool with '{missing[0]}', which is no "
            "passage of the corpus: correct its pool_ids, or search the whole corpus with "
            "retriever.pool=false"
        )
    return pids


def _carries(passage: Passage, wanted: dict[str, Scalar]) -> bool:
    return all(
        key in passage.meta and _equal(passage.meta[key], value) for key, value in wanted.items()
    )


def _equal(a: Scalar, b: Scalar) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)

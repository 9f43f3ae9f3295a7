"""Which passages a question may be answered from: its filter, its pool, and how many."""

from __future__ import annotations

from collections.abc import Callable

from ragablate.errors import AdapterError
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.conditions import carries


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
        apply_filter: Whether its filter counts, as ``conditions.carries`` has it.

    Raises:
        AdapterError: The pool names a passage that the corpus does not hold.
    """
    pids = pool_of(corpus, question) if pool and question.pool is not None else None
    wanted = dict(question.filter) if apply_filter else {}
    if pids is None and not wanted:
        return None
    return lambda passage: (pids is None or passage.pid in pids) and carries(passage, wanted)


def depth_problems(depth: int) -> list[str]:
    """What is wrong with the length of a ranking."""
    if isinstance(depth, int) and depth >= 1:
        return []
    return [f"depth is {depth!r}: give a number of passages from 1"]


def pool_of(corpus: Corpus, question: Question) -> frozenset[str]:
    """The pids of a question's pool; raises AdapterError for one that is in no corpus."""
    pids = frozenset(question.pool or ())
    missing = sorted(pids - corpus.by_pid.keys())
    if missing:
        raise AdapterError(
            f"question '{question.qid}' is restricted to a pool with '{missing[0]}', which is no "
            "passage of the corpus: correct its pool_ids, or search the whole corpus with "
            "retriever.pool=false"
        )
    return pids

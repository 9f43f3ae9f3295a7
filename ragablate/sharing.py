"""Results that arms have in common: made once, kept, and handed out as the same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

from ragablate.dataset.digests import question_digest
from ragablate.records import Corpus, Dataset, Item
from ragablate.stages import Progress, Work, run, shipped
from ragablate.store import Store

T = TypeVar("T")
_PURE = {"assemble", "intervene"}


class Shared:
    """Runs a stage's unfinished work, and remembers what any arm has asked for.

    Args:
        dataset: Whose questions are answered.
        store: Where results are kept.
        progress: Told as results arrive.
    """

    def __init__(self, dataset: Dataset, store: Store, progress: Progress) -> None:
        self._store = store
        self._progress = progress
        self._memo: dict[str, Any] = {}
        # A question's content is in its key, so an edited question is a new one.
        self._content = {q.qid: question_digest(q)[:16] for q in dataset.questions}

    def run(
        self,
        stage: str,
        adapter: Any,
        call: Callable[[Sequence[Any]], Iterator[Item[T]]],
        kind: type[Item[T]],
        lineage: str,
        requests: Iterable[Any],
    ) -> dict[str, Item[T]]:
        """Results by request id."""
        cheap = bool(getattr(adapter, "cheap", stage in _PURE))
        trusted = cheap and stage in _PURE and shipped(adapter)
        work: Work[Any, T] = Work(stage, lineage, kind, call, cheap, trusted)
        keyed = {f"{r.id}:{self._content[r.question.qid]}": r for r in requests}
        results = run(work, keyed, self._store, self._progress)
        return {keyed[key].id: item for key, item in results.items()}

    def once(self, lineage: str, build: Callable[[], T]) -> T:
        """What was built of a lineage before, or is built now."""
        if lineage not in self._memo:
            self._memo[lineage] = build()
        return cast(T, self._memo[lineage])


def over(method: Callable[..., Iterator[Item[T]]], corpus: Corpus) -> Any:
    """A method of an adapter with its corpus given."""
    return lambda requests: method(corpus, requests)

"""The rules of the seams as checks: each raises AssertionError on an adapter that breaks it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragablate.records import Context, Corpus, Item, Ranking, Verdict

Call = Callable[[Any, Sequence[Any]], Iterator[Item[Any]]]


def answers_each_once(make: Callable[[], Any], call: Call, requests: Sequence[Any]) -> None:
    """Every input is answered exactly once, by its id, with a value or a failure."""
    items = list(call(make(), requests))
    assert sorted(i.id for i in items) == sorted(r.id for r in requests)
    assert all((i.value is None) != (i.failure is None) for i in items)


def is_deterministic(make: Callable[[], Any], call: Call, requests: Sequence[Any]) -> None:
    """Two instances agree, and one instance agrees with itself."""
    adapter = make()
    first = _by_id(call(adapter, requests))
    assert first == _by_id(call(adapter, requests))
    assert first == _by_id(call(make(), requests))


def ignores_order_and_company(make: Callable[[], Any], call: Call, requests: Sequence[Any]) -> None:
    """An item's answer does not depend on the batch it came in."""
    together = _by_id(call(make(), requests))
    shuffled = list(requests)
    random.Random(1).shuffle(shuffled)
    assert together == _by_id(call(make(), shuffled))
    assert together[requests[0].id] == _by_id(call(make(), requests[:1]))[requests[0].id]


def takes_an_empty_batch(make: Callable[[], Any], call: Call, requests: Sequence[Any]) -> None:
    """No input, no output."""
    assert list(call(make(), [])) == []


def rankings_are_well_formed(items: Sequence[Item[Ranking]], corpus: Corpus) -> None:
    """Descending finite scores, ties by pid, known pids, each once."""
    for item in items:
        ranking = item.value or ()
        assert all(math.isfinite(h.score) for h in ranking)
        assert list(ranking) == sorted(ranking, key=lambda h: (-h.score, h.pid))
        pids = [h.pid for h in ranking]
        assert len(set(pids)) == len(pids)
        assert set(pids) <= set(corpus.by_pid)


def contexts_are_well_formed(items: Sequence[Item[Context]]) -> None:
    """Each passage once, its body within its text."""
    for item in items:
        context = item.value or Context()
        pids = [p.pid for p in context.passages]
        assert len(set(pids)) == len(pids)
        assert all(p.body in p.text for p in context.passages)


def verdicts_are_complete(judge: Any, requests: Sequence[Any]) -> None:
    """One verdict a measure, in order, in [0, 1], or unmeasured with a reason."""
    names = [m.name for m in judge.measures()]
    for item in judge.judge(requests):
        verdicts: Sequence[Verdict] = item.value or ()
        assert [v.measure for v in verdicts] == names
        for v in verdicts:
            if v.value is None:
                assert v.reason
            else:
                assert 0.0 <= v.value <= 1.0


def constructor_only_stores(instance: Any, arguments: dict[str, Any]) -> None:
    """Every argument is found again under its own name, unchanged.

    A reader's argument ``prompt`` is the attribute ``template``: its method has that name.
    """
    for name, value in arguments.items():
        stored = getattr(instance, name)
        if name == "prompt" and callable(stored):
            stored = instance.template
        if not hasattr(value, "keys") or "_target_" not in str(value):
            assert stored == value


def _by_id(items: Iterator[Item[Any]]) -> dict[str, Item[Any]]:
    return {item.id: item for item in items}

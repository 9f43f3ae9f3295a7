from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragablate.collecting import rarely
from ragablate.errors import AdapterError
from ragablate.records import Failure, Item
from ragablate.stages import Work, run
from ragablate.store import Store


@dataclass(frozen=True)
class Ask:
    id: str


class Counting:
    """Answers with the length of the id and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, requests: Sequence[Ask]) -> Iterator[Item[int]]:
        for request in reversed(requests):
            self.asked.append(request.id)
            yield Item(request.id, len(request.id))


def quiet(stage: str, done: int, total: int) -> None:
    pass


def work(call: object, cheap: bool = False) -> Work[Ask, int]:
    return Work("test", "f" * 64, Item[int], call, cheap)  # type: ignore[arg-type]


ASKED = {"k1": Ask("a"), "k2": Ask("bb")}


def test_results_are_keyed_by_store_key_whatever_order_they_come_in(tmp_path: Path) -> None:
    results = run(work(Counting()), ASKED, Store(tmp_path), quiet)
    assert {k: i.value for k, i in results.items()} == {"k1": 1, "k2": 2}


def test_only_what_the_store_lacks_is_computed(tmp_path: Path) -> None:
    run(work(Counting()), {"k1": Ask("a")}, Store(tmp_path), quiet)
    second = Counting()
    run(work(second), ASKED, Store(tmp_path), quiet)
    assert second.asked == ["bb"]


def test_cheap_work_leaves_nothing_in_the_store(tmp_path: Path) -> None:
    run(work(Counting(), cheap=True), ASKED, Store(tmp_path), quiet)
    assert list(tmp_path.rglob("*.jsonl")) == []


@pytest.mark.parametrize(("kind", "kept"), [("pipeline", True), ("infrastructure", False)])
def test_only_failures_of_the_pipeline_itself_are_final(
    tmp_path: Path, kind: str, kept: bool
) -> None:
    def failing(requests: Sequence[Ask]) -> Iterator[Item[int]]:
        for r in requests:
            yield Item(r.id, None, Failure(kind, "broken"))  # type: ignore[arg-type]

    first = run(work(failing), ASKED, Store(tmp_path), quiet)
    assert all(i.failure is not None for i in first.values())
    second = Counting()
    run(work(second), ASKED, Store(tmp_path), quiet)
    assert (second.asked == []) is kept


def test_what_arrived_before_a_crash_is_kept(tmp_path: Path) -> None:
    def crashing(requests: Sequence[Ask]) -> Iterator[Item[int]]:
        yield Item("a", 1)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        run(work(crashing), ASKED, Store(tmp_path), quiet)
    second = Counting()
    run(work(second), ASKED, Store(tmp_path), quiet)
    assert second.asked == ["bb"]


def _missing(requests: Sequence[Ask]) -> Iterator[Item[int]]:
    yield Item("a", 1)


def _twice(requests: Sequence[Ask]) -> Iterator[Item[int]]:
    yield Item("a", 1)
    yield Item("a", 1)


def _stranger(requests: Sequence[Ask]) -> Iterator[Item[int]]:
    yield Item("zzz", 1)


def _neither(requests: Sequence[Ask]) -> Iterator[Item[int]]:
    yield Item("a", None)


def _both(requests: Sequence[Ask]) -> Iterator[Item[int]]:
    yield Item("a", 1, Failure("pipeline", "x"))


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (_missing, "left 1 of 2 inputs unanswered, such as bb"),
        (_twice, "answered twice 'a'"),
        (_stranger, "was never asked about 'zzz'"),
        (_neither, "either a value or a failure"),
        (_both, "either a value or a failure"),
    ],
)
def test_an_adapter_that_breaks_its_contract_is_named(
    tmp_path: Path, broken: object, sentence: str
) -> None:
    with pytest.raises(AdapterError, match=sentence):
        run(work(broken), ASKED, Store(tmp_path), quiet)


@pytest.mark.parametrize("cheap", [True, False])
@pytest.mark.parametrize("said", ["\ud800", 3, type("Text", (str,), {})("x")])
def test_a_result_that_cannot_be_stored_fails_its_own_item_only(
    tmp_path: Path, said: object, cheap: bool
) -> None:
    def answer(requests: Sequence[Ask]) -> Iterator[Item[object]]:
        for request in requests:
            yield Item(request.id, said if request.id == "a" else "fine")

    ask = Work("test", "f" * 64, Item[str], answer, cheap)  # type: ignore[arg-type]
    store = Store(tmp_path)
    first = run(ask, ASKED, store, quiet)
    assert first["k1"].value is None
    assert first["k1"].failure is not None
    assert first["k1"].failure.kind == "pipeline"
    assert "cannot be stored" in first["k1"].failure.message
    assert first["k2"].value == "fine"
    assert run(ask, ASKED, Store(tmp_path), quiet) == first


def test_a_number_that_is_not_finite_is_no_result(tmp_path: Path) -> None:
    ask = Work(
        "test", "f" * 64, Item[float], lambda rs: (Item(r.id, float("nan")) for r in rs), False
    )
    found = run(ask, ASKED, Store(tmp_path), quiet)
    assert all(item.failure is not None for item in found.values())


def test_what_another_process_stored_first_meanwhile_is_taken(tmp_path: Path) -> None:
    def answer(requests: Sequence[Ask]) -> Iterator[Item[int]]:
        run(work(lambda rs: (Item(r.id, 7) for r in rs)), {"k1": Ask("a")}, Store(tmp_path), quiet)
        for request in requests:
            yield Item(request.id, 1)

    found = run(work(answer), ASKED, Store(tmp_path), quiet)
    assert {key: item.value for key, item in found.items()} == {"k1": 7, "k2": 1}


def test_the_collector_of_cycles_is_as_it_was_after_an_execution() -> None:
    before = gc.get_threshold()
    with rarely():
        inside = gc.get_threshold()
    assert inside[0] > before[0]
    assert gc.get_threshold() == before

"""Running one stage over many items through the store, and holding it to its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from ragablate.codec import decode, encode
from ragablate.errors import AdapterError
from ragablate.records import Item
from ragablate.store import Shelf, Store


class Request(Protocol):
    """Anything with an id: one input of a stage."""

    @property
    def id(self) -> str:
        """Unique within the batch."""
        ...


R = TypeVar("R", bound=Request)
T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Told the stage, how many items are done and how many there are."""


@dataclass(frozen=True, slots=True)
class Work(Generic[R, T]):
    """One stage's work under one fingerprint."""

    stage: str
    """Name of the stage, for the store and for messages."""
    fingerprint: str
    """Of the adapter and of everything that fed it."""
    kind: type[Item[T]]
    """Type of its results, for decoding."""
    call: Callable[[Sequence[R]], Iterator[Item[T]]]
    """The adapter's method."""
    cheap: bool = False
    """Recomputed rather than stored: pure, and quicker than reading it back."""


def run(
    work: Work[R, T], requests: Mapping[str, R], store: Store, progress: Progress
) -> dict[str, Item[T]]:
    """Results by store key, computing only what the store lacks.

    Args:
        work: The stage.
        requests: Inputs by store key; their ids are unique.
        store: Where results are kept. Infrastructure failures are not, so the next
            execution tries them again.
        progress: Told as results arrive.

    Raises:
        AdapterError: The adapter broke its contract: an input unanswered, answered twice,
            or an answer to something it was not asked.
    """
    shelf = None if work.cheap else store.shelf(work.stage, work.fingerprint)
    if shelf is not None:
        shelf.refresh()
    results: dict[str, Item[T]] = {}
    missing: dict[str, tuple[str, R]] = {}
    for key, request in requests.items():
        stored = _stored(shelf, key, work)
        if stored is None:
            missing[request.id] = (key, request)
        else:
            results[key] = stored
    for key, item in _compute(work, missing, progress):
        results[key] = item
        if shelf is not None and _final(item):
            shelf.put(key, encode(item))
    if shelf is not None and missing:
        # Another process may have stored a key first; everybody takes the earliest.
        shelf.refresh()
        for key, _ in missing.values():
            results[key] = _stored(shelf, key, work) or results[key]
    return results


def _final(item: Item[Any]) -> bool:
    return item.failure is None or item.failure.kind == "pipeline"


def _stored(shelf: Shelf | None, key: str, work: Work[R, T]) -> Item[T] | None:
    entry = shelf.entries.get(key) if shelf is not None else None
    if entry is None:
        return None
    try:
        return decode(entry.value, work.kind)
    except msgspec.MsgspecError:
        return None  # written by a version with other records: compute it anew


def _compute(
    work: Work[R, T], missing: Mapping[str, tuple[str, R]], progress: Progress
) -> Iterator[tuple[str, Item[T]]]:
    if not missing:
        return
    open_ids = set(missing)
    for item in work.call([request for _, request in missing.values()]):
        if item.id not in open_ids:
            what = "answered twice" if item.id in missing else "was never asked about"
            raise AdapterError(f"{work.stage}: the adapter {what} '{item.id}'")
        if (item.value is None) == (item.failure is None):
            raise AdapterError(
                f"{work.stage}: the item for '{item.id}' must hold either a value or a failure"
            )
        open_ids.remove(item.id)
        progress(work.stage, len(missing) - len(open_ids), len(missing))
        yield missing[item.id][0], item
    if open_ids:
        some = ", ".join(sorted(open_ids)[:3])
        raise AdapterError(
            f"{work.stage}: the adapter left {len(open_ids)} of {len(missing)} inputs "
            f"unanswered, such as {some}"
        )

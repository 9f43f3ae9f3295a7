"""Running one stage over many items through the store, and holding it to its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from ragablate.codec import decode, encode
from ragablate.errors import AdapterError
from ragablate.functions import one_line
from ragablate.records import Failure, Item
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
    trusted: bool = False
    """Its results are known to be records as another process would read them."""


class Pending(Generic[R, T]):
    """The inputs of a stage on their way to their results.

    Args:
        work: The stage.
        requests: Inputs by store key; their ids are unique.
        store: Where results are kept. Infrastructure failures are not, so the next
            execution tries them again.
    """

    def __init__(self, work: Work[R, T], requests: Mapping[str, R], store: Store) -> None:
        self._work = work
        self._shelf = None if work.cheap else store.shelf(work.stage, work.fingerprint)
        if self._shelf is not None:
            self._shelf.refresh()
        self._results: dict[str, Item[T]] = {}
        self._keys: dict[str, str] = {}
        self.missing: list[R] = []
        """What the store lacks, in the order of the requests."""
        for key, request in requests.items():
            stored = _stored(self._shelf, key, work)
            if stored is None:
                self._keys[request.id] = key
                self.missing.append(request)
            else:
                self._results[key] = stored
        self._open = set(self._keys)

    def take(self, item: Item[T]) -> None:
        """Keep one result that the adapter gave.

        Raises:
            AdapterError: The adapter was not asked for it, or gave it before, or it is neither
                a value nor a failure.
        """
        stage = self._work.stage
        if item.id not in self._open:
            what = "answered twice" if item.id in self._keys else "was never asked about"
            raise AdapterError(f"{stage}: the adapter {what} '{item.id}'")
        if (item.value is None) == (item.failure is None):
            raise AdapterError(
                f"{stage}: the item for '{item.id}' must hold either a value or a failure"
            )
        self._open.remove(item.id)
        key = self._keys[item.id]
        if self._work.trusted:
            self._results[key] = item
            return
        kept, data = _storable(item, self._work)
        self._results[key] = kept
        if self._shelf is not None and _final(kept):
            self._shelf.put(key, data)

    def finish(self) -> dict[str, Item[T]]:
        """Results by store key.

        Raises:
            AdapterError: The adapter left an input unanswered.
        """
        if self._open:
            some = ", ".join(sorted(self._open)[:3])
            raise AdapterError(
                f"{self._work.stage}: the adapter left {len(self._open)} of {len(self._keys)} "
                f"inputs unanswered, such as {some}"
            )
        if self._shelf is not None and self._keys:
            # Another process may have stored a key first; everybody takes the earliest.
            self._shelf.refresh()
            for key in self._keys.values():
                if not self._shelf.own(key):
                    stored = _stored(self._shelf, key, self._work)
                    self._results[key] = stored or self._results[key]
        return self._results


def shipped(adapter: object) -> bool:
    """Whether an adapter is one of ragablate's own, whose results are of the declared types."""
    return type(adapter).__module__.startswith("ragablate.")


def run(
    work: Work[R, T], requests: Mapping[str, R], store: Store, progress: Progress
) -> dict[str, Item[T]]:
    """Results by store key, computing only what the store lacks.

    Args:
        work: The stage.
        requests: Inputs by store key; their ids are unique.
        store: Where results are kept; see ``Pending``.
        progress: Told as results arrive.

    Raises:
        AdapterError: The adapter broke its contract: an input unanswered, answered twice,
            or an answer to something it was not asked.
    """
    pending = Pending(work, requests, store)
    if pending.missing:
        for done, item in enumerate(work.call(pending.missing), start=1):
            pending.take(item)
            progress(work.stage, done, len(pending.missing))
    return pending.finish()


def _storable(item: Item[T], work: Work[R, T]) -> tuple[Item[T], bytes]:
    """An item as it can be stored, with its bytes; else the failure in its place.

    What another process would not read back must not be scored in this one either: half a
    surrogate pair, a number that is not finite, a field of another type.
    """
    try:
        data = encode(item)
        if decode(data, work.kind).value is None and item.value is not None:
            raise ValueError("a number that is not finite")
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError) as error:
        reason = f"{work.stage}: the result cannot be stored: {one_line(error)}"
        failed: Item[T] = Item(item.id, None, Failure("pipeline", reason))
        return failed, encode(failed)
    return item, data


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

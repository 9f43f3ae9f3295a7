"""The stage store: results of earlier work, kept by fingerprint and item.

Layout, readable with ``cat`` and ``jq``::

    <root>/<stage>/<fingerprint>/<segment>.jsonl

Every process appends to segments of its own, so two processes never write one file: that
is safe on one machine and on a shared file system alike, without locks. A line is one
result with its checksum; a line torn by a crash fails it and is ignored. Where several
processes stored the same key, the earliest one wins for all of them, so everybody who
looks after a stage is complete sees the same value.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ragablate.errors import StoreError


class _Line(msgspec.Struct, frozen=True):
    at: int
    key: str
    sum: str
    value: msgspec.Raw


@dataclass(slots=True)
class Entry:
    """One stored result."""

    at: int
    """When it was stored, in nanoseconds since the epoch."""
    value: bytes
    """Canonical JSON of the result."""
    order: tuple[int, str] = (0, "")
    """Precedence among several writers of one key; the smallest wins."""


@dataclass(slots=True)
class Shelf:
    """The results of one stage under one fingerprint."""

    folder: Path
    """Where its segments lie."""
    entries: dict[str, Entry] = field(default_factory=dict)
    """Winning entry by key."""
    damaged: int = 0
    """Lines that were torn or altered, and ignored."""
    _read: dict[str, int] = field(default_factory=dict)
    _own: int | None = None
    _name: str = ""

    def refresh(self) -> None:
        """Take in what other processes have stored meanwhile.

        Raises:
            StoreError: The folder cannot be read.
        """
        try:
            for path in sorted(self.folder.iterdir()):
                if path.suffix == ".jsonl" and path.name != self._name:
                    self._take(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(
                f"cannot read stored results in {self.folder}: {error.strerror}. Fix the folder, "
                "or give another one: outputs=DIR"
            ) from error

    def _take(self, path: Path) -> None:
        start = self._read.get(path.name, 0)
        if path.stat().st_size <= start:
            return
        with path.open("rb") as file:
            file.seek(start)
            data = file.read()
        complete = data.rfind(b"\n") + 1
        self._read[path.name] = start + complete
        for raw in data[:complete].splitlines():
            self._admit(raw, path.name)

    def _admit(self, raw: bytes, segment: str) -> None:
        try:
            line = msgspec.json.decode(raw, type=_Line)
        except msgspec.MsgspecError:
            self.damaged += 1
            return
        value = bytes(line.value)
        if line.sum != _checksum(line.key, value):
            self.damaged += 1
            return
        self._offer(line.key, Entry(line.at, value, (line.at, segment)))

    def _offer(self, key: str, entry: Entry) -> None:
        known = self.entries.get(key)
        if known is None or entry.order < known.order:
            self.entries[key] = entry

    def put(self, key: str, value: bytes) -> None:
        """Store one result at once.

        Raises:
            StoreError: The folder cannot be written, or the disk is full.
        """
        at = time.time_ns()
        line = _Line(at, key, _checksum(key, value), msgspec.Raw(value))
        try:
            own = self._own if self._own is not None else self._open()
            data = msgspec.json.encode(line) + b"\n"
            while data:
                data = data[os.write(own, data) :]
        except OSError as error:
            raise StoreError(
                f"cannot store results in {self.folder}: {error.strerror}. What was finished is "
                "kept: make room or fix the folder, and run the same command again"
            ) from error
        self._offer(key, Entry(at, value, (at, self._name)))

    def own(self, key: str) -> bool:
        """Whether the winning entry of a key is one that this process stored."""
        entry = self.entries.get(key)
        return entry is not None and self._own is not None and entry.order[1] == self._name

    def _open(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._own = os.open(
            self.folder / self._name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644
        )
        return self._own

    def close(self) -> None:
        """End this process's segment."""
        if self._own is not None:
            # A full disk was reported when the line was written.
            with contextlib.suppress(OSError):
                os.close(self._own)
            self._own = None


def _checksum(key: str, value: bytes) -> str:
    h = hashlib.sha256(key.encode("utf-8", "surrogatepass"))
    h.update(b"\0")
    h.update(value)
    return h.hexdigest()[:16]


class Store:
    """All shelves under one root.

    Args:
        root: Folder; made when the first result is stored.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._shelves: dict[tuple[str, str], Shelf] = {}

    def shelf(self, stage: str, fingerprint: str) -> Shelf:
        """The shelf of a stage and fingerprint, read from disk on first use."""
        key = (stage, fingerprint)
        if key not in self._shelves:
            self._shelves[key] = Shelf(self.root / stage / fingerprint[:32])
            self._shelves[key].refresh()
        return self._shelves[key]

    def close(self) -> None:
        """End all segments of this process."""
        for shelf in self._shelves.values():
            shelf.close()

    def damaged(self) -> Iterator[tuple[Path, int]]:
        """Shelves with ignored lines, and how many."""
        for shelf in self._shelves.values():
            if shelf.damaged:
                yield shelf.folder, shelf.damaged

"""Vectors by the digest of what they stand for, kept on disk and mapped into memory.

Layout: ``<folder>/<time>-<host>-<process>.npy``, ordinary NumPy files of records ``key``
(sha256), ``check`` (checksum of the record) and ``vector``. A file is written under a hidden
name and renamed when it is complete, and never changed again, so any number of processes may
read and write one folder at a time and die at any moment. Of two vectors for one key the
earlier file's counts. A damaged file or record is as good as absent.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from ragablate.errors import StoreError

_CHUNK = 8192
_OPEN = 64
_STALE_S = 3600.0

Source = Path | NDArray[np.float32]
"""A file, or rows that are kept in memory."""


class Vectors:
    """Vectors of one model by key.

    Args:
        folder: Where they are kept; ``None`` keeps them in memory.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.damaged = 0
        """Files and records that were ignored because they are torn or altered."""
        self._sources: list[Source] = []
        self._names: set[str] = set()
        self._place: dict[bytes, tuple[int, int]] = {}
        self._mapped: dict[int, NDArray[np.float32]] = {}

    def refresh(self) -> None:
        """Take in what other processes have written meanwhile.

        Raises:
            StoreError: The folder cannot be read.
        """
        if self.folder is None:
            return
        try:
            names = sorted(n for n in os.listdir(self.folder) if n.endswith(".npy"))
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unusable("read", error) from error
        for name in names:
            if not name.startswith(".") and name not in self._names:
                self._names.add(name)
                self._take(self.folder / name)

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """Positions of the keys without a vector, the first of each."""
        first: dict[bytes, int] = {}
        for position, key in enumerate(keys):
            if key not in self._place:
                first.setdefault(key, position)
        return list(first.values())

    def add(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Keep vectors of keys that have none yet.

        Raises:
            StoreError: The folder cannot be written, or the disk is full.
        """
        if not keys:
            return
        source: Source = vectors
        if self.folder is not None:
            try:
                source = self._write(self.folder, _records(keys, vectors))
            except OSError as error:
                raise self._unusable("write", error) from error
            self._names.add(source.name)
        self._admit(source, keys, range(len(keys)))

    def rows(self, keys: Sequence[bytes]) -> Rows:
        """The vectors of keys that all have one, in order."""
        places = np.array([self._place[key] for key in keys], dtype=np.int64).reshape(-1, 2)
        width = self.source(int(places[0, 0])).shape[1] if len(places) else 0
        return Rows(self, places[:, 0], places[:, 1], width)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let one process at a time embed: the next then finds what it lacked.

        Where the file system has no locks, processes do the same work side by side.
        """
        if self.folder is None:
            yield
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / ".lock").open("a")
        except OSError as error:
            raise self._unusable("write", error) from error
        with file:
            _lock(file)
            self._sweep(self.folder)
            yield

    def source(self, number: int) -> NDArray[np.float32]:
        """The vectors of one file, mapped into memory.

        Raises:
            StoreError: The file was removed meanwhile.
        """
        source = self._sources[number]
        if not isinstance(source, Path):
            return source
        if number not in self._mapped:
            while len(self._mapped) >= _OPEN:
                del self._mapped[next(iter(self._mapped))]
            try:
                records = open_memmap(source, mode="r")
            except (OSError, ValueError) as error:
                raise self._unusable("read", error) from error
            self._mapped[number] = records["vector"]
        return self._mapped[number]

    def _take(self, path: Path) -> None:
        try:
            records = open_memmap(path, mode="r")
            if records.ndim != 1 or records.dtype != _dtype(records.dtype["vector"].shape[0]):
                raise ValueError("other records")
        except Exception:  # NumPy has many names for a file that is none of its own
            self.damaged += 1
            return
        keys: list[bytes] = []
        rows: list[int] = []
        for start in range(0, len(records), _CHUNK):
            part = records[start : start + _CHUNK]
            good = np.flatnonzero(part["check"] == _checksums(part))
            self.damaged += len(part) - len(good)
            keys += [key.tobytes() for key in part["key"][good]]
            rows += (good + start).tolist()
        self._admit(path, keys, rows)

    def _admit(self, source: Source, keys: Sequence[bytes], rows: Sequence[int]) -> None:
        number = len(self._sources)
        self._sources.append(source)
        for key, row in zip(keys, rows, strict=True):
            self._place.setdefault(key, (number, row))

    def _write(self, folder: Path, records: NDArray[np.void]) -> Path:
        own = f"{time.time_ns():020d}-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        temporary = folder / f".{own}.tmp"
        try:
            with temporary.open("xb") as file:
                np.save(file, records, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            return temporary.rename(folder / f"{own}.npy")
        finally:
            temporary.unlink(missing_ok=True)

    def _sweep(self, folder: Path) -> None:
        """Remove what processes left that were killed while they wrote."""
        for path in folder.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_S:
                    path.unlink()

    def _unusable(self, what: str, error: Exception) -> StoreError:
        reason = getattr(error, "strerror", None) or error
        return StoreError(
            f"cannot {what} embeddings in {self.folder}: {reason}. What was finished is kept: "
            "make room or fix the folder, or give another one as runtime.cache"
        )


class Rows:
    """A matrix whose rows lie in several files; only what is asked for is read.

    Args:
        vectors: Where the rows are kept.
        sources: Which file each row is in.
        rows: Which record of it.
        width: Length of a vector.
    """

    def __init__(
        self,
        vectors: Vectors,
        sources: NDArray[np.int64],
        rows: NDArray[np.int64],
        width: int,
    ) -> None:
        self.shape = (len(rows), width)
        self._vectors = vectors
        self._sources = sources
        self._rows = rows

    def __getitem__(self, chosen: slice | NDArray[np.int64]) -> NDArray[np.float32]:
        sources, rows = self._sources[chosen], self._rows[chosen]
        numbers = np.unique(sources).tolist()
        if len(numbers) == 1 and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
            # A stretch of one file: the mapped memory itself, not a copy.
            return self._vectors.source(numbers[0])[rows[0] : rows[-1] + 1]
        found = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        for number in numbers:
            here = sources == number
            found[here] = self._vectors.source(number)[rows[here]]
        return found


def _dtype(width: int) -> np.dtype[np.void]:
    return np.dtype([("key", "u1", (32,)), ("check", "<u8"), ("vector", "<f4", (width,))])


def _records(keys: Sequence[bytes], vectors: NDArray[np.float32]) -> NDArray[np.void]:
    records: NDArray[np.void] = np.zeros(len(keys), dtype=_dtype(vectors.shape[1]))
    records["key"] = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 32)
    records["vector"] = vectors
    records["check"] = _checksums(records)
    return records


def _checksums(records: NDArray[np.void]) -> NDArray[np.uint64]:
    """Sums of a record's 32-bit words, each weighted by an odd number of its own."""
    sums = np.zeros(len(records), dtype=np.uint64)
    for start in range(0, len(records), _CHUNK):
        part = records[start : start + _CHUNK]
        words = np.hstack([_words(part["key"]), _words(part["vector"])])
        weights = np.arange(words.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(3)
        sums[start : start + _CHUNK] = (words * weights).sum(axis=1, dtype=np.uint64)
    return sums


def _words(values: NDArray[np.generic]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values).view("<u4").astype(np.uint64)


def _lock(file: IO[Any]) -> None:
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)

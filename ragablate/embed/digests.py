"""What the files of a model contain, as one digest."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from functools import lru_cache
from pathlib import Path

from ragablate import codec

_MEMO = "digests.json"
_LARGE = 1 << 20


def folder_digest(folder: Path, memory: Path | None = None) -> str:
    """sha256 over the names and contents of all files under a folder, symbolic links followed.

    Hidden files and Markdown do not count: they cannot change what a model answers.

    Args:
        folder: What is digested.
        memory: Folder that remembers digests of large files, so that a later process hashes
            only files whose size, times or inode have changed. Nothing is remembered where it
            does not exist.
    """
    folder = folder.resolve()
    known = _recall(memory)
    found = dict(known)
    parts = []
    for path in _files(folder):
        stamp = _stamp(path)
        remembered = known.get(str(path))
        if remembered is not None and remembered[:-1] == stamp:
            digest = str(remembered[-1])
        else:
            digest = _file_digest(str(path), *stamp)
        if stamp[0] >= _LARGE:
            found[str(path)] = [*stamp, digest]
        parts.append((path.relative_to(folder).as_posix(), digest))
    if found != known:
        _remember(memory, found)
    return codec.digest_texts(parts)


def _files(folder: Path) -> list[Path]:
    paths = []
    seen = set()
    for root, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(root)
        if real in seen:  # a link that leads back
            folders.clear()
            continue
        seen.add(real)
        paths += [Path(root) / name for name in names]
    return sorted(path for path in paths if _counts(path.relative_to(folder)))


def _counts(path: Path) -> bool:
    return path.suffix.lower() != ".md" and not any(part.startswith(".") for part in path.parts)


def _stamp(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


@lru_cache(maxsize=1024)
def _file_digest(path: str, size: int, modified: int, changed: int, inode: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _recall(memory: Path | None) -> dict[str, list[int | str]]:
    if memory is None:
        return {}
    try:
        known = json.loads((memory / _MEMO).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {k: v for k, v in known.items() if isinstance(v, list) and len(v) == 5}


def _remember(memory: Path | None, found: dict[str, list[int | str]]) -> None:
    if memory is None or not memory.is_dir():
        return
    temporary = memory / f".{_MEMO}-{os.getpid()}-{secrets.token_hex(4)}"
    # What cannot be remembered is hashed again next time.
    with contextlib.suppress(OSError):
        temporary.write_text(json.dumps(found, indent=1), encoding="utf-8")
        temporary.replace(memory / _MEMO)

"""Files of a data set, plain or gzipped, read whole and known by their content."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

_BOM = b"\xef\xbb\xbf"
_GZIP = ".gz"


def find(path: Path) -> Path:
    """The file itself or, where only that exists, the gzipped file of the same name."""
    packed = path.with_name(path.name + _GZIP)
    return packed if not path.exists() and packed.is_file() else path


def stem(path: Path) -> str:
    """A file's name without its endings for JSON and gzip."""
    return path.name.removesuffix(_GZIP).removesuffix(".json")


def missing(path: Path) -> str:
    """The sentence about a file that is not there."""
    if path.is_dir():
        return f"{path} is a folder. Name the file itself."
    return f"There is no file {path}. Put it there, or correct the name."


def content(path: Path, problems: list[str]) -> bytes | None:
    """A file's bytes, unpacked and without a byte order mark.

    ``None`` where it cannot be read, with the reason put to ``problems``; a file that is not
    there is for the caller to report.
    """
    try:
        return _unpacked(path).removeprefix(_BOM)
    except FileNotFoundError:
        return None
    except (OSError, EOFError, zlib.error) as problem:
        reason = getattr(problem, "strerror", None) or problem
        problems.append(f"{path} cannot be read ({reason}). Make it a readable file.")
        return None


def text(path: Path, problems: list[str]) -> str | None:
    """A file's text; ``None`` with the reason put to ``problems`` where it is not UTF-8."""
    data = content(path, problems)
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        problems.append(
            f"{path}, line {line}: not UTF-8 (byte 0x{data[problem.start]:02x}). Convert the "
            "file to UTF-8."
        )
        return None


def content_digest(paths: Iterable[Path]) -> str:
    """sha256 over the unpacked content of files, in order.

    Raises:
        OSError: One of them cannot be read.
    """
    h = hashlib.sha256()
    for path in paths:
        try:
            h.update(hashlib.sha256(_unpacked(path)).digest())
        except (EOFError, zlib.error) as problem:
            raise OSError(str(problem)) from problem
    return h.hexdigest()


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.name.endswith(_GZIP) else data

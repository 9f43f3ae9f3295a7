"""A bundle as one file, and a folder again."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ragablate.bundle import manifest
from ragablate.bundle.write import draft
from ragablate.errors import BundleError

SUFFIX = ".zip"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The same bundle gives the same file, whenever it is packed."""
_CHUNK = 1 << 20
_MOST = 20 * 2**30
"""Bytes a packed bundle may unfold to."""

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
"""What zipfile raises besides its own error: of data that do not inflate, an early end, a place
that cannot be, an encrypted entry or an unknown compression, and of names that make no sense."""


def pack(folder: Path, out: Path) -> None:
    """Write a bundle to one file, byte for byte the same for the same bundle.

    Args:
        folder: The bundle.
        out: The file, which must not exist.

    Raises:
        BundleError: It is no bundle, or the file exists or cannot be written.
    """
    if not (folder / manifest.NAME).is_file():
        raise BundleError(f"{folder} has no {manifest.NAME}: give the folder of a bundle")
    if out.exists():
        raise BundleError(f"{out} exists: give another name")
    half = out.with_name(f".{out.name}.half")
    try:
        with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted([*manifest.files(folder), manifest.NAME]):
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                with (folder / name).open("rb") as source, archive.open(entry, "w") as target:
                    shutil.copyfileobj(source, target)
        half.replace(out)
    except OSError as error:
        half.unlink(missing_ok=True)
        raise BundleError(f"{out} cannot be written: {error.strerror}") from error


def unpack(file: Path, out: Path) -> None:
    """Write a packed bundle to a folder.

    Args:
        file: What ``pack`` wrote.
        out: The folder, which must not exist.

    Raises:
        BundleError: It is no packed bundle, or would write outside of the folder.
        StoreError: The folder exists or cannot be written.
    """
    with _readable(file):
        archive = zipfile.ZipFile(file)
    with archive:
        entries = archive.infolist()
        if manifest.NAME not in {entry.filename for entry in entries}:
            raise BundleError(f"{file} holds no {manifest.NAME}: it is no packed bundle")
        if sum(entry.file_size for entry in entries) > _MOST:
            raise BundleError(f"{file} would unfold to more than {_MOST >> 30} GiB")
        with draft(out) as place:
            for entry in entries:
                _refuse_outside(file, entry.filename)
                target = place / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as written:
                    for chunk in _chunks(file, archive, entry):
                        written.write(chunk)


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Whatever goes wrong with reading the file is told as what is wrong with it."""
    try:
        yield
    except _DAMAGED as error:
        why = str(error) or "it ends too early"
        raise BundleError(f"{file} is no packed bundle, or damaged: {why}") from error


def _chunks(file: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """What an entry holds; only reading is told as damage, a full disk is not the file's fault."""
    with _readable(file):
        source = archive.open(entry)
    with source:
        while True:
            with _readable(file):
                chunk = source.read(_CHUNK)
            if not chunk:
                return
            yield chunk


def _refuse_outside(file: Path, name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or name[-1:] == "/":
        raise BundleError(f"{file} holds '{name}', which would lie outside of the bundle")


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The folder of a bundle, unpacked for the time being where it is one file.

    Raises:
        BundleError: It is a file and no packed bundle.
    """
    if not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="ragablate-") as place:
        folder = Path(place) / path.stem
        unpack(path, folder)
        yield folder

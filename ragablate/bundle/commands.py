"""``ragablate verify``, ``pack`` and ``unpack``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ragablate.bundle.pack import SUFFIX, opened, pack, unpack
from ragablate.bundle.redact import redact
from ragablate.bundle.verify import verify
from ragablate.errors import BundleError


def verify_command(arguments: Sequence[str]) -> int:
    """Prove a bundle, a folder or packed.

    Raises:
        BundleError: It is none.
    """
    parser = argparse.ArgumentParser(
        prog="ragablate verify",
        description="Re-hash a bundle, recompute its numbers from its verdicts, re-check its "
        "proofs, and name the first thing that does not hold (exit code 1).",
    )
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="a folder, or a packed file")
    asked = _parsed(parser, arguments)
    if isinstance(asked, int):
        return asked
    with opened(asked.bundle) as folder:
        found = verify(folder)
    if found.wrong:
        from ragablate.report.escape import clean

        print(f"ragablate: {clean(f'{asked.bundle} does not hold: {found.wrong}')}",
              file=sys.stderr)  # fmt: skip
        return 1
    print(
        f"verified: {found.files} files, {found.numbers} numbers and texts of effects.json "
        f"recomputed\nid {found.bundle_id}"
    )
    if found.redacted:
        print(
            f"redacted from {found.redacted}: its texts are gone, so proofs, observed reasons and "
            "log buckets are as that bundle gave them and were not worked out again"
        )
    return 0


def pack_command(arguments: Sequence[str]) -> int:
    """Write a bundle to one file.

    Raises:
        BundleError: It is none, or the file cannot be written.
        StoreError: The redacted copy cannot be written.
    """
    parser = argparse.ArgumentParser(
        prog="ragablate pack", description="Write a bundle to one file."
    )
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument("--out", type=Path, help="the file (the bundle's name with .zip)")
    parser.add_argument(
        "--redact",
        action="store_true",
        help="take out every question, passage, prompt and answer; digests and verdicts stay",
    )
    asked = _parsed(parser, arguments)
    if isinstance(asked, int):
        return asked
    folder: Path = asked.bundle
    name = folder.resolve().name + ("-redacted" if asked.redact else "") + SUFFIX
    out: Path = asked.out or Path(name)
    if out.resolve().is_relative_to(folder.resolve()):
        raise BundleError(f"--out {out} is in the bundle, which would no longer hold")
    if asked.redact:
        with tempfile.TemporaryDirectory(prefix="ragablate-") as place:
            copy = Path(place) / "copy"
            bundle_id = redact(folder, copy)
            pack(copy, out)
        print(f"{out}\nid {bundle_id}")
        return 0
    pack(folder, out)
    print(out)
    return 0


def unpack_command(arguments: Sequence[str]) -> int:
    """Write a packed bundle to a folder.

    Raises:
        BundleError: It is none.
        StoreError: The folder cannot be written.
    """
    parser = argparse.ArgumentParser(
        prog="ragablate unpack", description="Write a packed bundle to a folder."
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, help="the folder (the file's name without .zip)")
    asked = _parsed(parser, arguments)
    if isinstance(asked, int):
        return asked
    out: Path = asked.out or Path(asked.file.stem)
    if out.exists():
        raise BundleError(f"{out} exists: give another folder, --out")
    unpack(asked.file, out)
    print(out)
    return 0


def _parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace | int:
    try:
        return parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)

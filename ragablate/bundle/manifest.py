"""The MANIFEST of a bundle: sha256 of every file, and the id over what is reproducible."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

NAME = "MANIFEST"

_WALL_CLOCK = {"plan.json", "traces.jsonl"}
"""Files that hold times; the id does not depend on them."""
DIAGNOSIS = "diagnosis.json"
_REPORTS = {"report.md", "report.html", DIAGNOSIS}
"""Files that quote the id, or are told from the others."""


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes."""
    h = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def files(folder: Path) -> dict[str, str]:
    """sha256 by relative path of everything in a bundle but the MANIFEST itself."""
    return {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != NAME
    }


def bundle_id(digests: Mapping[str, str]) -> str:
    """sha256 over the files that the same plan and data always give."""
    h = hashlib.sha256()
    for name, value in sorted(digests.items()):
        base = name.rsplit("/", 1)[-1]
        if base in _WALL_CLOCK or base in _REPORTS or name.startswith(".hydra/"):
            continue
        h.update(f"{name} {value}\n".encode())
    return h.hexdigest()


def render(digests: Mapping[str, str]) -> str:
    """The MANIFEST's text, in the format ``sha256sum --check`` reads."""
    return "".join(f"{value}  {name}\n" for name, value in sorted(digests.items()))


def parse(text: str) -> dict[str, str]:
    """sha256 by relative path, from a MANIFEST's text; raises ValueError on another format."""
    digests = {}
    for line in text.splitlines():
        value, gap, name = line.partition("  ")
        if not gap or len(value) != 64:
            raise ValueError(f"not a line of a MANIFEST: {line[:80]!r}")
        digests[name] = value
    return digests

"""Proving a bundle: its bytes, its numbers, its proofs. No model, no corpus, no store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragablate import __version__
from ragablate.bundle import manifest
from ragablate.bundle.crosschecks import disagreements
from ragablate.bundle.given import read_given
from ragablate.bundle.read import Bundle, load
from ragablate.bundle.write import effects_json
from ragablate.codec import pretty
from ragablate.errors import BundleError, EvidenceError


@dataclass(frozen=True, slots=True)
class Finding:
    """What verifying a bundle came to."""

    bundle_id: str
    """Over everything reproducible in it."""
    files: int
    """Files re-hashed."""
    numbers: int
    """Leaves of ``effects.json`` recomputed."""
    wrong: str
    """The first thing that does not hold; empty where everything does."""
    redacted: str = ""
    """Id of the full bundle, of one whose texts were taken out: what rests on texts (proofs,
    observed reasons, log buckets) is as the full bundle gave it, and was not worked out again."""


def verify(folder: Path) -> Finding:
    """Re-hash every file, recompute every number from the verdicts, re-check the proofs.

    Args:
        folder: The bundle.

    Raises:
        BundleError: It is no bundle, or a file cannot be read.
    """
    digests = manifest.files(folder)
    wrong = next(_hashes(folder, digests), "")
    numbers = 0
    if not wrong:
        numbers, wrong = _looked_into(folder, manifest.bundle_id(digests))
    given = read_given(folder) if not wrong else None
    full = "" if given is None else given.bundle_id
    return Finding(manifest.bundle_id(digests), len(digests), numbers, wrong, full)


def _looked_into(folder: Path, bundle_id: str) -> tuple[int, str]:
    """Leaves recomputed, and the first thing in the files that does not hold."""
    try:
        bundle = load(folder)
        wrong = next(disagreements(bundle), "")
        return (0, wrong) if wrong else _recomputed(bundle, bundle_id)
    except EvidenceError as error:
        return 0, f"its answers cannot be compared: {error}"
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BundleError(
            f"{folder} does not hold what a bundle does: {type(error).__name__}: {error}"
        ) from error


def _hashes(folder: Path, digests: dict[str, str]) -> Iterator[str]:
    path = folder / manifest.NAME
    try:
        listed = manifest.parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BundleError(
            f"{path} cannot be read ({error.strerror}): give the folder of a bundle"
        ) from error
    except ValueError as error:
        yield f"{manifest.NAME}: {error}"
        return
    for name in sorted(listed.keys() | digests.keys()):
        if name not in digests:
            yield f"{name} is listed in the MANIFEST and missing"
        elif name not in listed:
            yield f"{name} is not listed in the MANIFEST"
        elif listed[name] != digests[name]:
            yield f"{name} was changed: its sha256 is not the one in the MANIFEST"


def _recomputed(bundle: Bundle, bundle_id: str) -> tuple[int, str]:
    from ragablate.compare import compare
    from ragablate.report.markdown import render_markdown

    stored = json.loads((bundle.folder / "effects.json").read_text(encoding="utf-8"))
    comparison = compare(bundle.study())
    again = json.loads(pretty(effects_json(comparison, bundle.proofs)))
    # The proofs first: what fails there is why the rest differs.
    count, wrong = _compared(stored.get("proofs"), again["proofs"], "effects.json.proofs")
    if not wrong:
        count, wrong = _compared(stored, again, "effects.json")
    # Another version may word its report otherwise.
    if not wrong and bundle.plan["ragablate"] == __version__:
        report = (bundle.folder / "report.md").read_text(encoding="utf-8")
        if report != render_markdown(bundle, comparison, bundle_id):
            wrong = "report.md does not say what the numbers of the bundle give"
    return count, wrong


def _compared(stored: Any, again: Any, where: str) -> tuple[int, str]:
    """Leaves that agree, and the first place where they do not."""
    if isinstance(stored, dict) and isinstance(again, dict):
        keys = sorted(stored.keys() | again.keys())
        pairs = [(f"{where}.{key}", stored.get(key), again.get(key)) for key in keys]
    elif isinstance(stored, list) and isinstance(again, list) and len(stored) == len(again):
        named = [s.get("id", i) if isinstance(s, dict) else i for i, s in enumerate(stored)]
        pairs = [
            (f"{where}[{name}]", s, a) for name, s, a in zip(named, stored, again, strict=True)
        ]
    else:
        wrong = "" if stored == again else f"{where} is {stored!r}, recomputed it is {again!r}"
        return 1, wrong
    count = 0
    for place, one, other in pairs:
        leaves, wrong = _compared(one, other, place)
        count += leaves
        if wrong:
            return count, wrong
    return count, ""

"""A copy of a bundle without a word of its questions, passages and answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragablate.bundle import manifest
from ragablate.bundle.given import HIDDEN, NAME, Given
from ragablate.bundle.read import load
from ragablate.bundle.write import draft, seal
from ragablate.codec import encode, pretty
from ragablate.diagnose.traversal import CORRECT
from ragablate.errors import BundleError

_KEPT = frozenset(
    {
        "arm", "qid", "pid", "cluster", "document", "doc_id", "digest", "gold_digest",
        "context_digest", "frame_digest", "prompt_digest", "finish_reason", "model",
        "prompt_version", "timestamp", "measure", "status", "outcome", "kind", "stage", "role",
    }
)  # fmt: skip
"""Keys whose texts are ids, digests, codes and times. Every other text is taken out."""
_KEPT_BELOW = frozenset(
    {"slices", "documents", "decoding", "usage", "signals", "prompt_pids", "cited", "gold_pids",
     "gold_parts", "evicted", "elsewhere"}
)  # fmt: skip
"""Keys below which texts are such, whatever they are called."""
_EMPTIED = frozenset({"answers", "quotes", "evidence", "removed", "history", "searches"})
"""Lists of texts, which would be as long as before."""


def redact(folder: Path, out: Path) -> str:
    """Copy a bundle with every text of its data taken out.

    Digests, ids, scores, verdicts and settings stay, so that all numbers can be recomputed
    from the verdicts. What was worked out from texts (proofs, observed reasons, log buckets)
    is taken along as it was found in the full bundle.

    Args:
        folder: The bundle.
        out: The folder of the copy, which must not exist.

    Returns:
        The id of the copy.

    Raises:
        BundleError: It is no bundle, was changed since it was written, or is redacted already.
        StoreError: The copy cannot be written.
    """
    from ragablate.bundle.verify import verify

    found = verify(folder)
    if found.wrong:
        raise BundleError(f"{folder} does not hold, and is not copied: {found.wrong}")
    bundle = load(folder)
    if bundle.given is not None:
        raise BundleError(f"{folder} is redacted already")
    study = bundle.study()
    given = Given(
        found.bundle_id,
        manifest.files(folder),
        bundle.proofs,
        study.reasons,
        {m: bundle.buckets(m) for m in sorted({CORRECT, bundle.headline})},
    )
    with draft(out) as place:
        for name in given.files:
            _copy(folder / name, place / name)
        (place / NAME).write_text(pretty(given), encoding="utf-8")
        _reports(place)
        return seal(place)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".jsonl":
        with source.open("rb") as lines, target.open("wb") as out:
            for line in lines:
                out.write(encode(without_texts(json.loads(line))))
                out.write(b"\n")
    elif source.name not in ("report.md", "report.html"):
        shutil.copyfile(source, target)


def without_texts(value: Any, key: str = "") -> Any:
    """A row with every text hidden that is no id, digest, code or time."""
    if isinstance(value, Mapping):
        if key in _KEPT_BELOW and key != "elsewhere":
            return dict(value)
        return {name: without_texts(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        if key in _EMPTIED:
            return []
        if key in _KEPT_BELOW and key != "elsewhere":
            return value
        return [without_texts(inner, key) for inner in value]
    if isinstance(value, str) and value and key not in _KEPT:
        return HIDDEN
    return value


def _reports(place: Path) -> None:
    """Reports of the copy, which show what it holds and no more."""
    from ragablate.compare import compare
    from ragablate.report.html import render_html
    from ragablate.report.markdown import render_markdown

    bundle = load(place)
    study = bundle.study()
    comparison = compare(study)
    bundle_id = manifest.bundle_id(manifest.files(place))
    (place / "report.md").write_bytes(render_markdown(bundle, comparison, bundle_id).encode())
    (place / "report.html").write_bytes(render_html(bundle, comparison, bundle_id, study).encode())

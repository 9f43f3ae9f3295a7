"""From what a bundle holds to the bundle: written, read back, proved, compared, reported."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ragablate.bundle import manifest
from ragablate.bundle.read import Bundle, load
from ragablate.bundle.write import Contents, draft, seal, write, write_effects
from ragablate.codec import pretty
from ragablate.records import Comparison


@dataclass(frozen=True, slots=True)
class Published:
    """A bundle that was just written."""

    bundle: Bundle
    """Its contents, read back."""
    comparison: Comparison
    """Effects and conclusions."""
    bundle_id: str
    """Over everything reproducible in it."""


def folder_name(started: datetime, plan_digest: str) -> str:
    """Name of a bundle's folder: when it was made and the start of its plan's digest."""
    stamp = started.strftime("%Y-%m-%dT%H-%M-%S.%f")[:-3]
    return f"{stamp}_{plan_digest[:8]}"


def publish(folder: Path, contents: Contents) -> Published:
    """Write a bundle, compare what it holds and report.

    Args:
        folder: Where it will lie; it appears when everything is written.
        contents: What it holds before the comparison.

    Raises:
        EvidenceError: There is nothing to compare.
        StoreError: It cannot be written.
    """
    # The comparator needs scipy, which a check does not.
    from ragablate.compare import compare
    from ragablate.report.html import render_html
    from ragablate.report.markdown import render_markdown
    from ragablate.report.surfaced import diagnosis

    with draft(folder) as hidden:
        write(hidden, contents)
        bundle = load(hidden)
        study = bundle.study()
        comparison = compare(study)
        write_effects(hidden, comparison, bundle.proofs)
        bundle_id = manifest.bundle_id(manifest.files(hidden))
        report = render_markdown(bundle, comparison, bundle_id)
        (hidden / "report.md").write_text(report, encoding="utf-8")
        page = render_html(bundle, comparison, bundle_id, study)
        (hidden / "report.html").write_text(page, encoding="utf-8")
        (hidden / manifest.DIAGNOSIS).write_text(pretty(diagnosis(bundle)), encoding="utf-8")
        seal(hidden)
    return Published(bundle, comparison, bundle_id)

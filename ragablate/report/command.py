"""``ragablate report``: a bundle as Markdown, HTML, CSV or LaTeX, or as a citation."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragablate.bundle import manifest
from ragablate.bundle.read import Bundle, load
from ragablate.errors import BundleError, DesignError
from ragablate.records import Comparison, Study


@dataclass(frozen=True, slots=True)
class Source:
    """A bundle with what a report of it is made from."""

    bundle: Bundle
    """The bundle."""
    study: Study
    """What is compared."""
    comparison: Comparison
    """What it shows, computed anew from the verdicts."""
    bundle_id: str
    """Over everything reproducible in it."""


def report(arguments: Sequence[str]) -> int:
    """Write one report of a bundle to a file or to standard output.

    Args:
        arguments: The command line after the verb.

    Raises:
        BundleError: It is no bundle, or a file of it was changed.
        DesignError: The file cannot be written.
    """
    try:
        chosen = _parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    out: Path | None = chosen.out
    if out is not None and out.resolve().is_relative_to(chosen.bundle.resolve()):
        raise DesignError(
            [f"--out {out} is in the bundle, whose MANIFEST would no longer hold: write elsewhere"]
        )
    text = _FORMATS["cite" if chosen.cite else chosen.format](read(chosen.bundle))
    if out is None:
        sys.stdout.buffer.write(text.encode("utf-8"))
        return 0
    try:
        out.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise DesignError([f"--out {out} cannot be written: {error.strerror}"]) from error
    return 0


def read(folder: Path) -> Source:
    """A bundle, compared anew.

    Raises:
        BundleError: It is no bundle, or a file of it was changed since it was written.
    """
    from ragablate.compare import compare

    bundle = load(folder)
    digests = manifest.files(folder)
    _unchanged(folder, digests)
    study = bundle.study()
    return Source(bundle, study, compare(study), manifest.bundle_id(digests))


def _unchanged(folder: Path, digests: Mapping[str, str]) -> None:
    path = folder / manifest.NAME
    try:
        listed = manifest.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BundleError(f"{path} cannot be read: {error}") from error
    wrong = sorted(name for name, value in listed.items() if digests.get(name) != value)
    if wrong:
        raise BundleError(
            f"{folder}: {wrong[0]} is not the file that was written, so nothing is reported of "
            "it; ragablate verify says more"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ragablate report", description="Show a bundle as Markdown, HTML, CSV or LaTeX."
    )
    parser.add_argument("bundle", type=Path, help="folder of a bundle")
    parser.add_argument(
        "--format",
        choices=[name for name in _FORMATS if name != "cite"],
        default="md",
        help="md for pull requests, html for people, csv of every effect, latex (booktabs)",
    )
    parser.add_argument("--out", type=Path, help="file to write; standard output by default")
    parser.add_argument("--cite", action="store_true", help="a citation: ids, command, claims")
    return parser


def _markdown(source: Source) -> str:
    from ragablate.report.markdown import render_markdown

    return render_markdown(source.bundle, source.comparison, source.bundle_id)


def _html(source: Source) -> str:
    from ragablate.report.html import render_html

    return render_html(source.bundle, source.comparison, source.bundle_id, source.study)


def _csv(source: Source) -> str:
    from ragablate.report.export import effects_csv

    return effects_csv(source.comparison)


def _latex(source: Source) -> str:
    from ragablate.report.export import effects_latex

    return effects_latex(source.bundle, source.comparison, source.bundle_id)


def _cite(source: Source) -> str:
    from ragablate.report.cite import cite

    return cite(source.bundle, source.comparison, source.bundle_id)


_FORMATS: dict[str, Callable[[Source], str]] = {
    "md": _markdown,
    "html": _html,
    "csv": _csv,
    "latex": _latex,
    "cite": _cite,
}

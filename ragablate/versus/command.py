"""``ragablate compare``: one bundle anew, two bundles, and what CI demands of them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragablate.bundle.read import load
from ragablate.codec import plain
from ragablate.errors import DesignError
from ragablate.versus.between import Between, between
from ragablate.versus.demands import Outcome, met, not_worse, parse

UNMET = 3
"""Exit code where a demand is not met."""


def compare(arguments: Sequence[str]) -> int:
    """Compare, print, and say by the exit code whether all demands are met.

    Args:
        arguments: The command line after the verb.

    Raises:
        BundleError: One of them is no bundle.
        DesignError: What is asked cannot be answered by these bundles.
        EvidenceError: The bundles hold different questions, or nothing to compare.
    """
    try:
        asked = _parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    demands = [parse(text) for text in asked.require]
    bundles = [load(folder) for folder in asked.bundles]
    if asked.no_regression and len(bundles) < 2:
        raise DesignError(["--no-regression compares an old bundle with a new one: give two"])
    found = None
    if len(bundles) > 1:
        found = between(bundles[0], bundles[1], asked.measure, asked.margin)
    newest = bundles[-1]
    study = newest.study()
    outcomes = [met(d, newest, study, by_point=asked.by_point) for d in demands]
    if found is not None:
        first = found.study.contrasts[0]
        arms = (first.control, first.treatment)
        outcomes += [not_worse(m, found.study, arms, asked.margin) for m in asked.no_regression]
    if asked.json:
        print(json.dumps(_as_json(found, study, outcomes), ensure_ascii=False, allow_nan=False))
    else:
        from ragablate.versus.telling import tell

        tell(asked.bundles, found, study, outcomes)
    return 0 if all(outcome.met for outcome in outcomes) else UNMET


def _as_json(found: Between | None, study: Any, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    from ragablate.compare import compare as compared

    comparison = compared(study) if found is None else found.comparison
    said: dict[str, Any] = {"comparison": plain(comparison), "demands": plain(list(outcomes))}
    if found is not None:
        said |= {
            "changes": {arm: plain(list(moved)) for arm, moved in found.changes.items()},
            "settings": plain(list(found.settings)),
            "only": [list(arms) for arms in found.only],
            "shape": plain(found.shape),
            "moves": None if found.moves is None else _moves(found),
        }
    return said


def _moves(found: Between) -> dict[str, Any]:
    assert found.moves is not None
    values = {name: getattr(found.moves, name) for name in found.moves.__slots__}
    counts = values.pop("counts")
    return {
        **{name: plain(value) for name, value in values.items()},
        "counts": [[before, after, n] for (before, after), n in counts.items()],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ragablate compare",
        description="Compare two bundles on the same questions, or one bundle's arms anew, and "
        "hold them to what CI demands (exit code 3 where a demand is not met).",
    )
    parser.add_argument("bundles", nargs="+", type=Path, metavar="BUNDLE", help="OLD NEW, or one")
    parser.add_argument("--measure", default="correct", help="what is compared (correct)")
    parser.add_argument(
        "--margin", type=_margin, default=0.05, help="smallest difference that matters (0.05)"
    )
    parser.add_argument(
        "--require",
        action="append",
        default=[],
        metavar="MEASURE@ARM>=VALUE",
        help="a rate the (newest) bundle must be shown to reach, by its interval",
    )
    parser.add_argument(
        "--no-regression",
        action="append",
        default=[],
        metavar="MEASURE",
        help="a measure whose fall by more than the margin must be excluded by the interval",
    )
    parser.add_argument(
        "--by-point", action="store_true", help="judge --require by the rate, not by its limit"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _margin(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value

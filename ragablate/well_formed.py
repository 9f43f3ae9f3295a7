"""Settings of a plan that belong to no stage, held to their ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragablate import looking
from ragablate.budget import limit_problems


def settings_problems(control: Mapping[str, Any]) -> list[str]:
    """What is wrong with seed, sizes, levels, looks and limits, one sentence each."""
    wrong = []
    for key, kind in (("seed", int), ("replicates", int)):
        value = control[key]
        if not isinstance(value, kind) or isinstance(value, bool) or value < (key != "seed"):
            wrong.append(
                f"{key} must be a {'positive ' * (key != 'seed')}whole number, not {value!r}"
            )
    for key in ("questions_selected_by_failure", "fresh_control"):
        if not isinstance(control[key], bool):
            wrong.append(f"{key} must be true or false, not {control[key]!r}")
    limit = control["limit"]
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 2):
        wrong.append(f"limit must be a whole number of at least 2, or null, not {limit!r}")
    for key in ("alpha", "power"):
        value = control[key]
        highest = 0.5 if key == "alpha" else 1
        if not isinstance(value, float) or not 0 < value < highest:
            wrong.append(f"{key} must be a number between 0 and {highest}, not {value!r}")
    wrong += _coverage_problems(control["gold_coverage"]) + looking.problems(control)
    return wrong + limit_problems(control["budget"])


def _coverage_problems(coverage: object) -> list[str]:
    number = isinstance(coverage, int | float) and not isinstance(coverage, bool)
    if number and 0 < coverage <= 1:  # type: ignore[operator]
        return []
    return [f"gold_coverage must be a number above 0 and at most 1, not {coverage!r}"]


def name_problems(name: str) -> list[str]:
    """A study whose bundles would not lie in one folder of their own under ``outputs``."""
    if name and not name.startswith(".") and name.isprintable() and not set(name) & set("/\\"):
        return []
    return [
        f"the study is called {name!r}, which cannot be a folder under outputs: give name=… "
        "without slashes, line ends and a leading dot"
    ]

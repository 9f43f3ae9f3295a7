"""Which overrides choose the judges, in a bundle that has some and for one that gets others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ragablate.errors import BundleError

KEYS = ("abstention_phrases", "labels", "outputs", "quiet", "json")
"""Settings that may be given beside the judges' own."""

_GROUPS = ("judge", "budget")
_PINNED = ("judge", "abstention_phrases")


def concerns_judges(override: str) -> bool:
    """Whether an override leaves the answers as they are."""
    key = _key(override)
    return key in KEYS or key.split(".")[0].split("@")[0] in _GROUPS


def chosen_before(folder: Path, overrides: Sequence[str]) -> list[str]:
    """What a bundle's own judges were chosen by, as far as nothing else is asked now.

    Raises:
        BundleError: The bundle's overrides cannot be read.
    """
    now = {o.split("=", 1)[0] for o in overrides}
    return [
        o
        for o in _own(folder)
        if _pinned(o)
        and o.split("=", 1)[0] not in now
        and not ("judge" in now and o.startswith("judge"))
    ]


def hydra_files(
    folder: Path, overrides: Sequence[str], config: Mapping[str, Any]
) -> dict[str, str]:
    """``.hydra`` of a bundle that was judged again: the judges' overrides exchanged.

    Raises:
        BundleError: The bundle's overrides cannot be read.
    """
    kept = [o for o in _own(folder) if not concerns_judges(o)]
    judges = [o for o in (*chosen_before(folder, overrides), *overrides) if _pinned(o)]
    return {
        "config.yaml": yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True),
        "overrides.yaml": yaml.safe_dump([*kept, *judges], allow_unicode=True),
    }


def _own(folder: Path) -> list[str]:
    path = folder / ".hydra" / "overrides.yaml"
    try:
        return [str(o) for o in yaml.safe_load(path.read_text(encoding="utf-8")) or []]
    except (OSError, yaml.YAMLError, TypeError) as error:
        raise BundleError(f"{path} does not hold what it should: {error}") from error


def _key(override: str) -> str:
    return override.lstrip("+~").split("=", 1)[0]


def _pinned(override: str) -> bool:
    return _key(override).split(".")[0] in _PINNED

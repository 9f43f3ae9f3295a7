"""Which overrides choose the judges, in a bundle that has some and for one that gets others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

KEYS = ("abstention_phrases", "labels", "outputs", "quiet", "json")
"""Settings that may be given beside the judges' own."""

_GROUPS = ("judge", "budget")
_PINNED = ("judge", "abstention_phrases")


def concerns_judges(override: str) -> bool:
    """Whether an override leaves the answers as they are."""
    key = _key(override)
    return key in KEYS or key.split(".")[0].split("@")[0] in _GROUPS


def chosen_before(own: Sequence[str], overrides: Sequence[str]) -> list[str]:
    """What a bundle's own judges were chosen by, as far as nothing else is asked now.

    Args:
        own: All that the bundle was composed from.
        overrides: What is asked now.
    """
    now = {o.split("=", 1)[0] for o in overrides}
    return [
        o
        for o in own
        if _pinned(o)
        and o.split("=", 1)[0] not in now
        and not ("judge" in now and o.startswith("judge"))
    ]


def hydra_files(
    own: Sequence[str], overrides: Sequence[str], config: Mapping[str, Any]
) -> dict[str, str]:
    """``.hydra`` of a bundle that was judged again: the judges' overrides exchanged.

    Args:
        own: All that the bundle was composed from.
        overrides: What was asked for in place of its judges.
        config: As composed.
    """
    kept = [o for o in own if not concerns_judges(o)]
    judges = [o for o in (*chosen_before(own, overrides), *overrides) if _pinned(o)]
    return {
        "config.yaml": yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True),
        "overrides.yaml": yaml.safe_dump([*kept, *judges], allow_unicode=True),
    }


def _key(override: str) -> str:
    return override.lstrip("+~").split("=", 1)[0]


def _pinned(override: str) -> bool:
    return _key(override).split(".")[0] in _PINNED

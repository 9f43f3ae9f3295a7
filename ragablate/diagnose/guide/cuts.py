"""Where the field guide draws its lines, as ``conf/diagnose/guide.yaml`` has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ragablate.errors import DesignError

_SHARES = (
    "faithful", "dilution_gap", "version_overlap", "hub_share", "broken_share", "followed",
)  # fmt: skip
_COUNTS = ("shown", "depth", "dilution_sentences", "hub_questions", "broken_words")
_TIMES = ("dilution_ratio", "hub_times", "vector_length", "vector_closeness")


class Cuts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every cut of the guide; what each means stands beside it in the YAML."""

    most: int
    shown: int
    faithful: float
    depth: int
    dilution_ratio: float
    dilution_gap: float
    dilution_sentences: int
    openings: tuple[str, ...]
    pointers: tuple[str, ...]
    pointer_words: int
    current: tuple[str, ...]
    status_keys: tuple[str, ...]
    date_keys: tuple[str, ...]
    successor_keys: tuple[str, ...]
    version_overlap: float
    hub_share: float
    hub_times: float
    hub_questions: int
    vector_length: float
    vector_closeness: float
    broken_share: float
    broken_words: int
    followed: float


def cuts(changes: Sequence[str] = ()) -> Cuts:
    """The shipped cuts, with some of them changed.

    Args:
        changes: ``NAME=VALUE`` each, the value as YAML has it.

    Raises:
        DesignError: A cut does not exist or its value has no meaning; all of them at once.
    """
    import yaml

    from ragablate.config import conf_dir

    file = conf_dir() / "diagnose" / "guide.yaml"
    values: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    problems = []
    for change in changes:
        name, _, value = change.partition("=")
        if name not in values or not value:
            known = ", ".join(sorted(values))
            problems.append(f"--cut {change}: give NAME=VALUE, where NAME is one of {known}.")
            continue
        try:
            values[name] = yaml.safe_load(value)
        except yaml.YAMLError:
            problems.append(f"--cut {change}: '{value}' is no value of YAML. Correct it.")
    try:
        found = msgspec.convert(values, Cuts)
    except msgspec.ValidationError as error:
        raise DesignError([*problems, f"--cut: {error}. Correct the value."]) from error
    problems += _problems(found)
    if problems:
        raise DesignError(problems)
    return found


def _problems(found: Cuts) -> list[str]:
    wanted = [(name, 0 <= getattr(found, name) <= 1, "a share from 0 to 1") for name in _SHARES]
    wanted += [(name, getattr(found, name) >= 1, "a whole number from 1") for name in _COUNTS]
    wanted += [(name, getattr(found, name) > 0, "a number above 0") for name in _TIMES]
    wanted += [
        (name, getattr(found, name) >= 0, "a whole number from 0")
        for name in ("most", "pointer_words")
    ]
    return [
        f"--cut {name}: it is {getattr(found, name)}; give {meaning}."
        for name, good, meaning in wanted
        if not good
    ]

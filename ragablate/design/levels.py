"""Variables and their levels, as experiments name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragablate.config import STAGES, PlainConfig, flatten

ACTUAL = "ragablate.intervene.actual.Actual"
"""The class of ``context=actual``."""

UNCUT = "ragablate.chunk.none.NoChunker"
"""The class of ``chunker=none``."""


@dataclass(frozen=True, slots=True)
class Level:
    """One treatment level of a variable."""

    name: str
    """As it stands in reports and arm names."""
    overrides: tuple[str, ...]
    """Hydra overrides that set it."""


def variable_fits(where: str, variable: str, control: PlainConfig, problems: list[str]) -> bool:
    """Whether something can be the variable of an experiment; if not, the problem is noted."""
    stage, _, rest = variable.partition(".")
    if stage in ("dataset", "judge"):
        problems.append(
            f"{where}: '{stage}' cannot be the variable, because arms are compared on the same "
            "questions by the same judges"
        )
        return False
    if stage not in STAGES:
        problems.append(
            f"{where}: '{variable}' is not a stage of the pipeline or a leaf of one; stages: "
            f"{', '.join(STAGES)}"
        )
        return False
    if "runtime" in rest.split("."):
        problems.append(f"{where}: '{variable}' is a runtime knob, which cannot change an answer")
        return False
    if rest and not subtree(control, variable):
        problems.append(
            f"{where}: control has no '{variable}'; it has "
            f"{', '.join(k for k in flatten(control[stage], stage) if '_target_' not in k)}"
        )
        return False
    if stage == "context" and control["context"].get("_target_") != ACTUAL:
        problems.append(
            f"{where}: its control must have context=actual, because its treatments are "
            "interventions on the actual context"
        )
        return False
    return True


def subtree(config: PlainConfig, path: str) -> dict[str, Any]:
    """Leaves at or below ``path``."""
    return {k: v for k, v in flatten(config).items() if inside(k, path)}


def inside(key: str, path: str) -> bool:
    """Whether a dotted key is at or below a dotted path."""
    return key == path or key.startswith(f"{path}.")


def read_levels(
    where: str, variable: str, treatments: Any, problems: list[str]
) -> tuple[Level, ...]:
    """Treatment levels as an experiment's YAML or a command line gives them."""
    if isinstance(treatments, Mapping):
        named = list(treatments.items())
    elif isinstance(treatments, list):
        # A mapping inside the list is what can be given on a command line.
        named = [
            pair
            for value in treatments
            for pair in (value.items() if isinstance(value, Mapping) else [(None, value)])
        ]
    else:
        named = []
    if not named:
        problems.append(f"{where} has no treatments: a list of levels, or a mapping of named ones")
    levels = []
    for name, value in named:
        level = _level(where, variable, name, value, problems)
        if level is not None:
            levels.append(level)
    return tuple(levels)


def _level(where: str, variable: str, name: Any, value: Any, problems: list[str]) -> Level | None:
    if name is not None and isinstance(value, list):
        outside = [key for key in map(override_key, map(str, value)) if not inside(key, variable)]
        if outside:
            problems.append(
                f"{where}: level '{name}' sets {', '.join(outside)}, outside its variable "
                f"{variable}; that is a second change"
            )
            return None
        return Level(str(name), tuple(map(str, value)))
    if variable in STAGES:
        if not isinstance(value, str):
            problems.append(
                f"{where}: level {value!r} of {variable} is not the name of an option; YAML reads "
                "on, off, yes and no as booleans, so quote it"
            )
            return None
        return Level(str(name or value), (f"{variable}={value}",))
    text = literal(value)
    return Level(str(name) if name is not None else text.strip("'"), (f"{variable}={text}",))


def literal(value: Any) -> str:
    """A plain value in Hydra's override grammar."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return "[" + ",".join(map(literal, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


def override_key(override: str) -> str:
    """Where an override puts what it sets: the package, of an option put into another."""
    return override.split("=", 1)[0].lstrip("+~").split("@")[-1]

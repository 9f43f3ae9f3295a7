"""Reading experiments: one question, one variable, its treatment levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragablate.config import STAGES, PlainConfig, flatten

_FIELDS = {"design", "question", "variable", "treatments", "measure", "margin", "questions"}
_ACTUAL = "ragablate.intervene.actual.Actual"


@dataclass(frozen=True, slots=True)
class Level:
    """One treatment level of a variable."""

    name: str
    """As it stands in reports and arm names."""
    overrides: tuple[str, ...]
    """Hydra overrides that set it."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One question and one variable."""

    name: str
    """Key under ``experiment`` in the config."""
    design: str
    """``contrast`` or ``placebo``."""
    question: str
    """The question in the researcher's words."""
    variable: str
    """Config group or dotted leaf; empty for a placebo."""
    levels: tuple[Level, ...]
    """Treatment levels; empty for a placebo."""
    measure: str
    """Primary measure."""
    margin: float
    """Smallest difference that matters."""
    questions: int | None
    """Number of questions the placebo asks again; ``None`` for all."""

    @property
    def stage(self) -> str:
        """Config group the variable belongs to; empty for a placebo."""
        return self.variable.split(".")[0]


def read_experiments(control: PlainConfig, problems: list[str]) -> list[Experiment]:
    """The experiments of a composed config; what is wrong is appended to ``problems``."""
    section = control.get("experiment") or {}
    if not isinstance(section, Mapping) or not section:
        problems.append(
            "no experiment is chosen: give one or several, such as "
            "'experiment=[oracle_context,swap_reader]'"
        )
        return []
    found = []
    for name, body in section.items():
        experiment = _experiment(str(name), body, control, problems)
        if experiment is not None:
            found.append(experiment)
    return found


def _experiment(
    name: str, body: Any, control: PlainConfig, problems: list[str]
) -> Experiment | None:
    where = f"experiment '{name}'"
    before = len(problems)
    if not isinstance(body, Mapping):
        problems.append(f"{where} is not a mapping of question, variable, treatments, …")
        return None
    for key in sorted(set(body) - _FIELDS):
        problems.append(f"{where} has an unknown key '{key}'; known: {', '.join(sorted(_FIELDS))}")
    design = body.get("design", "contrast")
    margin = body.get("margin", 0.05)
    if not isinstance(margin, int | float) or isinstance(margin, bool) or not 0 < margin < 1:
        problems.append(f"{where}: margin must be a number between 0 and 1, not {margin!r}")
    reader = _DESIGNS.get(str(design))
    if reader is None:
        problems.append(f"{where}: unknown design '{design}'; known: {', '.join(_DESIGNS)}")
        return None
    variable, levels = reader(where, body, control, problems)
    if len(problems) > before:
        return None
    return Experiment(
        name=name,
        design=str(design),
        question=str(body.get("question") or name),
        variable=variable,
        levels=levels,
        measure=str(body.get("measure", "correct")),
        margin=float(margin),
        questions=body.get("questions"),
    )


def _read_placebo(
    where: str, body: Mapping[str, Any], control: PlainConfig, problems: list[str]
) -> tuple[str, tuple[Level, ...]]:
    if body.get("variable") or body.get("treatments"):
        problems.append(f"{where}: a placebo changes nothing, so it has no variable or treatments")
    asked = body.get("questions")
    if asked is not None and (not isinstance(asked, int) or asked < 1):
        problems.append(f"{where}: questions must be a positive number or null, not {asked!r}")
    return "", ()


def _read_contrast(
    where: str, body: Mapping[str, Any], control: PlainConfig, problems: list[str]
) -> tuple[str, tuple[Level, ...]]:
    variable = body.get("variable")
    if isinstance(variable, list):
        problems.append(
            f"{where} names {len(variable)} variables ({', '.join(map(str, variable))}); one "
            "experiment changes one: make it several experiments of one plan"
        )
        return "", ()
    if not isinstance(variable, str) or not variable:
        problems.append(f"{where} names no variable: a config group or one leaf of it")
        return "", ()
    if not _variable_fits(where, variable, control, problems):
        return variable, ()
    return variable, _levels(where, variable, body.get("treatments"), problems)


_DESIGNS: Mapping[
    str,
    Callable[[str, Mapping[str, Any], PlainConfig, list[str]], tuple[str, tuple[Level, ...]]],
] = {"contrast": _read_contrast, "placebo": _read_placebo}


def _variable_fits(where: str, variable: str, control: PlainConfig, problems: list[str]) -> bool:
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
    if rest and not _subtree(control, variable):
        problems.append(
            f"{where}: control has no '{variable}'; it has "
            f"{', '.join(k for k in flatten(control[stage], stage) if '_target_' not in k)}"
        )
        return False
    if stage == "context" and control["context"].get("_target_") != _ACTUAL:
        problems.append(
            f"{where}: its control must have context=actual, because its treatments are "
            "interventions on the actual context"
        )
        return False
    return True


def _subtree(config: PlainConfig, path: str) -> dict[str, Any]:
    """Leaves at or below ``path``."""
    return {k: v for k, v in flatten(config).items() if inside(k, path)}


def inside(key: str, path: str) -> bool:
    """Whether a dotted key is at or below a dotted path."""
    return key == path or key.startswith(f"{path}.")


def _levels(where: str, variable: str, treatments: Any, problems: list[str]) -> tuple[Level, ...]:
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
        outside = [key for key in map(_override_key, map(str, value)) if not inside(key, variable)]
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
    literal = _literal(value)
    return Level(str(name) if name is not None else literal.strip("'"), (f"{variable}={literal}",))


def _literal(value: Any) -> str:
    """A plain value in Hydra's override grammar."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return "[" + ",".join(map(_literal, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{_literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


def _override_key(override: str) -> str:
    return override.split("=", 1)[0].lstrip("+~").split("@")[0]

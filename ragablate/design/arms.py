"""From experiments to arms, each exactly one change away from control.

An experiment names one variable, a config group (``retriever``) or a leaf of one
(``assembler.budget_tokens``), and its treatment levels. Every level is composed into a
complete config; the *resolved* leaves are compared with control's, and whatever moved
outside the variable refuses the plan. The user's label is never trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import OverrideParseException

from ragablate.config import STAGES, Composed, PlainConfig, compose_plain, flatten, without_runtime
from ragablate.design.experiments import Experiment, Level, inside, read_experiments
from ragablate.errors import DesignError
from ragablate.records import Arm, Change, Contrast, ContrastKind

CONTROL = "control"
PLACEBO = "placebo"

_CONTEXT_KINDS: Mapping[str, ContrastKind] = {
    "ragablate.intervene.oracle.Oracle": "oracle",
    "ragablate.intervene.closed_book.ClosedBook": "closed_book",
    "ragablate.intervene.without_gold.WithoutGold": "necessity",
}
_KINDS: Mapping[str, ContrastKind] = {
    "chunker": "upstream",
    "rewriter": "upstream",
    "retriever": "upstream",
    "reranker": "upstream",
    "gate": "gate",
    "assembler": "assembler",
    "context": "context",
    "reader": "reader",
}
_ARM_NEUTRAL = {"experiment", "name", "outputs", "quiet", "json"}


@dataclass(frozen=True, slots=True)
class Plan:
    """Arms and contrasts, declared before anything is scored."""

    experiments: tuple[Experiment, ...]
    """In config order."""
    arms: tuple[Arm, ...]
    """Control first; arms that several experiments ask for are there once."""
    configs: Mapping[str, PlainConfig]
    """Complete resolved config by arm name."""
    contrasts: tuple[Contrast, ...]
    """In the order of the experiments and their levels."""
    choices: Mapping[str, str]
    """Control's option in every config group."""

    @property
    def control(self) -> PlainConfig:
        """Control's config."""
        return self.configs[CONTROL]

    def experiment(self, name: str) -> Experiment:
        """The experiment of that name; raises KeyError."""
        return {e.name: e for e in self.experiments}[name]


def plan(overrides: Sequence[str], config_name: str = "config") -> Plan:
    """Compose control and every arm, and check that each differs by its variable alone.

    Args:
        overrides: The user's Hydra overrides, which make up control.
        config_name: Primary config.

    Raises:
        DesignError: Everything that is wrong with the plan, in one message.
    """
    control = compose_plain(overrides, config_name)
    problems: list[str] = []
    experiments = read_experiments(control.values, problems)
    arms: dict[str, Arm] = {CONTROL: Arm(CONTROL)}
    configs: dict[str, PlainConfig] = {CONTROL: control.values}
    contrasts: list[Contrast] = []
    for experiment in experiments:
        if experiment.design == "placebo":
            arms[PLACEBO], configs[PLACEBO] = Arm(PLACEBO), control.values
            contrasts.append(
                _contrast(experiment, Level(PLACEBO, ()), arms[PLACEBO], "placebo", control)
            )
            continue
        for level in experiment.levels:
            built = _arm(experiment, level, control, overrides, problems)
            if built is None:
                continue
            arm, config = built
            known = arms.get(arm.name)
            if known is not None and known.overrides != arm.overrides:
                problems.append(
                    f"experiment '{experiment.name}': level '{level.name}' of {arm.variable} means "
                    "something else in another experiment of this plan; rename one of them"
                )
                continue
            arms[arm.name], configs[arm.name] = arm, config
            contrasts.append(_contrast(experiment, level, arm, _kind(experiment, config), control))
    if problems:
        raise DesignError(_unique(problems))
    return Plan(
        tuple(experiments), tuple(arms.values()), configs, tuple(contrasts), control.choices
    )


def _unique(problems: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(problems))


def _contrast(
    experiment: Experiment, level: Level, arm: Arm, kind: ContrastKind, control: Composed
) -> Contrast:
    return Contrast(
        id=f"{experiment.name}/{level.name}",
        experiment=experiment.name,
        question=experiment.question,
        kind=kind,
        variable=experiment.variable,
        level=level.name,
        control=CONTROL,
        treatment=arm.name,
        measure=experiment.measure,
        margin=experiment.margin,
        control_level=_control_level(experiment, control),
    )


def _control_level(experiment: Experiment, control: Composed) -> str:
    if experiment.variable in STAGES:
        return control.choices[experiment.variable]
    leaves = [v for k, v in flatten(control.values).items() if k == experiment.variable]
    return str(leaves[0]) if leaves else ""


def _kind(experiment: Experiment, config: PlainConfig) -> ContrastKind:
    if experiment.stage == "context":
        return _CONTEXT_KINDS.get(str(config["context"].get("_target_")), "context")
    return _KINDS[experiment.stage]


def _arm(
    experiment: Experiment,
    level: Level,
    control: Composed,
    overrides: Sequence[str],
    problems: list[str],
) -> tuple[Arm, PlainConfig] | None:
    where = f"experiment '{experiment.name}', level '{level.name}'"
    # A group chosen twice is legal in Hydra, the later choice wins; control's own choice
    # is left out so that what remains on the line is what the arm must honour.
    base = [o for o in overrides if not (o.split("=", 1)[0] == experiment.variable in STAGES)]
    try:
        config = compose_plain([*base, *level.overrides], control.name).values
    except DesignError as error:
        problems.extend(f"{where}: {problem}" for problem in error.problems)
        return None
    lost = _lost(base, experiment.variable, config)
    if lost:
        problems.append(
            f"{where}: the command line sets {', '.join(lost)}, which this level would override; "
            "change the level in the experiment's YAML or leave it off the line"
        )
        return None
    changes = _changes(control.values, config)
    outside = [c for c in changes if not inside(c.key, experiment.variable)]
    if outside:
        moved = ", ".join(f"{c.key} ({c.control} -> {c.treatment})" for c in outside)
        problems.append(
            f"{where}: varying {experiment.variable} also changes {moved}; that is not one change. "
            "Fix those to a value, or vary them in an experiment of their own"
        )
        return None
    if not changes:
        problems.append(f"{where} is equal to control: no treatment; choose another level")
        return None
    name = f"{experiment.variable}={level.name}"
    return Arm(name, experiment.variable, level.name, level.overrides, tuple(changes)), config


def _changes(control: PlainConfig, arm: PlainConfig) -> list[Change]:
    """Every resolved leaf that differs, ``runtime`` nodes apart."""

    def leaves(config: PlainConfig) -> dict[str, Any]:
        return flatten(without_runtime({k: v for k, v in config.items() if k not in _ARM_NEUTRAL}))

    left, right = leaves(control), leaves(arm)
    missing = object()
    return [
        Change(key, left.get(key), right.get(key))
        for key in sorted(left.keys() | right.keys())
        if left.get(key, missing) != right.get(key, missing)
    ]


def _lost(overrides: Sequence[str], variable: str, config: PlainConfig) -> list[str]:
    """Command-line overrides inside the variable that the arm does not end up with."""
    leaves = flatten(config)
    lost = []
    for text in overrides:
        try:
            override = OverridesParser.create().parse_override(text)
        except OverrideParseException:
            continue
        key = override.key_or_group
        chosen_group = key == variable and variable in STAGES
        if not inside(key, variable) or chosen_group or "runtime" in key.split("."):
            continue
        wanted = flatten(override.value(), key)
        if any(leaves.get(k) != v for k, v in wanted.items()):
            lost.append(text)
    return lost

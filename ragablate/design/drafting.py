"""Drafting a plan: composing arms and holding each to its declared change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import OverrideParseException

from ragablate.config import STAGES, Composed, PlainConfig, compose_plain, flatten, without_runtime
from ragablate.design.levels import Level, inside, override_key
from ragablate.errors import DesignError
from ragablate.records import Analysis, Arm, Change, Contrast

CONTROL = "control"
PLACEBO = "placebo"

UNGATED = ("gate=none",)
"""Overrides of the level that has no gate."""
_ARM_NEUTRAL = {"experiment", "second_retriever", "name", "outputs", "quiet", "json"}


@dataclass(slots=True)
class Draft:
    """A plan in the making.

    Args:
        control: The composed control.
        overrides: The user's overrides, which made up control.
    """

    control: Composed
    """The composed control."""
    overrides: Sequence[str]
    """The user's overrides."""
    arms: dict[str, Arm] = field(default_factory=dict)
    """By name, control first."""
    configs: dict[str, PlainConfig] = field(default_factory=dict)
    """By arm name."""
    contrasts: list[Contrast] = field(default_factory=list)
    """Two-arm contrasts."""
    analyses: list[Analysis] = field(default_factory=list)
    """Designs of several arms."""
    problems: list[str] = field(default_factory=list)
    """What is wrong so far, one sentence each."""

    def __post_init__(self) -> None:
        """Control is an arm of every plan."""
        self.keep(Arm(CONTROL), self.control.values)

    def keep(self, arm: Arm, config: PlainConfig) -> str:
        """Take an arm in; returns the name of an equal one where there is one already."""
        for name, known in self.configs.items():
            if name != PLACEBO and arm.name != PLACEBO and not changes(known, config):
                return name
        if arm.name in self.arms and arm.name != PLACEBO:
            self.problems.append(
                f"'{arm.name}' means two things in this plan: rename one of the levels"
            )
        self.arms[arm.name], self.configs[arm.name] = arm, config
        return arm.name

    def arm(self, where: str, levels: Mapping[str, Level], context: Level | None = None) -> str:
        """An arm that sets some variables to levels, and nothing else; empty on a problem.

        Args:
            where: How messages name the place that asks for it.
            levels: By variable; several only in designs that declare several.
            context: An intervention on top, for designs that edit a treated context.
        """
        wanted = dict(levels) if context is None else {**levels, "context": context}
        named = ", ".join(f"level '{level.name}'" for level in wanted.values())
        config = self._compose(f"{where}, {named}", wanted)
        if config is None:
            return ""
        moved = changes(self.control.values, config)
        outside = [c for c in moved if not any(inside(c.key, v) for v in wanted)]
        if outside:
            listed = ", ".join(f"{c.key} ({c.control} -> {c.treatment})" for c in outside)
            self.problems.append(
                f"{where}, {named}: varying {' and '.join(wanted)} also changes {listed}; that is "
                "not one change. Fix those to a value, or vary them in an experiment of their own"
            )
            return ""
        if not moved:
            self.problems.append(
                f"{where}, {named} is equal to control: no treatment; choose another level"
            )
            return ""
        name = ",".join(f"{variable}={level.name}" for variable, level in wanted.items())
        arm = Arm(
            name,
            "+".join(wanted),
            "+".join(level.name for level in wanted.values()),
            tuple(o for level in wanted.values() for o in level.overrides),
            tuple(moved),
        )
        return self.keep(arm, config)

    def _compose(self, where: str, levels: Mapping[str, Level]) -> PlainConfig | None:
        # A group chosen twice is legal in Hydra, the later choice wins; control's own choice
        # is left out so that what remains on the line is what the arm must honour. A level that
        # only turns knobs keeps it.
        chosen = {o.split("=", 1)[0] for level in levels.values() for o in level.overrides}
        groups = {variable for variable in levels if variable in STAGES and variable in chosen}
        base = [o for o in self.overrides if o.split("=", 1)[0] not in groups]
        # A ladder takes the gate out of control, and with it whatever the line says of the gate.
        ungated = "gate" in levels and levels["gate"].overrides == UNGATED
        if ungated:
            base = [o for o in base if not override_key(o).startswith("gate.")]
        extra = [o for level in levels.values() for o in level.overrides]
        try:
            config = compose_plain([*base, *extra], self.control.name).values
        except DesignError as error:
            self.problems.extend(f"{where}: {problem}" for problem in error.problems)
            return None
        lost = [text for variable in levels for text in _lost(base, variable, config)]
        if lost:
            self.problems.append(
                f"{where}: the command line sets {', '.join(lost)}, which this level would "
                "override; change the level in the experiment's YAML or leave it off the line"
            )
            return None
        return config

    def control_level(self, variable: str) -> str:
        """The variable's level in control, for sentences."""
        if variable in STAGES:
            return self.control.choices[variable]
        leaves = [v for k, v in flatten(self.control.values).items() if k == variable]
        return str(leaves[0]) if leaves else ""


def changes(control: PlainConfig, arm: PlainConfig) -> list[Change]:
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

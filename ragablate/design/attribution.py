"""From one complete pipeline to another: which stages differ, and the arms between them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from ragablate.config import STAGES, PlainConfig, compose_plain
from ragablate.design.declaring import MOST_FACTORS, MOST_ON_REQUEST, declare, too_many
from ragablate.design.drafting import CONTROL, Draft, changes
from ragablate.design.experiments import Experiment
from ragablate.design.levels import ACTUAL
from ragablate.errors import DesignError
from ragablate.records import Arm, Factor


def attribution(draft: Draft, experiment: Experiment) -> None:
    """From control to another complete pipeline, over the stages in which they differ."""
    target = _target(draft, experiment)
    if target is None:
        return
    moved = changes(draft.control.values, target)
    stages = [s for s in STAGES if any(c.key.split(".")[0] == s for c in moved)]
    outside = sorted(
        {c.key for c in moved} - {c.key for c in moved if c.key.split(".")[0] in STAGES}
    )
    if outside or not stages:
        draft.problems.append(
            f"{experiment.where}: the pipelines also differ in {', '.join(outside)}, which is no "
            "stage"
            if outside
            else f"{experiment.where}: the two pipelines are equal"
        )
        return
    most = MOST_ON_REQUEST if experiment.details.get("allow_five") else MOST_FACTORS
    order = tuple(experiment.details.get("order") or ())
    if len(stages) > most and not order:
        draft.problems.append(too_many(experiment, len(stages)))
        return
    if order and sorted(order) != sorted(stages):
        draft.problems.append(
            f"{experiment.where}: order must name each stage that differs once: {', '.join(stages)}"
        )
        return
    arms = {}
    for cell in _cells(stages, order):
        changed = [s for s, bit in zip(stages, cell, strict=True) if bit == "1"]
        arms[cell] = _patched(draft, target, changed)
    factors = [Factor(s, draft.control_level(s), "target") for s in stages]
    declare(draft, experiment, "attribution", arms, factors, order)


def _target(draft: Draft, experiment: Experiment) -> PlainConfig | None:
    asked = _asked(draft, experiment.details.get("to"))
    if asked is None:
        draft.problems.append(
            f"{experiment.where} needs to, the other pipeline: overrides that turn control into "
            "it, to: [retriever=minilm_run, reader=extractive_wide], or a config of its own, "
            "to: {config: NAME}"
        )
        return None
    try:
        target = compose_plain(*asked).values
    except DesignError as error:
        draft.problems.extend(f"{experiment.where}: {problem}" for problem in error.problems)
        return None
    for config in (draft.control.values, target):
        if config["context"].get("_target_") != ACTUAL:
            draft.problems.append(f"{experiment.where}: both pipelines must have context=actual")
            return None
    return target


def _asked(draft: Draft, to: Any) -> tuple[list[str], str] | None:
    """Overrides and config name of the other pipeline; ``None`` where neither is given.

    Overrides go on top of control. A config of its own brings all its stages: what the
    command line says of a stage is said of control, everything else of both.
    """
    if isinstance(to, list) and len(to) == 1 and isinstance(to[0], Mapping):
        to = to[0]  # what can be given on a command line in place of a list
    if isinstance(to, list) and to:
        return [*draft.overrides, *map(str, to)], draft.control.name
    if not isinstance(to, Mapping) or not isinstance(to.get("config"), str):
        return None
    own = to.get("overrides") or []
    if set(to) - {"config", "overrides"} or not isinstance(own, list):
        return None
    shared = [o for o in draft.overrides if _stage(o) not in (*STAGES, "experiment")]
    return [*shared, *map(str, own)], to["config"]


def _stage(override: str) -> str:
    """What an override is about: the first part of its key."""
    return override.split("=", 1)[0].lstrip("+~").split("@")[0].split(".")[0]


def _cells(stages: list[str], order: tuple[str, ...]) -> list[str]:
    if not order:
        return ["".join(cell) for cell in product("01", repeat=len(stages))]
    done = [set(order[:number]) for number in range(len(order) + 1)]
    return ["".join("1" if s in changed else "0" for s in stages) for changed in done]


def _patched(draft: Draft, target: PlainConfig, stages: list[str]) -> str:
    """The arm that has the target's stages where named and control's elsewhere."""
    if not stages:
        return CONTROL
    config = {**draft.control.values, **{stage: target[stage] for stage in stages}}
    moved = tuple(changes(draft.control.values, config))
    name = ",".join(f"{stage}=target" for stage in stages)
    return draft.keep(Arm(name, "+".join(stages), "target", (), moved), config)

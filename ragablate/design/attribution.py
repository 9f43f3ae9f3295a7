"""From one complete pipeline to another: which stages differ, and the arms between them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from ragablate.config import STAGES, PlainConfig, compose_plain
from ragablate.design.declaring import MOST_FACTORS, MOST_ON_REQUEST, declare, too_many
from ragablate.design.drafting import CONTROL, Draft, changes
from ragablate.design.experiments import Experiment
from ragablate.design.levels import ACTUAL
from ragablate.design.recorded import recorded_pipeline
from ragablate.errors import DesignError
from ragablate.records import Arm, Factor


def attribution(draft: Draft, experiment: Experiment) -> None:
    """From one complete pipeline to another, over the stages in which they differ."""
    target = _target(draft, experiment)
    start = _start(draft, experiment)
    if target is None or start is None:
        return
    moved = changes(start, target)
    stages = [s for s in STAGES if any(c.key.split(".")[0] == s for c in moved)]
    problem = _no_stages(experiment, {c.key for c in moved}, stages) or _too_many(
        experiment, stages
    )
    if problem:
        draft.problems.append(problem)
        return
    order = tuple(experiment.details.get("order") or ())
    arms = {}
    for cell in _cells(stages, order):
        changed = [s for s, bit in zip(stages, cell, strict=True) if bit == "1"]
        arms[cell] = _patched(draft, start, target, changed)
    ours = start is draft.control.values
    factors = [Factor(s, draft.control_level(s) if ours else "start", "target") for s in stages]
    declare(draft, experiment, "attribution", arms, factors, order)


def _no_stages(experiment: Experiment, moved: set[str], stages: list[str]) -> str:
    outside = sorted(key for key in moved if key.split(".")[0] not in STAGES)
    if outside:
        return (
            f"{experiment.where}: the pipelines also differ in {', '.join(outside)}, which is no "
            "stage"
        )
    return "" if stages else f"{experiment.where}: the two pipelines are equal"


def _too_many(experiment: Experiment, stages: list[str]) -> str:
    most = MOST_ON_REQUEST if experiment.details.get("allow_five") else MOST_FACTORS
    order = experiment.details.get("order") or ()
    if len(stages) > most and not order:
        return too_many(experiment, len(stages))
    if order and sorted(order) != sorted(stages):
        return (
            f"{experiment.where}: order must name each stage that differs once: {', '.join(stages)}"
        )
    return ""


def _start(draft: Draft, experiment: Experiment) -> PlainConfig | None:
    """Where the change begins: control, or the pipeline of another bundle."""
    asked = experiment.details.get("from")
    if asked is None:
        return draft.control.values
    if not _names_bundle(asked):
        draft.problems.append(
            f"{experiment.where}: from names the pipeline of a bundle, from: {{bundle: FOLDER}}; "
            "leave it out to begin at control"
        )
        return None
    start = _recorded(draft, experiment, asked["bundle"])
    if start is None or not _actual(draft, experiment, start):
        return None
    outside = [c.key for c in changes(draft.control.values, start) if _root(c.key) not in STAGES]
    if outside:
        draft.problems.append(
            f"{experiment.where}: this plan differs from bundle {asked['bundle']} in "
            f"{', '.join(outside)}: give the bundle's values on the command line"
        )
        return None
    return start


def _names_bundle(asked: Any) -> bool:
    return (
        isinstance(asked, Mapping) and set(asked) == {"bundle"} and isinstance(asked["bundle"], str)
    )


def _recorded(draft: Draft, experiment: Experiment, folder: str) -> PlainConfig | None:
    try:
        return recorded_pipeline(Path(folder))
    except DesignError as error:
        draft.problems.extend(f"{experiment.where}: {problem}" for problem in error.problems)
        return None


def _actual(draft: Draft, experiment: Experiment, *configs: PlainConfig) -> bool:
    if all(config["context"].get("_target_") == ACTUAL for config in configs):
        return True
    draft.problems.append(f"{experiment.where}: both pipelines must have context=actual")
    return False


def _target(draft: Draft, experiment: Experiment) -> PlainConfig | None:
    to = _given(experiment.details.get("to"))
    if _names_bundle(to):
        recorded = _recorded(draft, experiment, to["bundle"])
        return recorded if recorded and _actual(draft, experiment, recorded) else None
    asked = _asked(draft, to)
    if asked is None:
        draft.problems.append(
            f"{experiment.where} needs to, the other pipeline: overrides that turn control into "
            "it, to: [retriever=minilm_run, reader=extractive_wide], or a config of its own, "
            "to: {config: NAME}, or the control of a bundle, to: {bundle: FOLDER}"
        )
        return None
    try:
        target = compose_plain(*asked).values
    except DesignError as error:
        draft.problems.extend(f"{experiment.where}: {problem}" for problem in error.problems)
        return None
    return target if _actual(draft, experiment, draft.control.values, target) else None


def _given(to: Any) -> Any:
    """A mapping may stand in a list of one: what can be given on a command line."""
    return to[0] if isinstance(to, list) and len(to) == 1 and isinstance(to[0], Mapping) else to


def _asked(draft: Draft, to: Any) -> tuple[list[str], str] | None:
    """Overrides and config name of the other pipeline; ``None`` where neither is given.

    Overrides go on top of control. A config of its own brings all its stages: what the
    command line says of a stage is said of control, everything else of both.
    """
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
    return _root(override.split("=", 1)[0].lstrip("+~").split("@")[0])


def _root(key: str) -> str:
    return key.split(".")[0]


def _cells(stages: list[str], order: tuple[str, ...]) -> list[str]:
    if not order:
        return ["".join(cell) for cell in product("01", repeat=len(stages))]
    done = [set(order[:number]) for number in range(len(order) + 1)]
    return ["".join("1" if s in changed else "0" for s in stages) for changed in done]


def _patched(draft: Draft, start: PlainConfig, target: PlainConfig, stages: list[str]) -> str:
    """The arm that has the target's stages where named and the start's elsewhere."""
    begun = {stage: start[stage] for stage in STAGES}
    config = {**draft.control.values, **begun, **{stage: target[stage] for stage in stages}}
    moved = tuple(changes(draft.control.values, config))
    if not moved:
        return CONTROL
    name = ",".join(f"{stage}=target" for stage in stages) or "start"
    return draft.keep(
        Arm(name, "+".join(stages), "target" if stages else "start", (), moved), config
    )

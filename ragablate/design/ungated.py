"""A calibrated gate where a stage it was calibrated for is the variable.

Its floor belongs to control's scores and says nothing of a treatment's: kept in control alone it
would be a second change, and moved along it would be another gate. So it is off in all arms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragablate.design.arms import Plan
from ragablate.design.drafting import CONTROL, UNGATED
from ragablate.design.levels import override_key
from ragablate.gate.stamps import Stamped, moved
from ragablate.records import Dataset


def off_in_all_arms(plan: Plan, pipelines: Mapping[str, Stamped], dataset: Dataset) -> str:
    """Why the gate of a plan is off in all arms, in a sentence; empty where it stands.

    It stands where it was calibrated for other stages than control's, and where the plan asks
    about the gate itself: both are refused by ``ragablate.gate.fitting.unfit``.

    Args:
        plan: Arms and experiments.
        pipelines: By arm.
        dataset: What they search.
    """
    if moved(pipelines[CONTROL], dataset) or _asks_about_gate(plan):
        return ""
    gate = pipelines[CONTROL].fingerprints["gate"]
    arms = [arm for arm in pipelines.values() if arm.fingerprints["gate"] == gate]
    varied = dict.fromkeys(stage for arm in arms for stage in moved(arm, dataset))
    if not varied:
        return ""
    return (
        f"The gate was calibrated for control's {' and '.join(varied)}, which this plan varies: it "
        "is off in all arms, so every number here is of pipelines without a gate."
    )


def _asks_about_gate(plan: Plan) -> bool:
    """Whether an experiment varies the gate, alone or with other stages."""
    for experiment in plan.experiments:
        variables = [experiment.variable, *experiment.details.get("variables", ())]
        if any(str(variable).split(".")[0] == "gate" for variable in variables):
            return True
    ends = {e.name for e in plan.experiments if e.design == "attribution"}
    factors = (f for a in plan.analyses if a.id in ends for f in a.factors)
    return any(factor.variable.split(".")[0] == "gate" for factor in factors)


def without_gate(overrides: Sequence[str]) -> list[str]:
    """A command line with whatever it says of the gate taken out, and ``gate=none``."""
    kept = [o for o in overrides if override_key(o).split(".")[0] != "gate"]
    return [*kept, *UNGATED]

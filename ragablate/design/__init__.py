"""From experiments to arms, each exactly one declared change away from control."""

from ragablate.design.arms import Plan, plan
from ragablate.design.designs import kind_of
from ragablate.design.drafting import CONTROL, PLACEBO
from ragablate.design.experiments import Experiment
from ragablate.design.levels import UNCUT, Level
from ragablate.design.ungated import off_in_all_arms, without_gate

__all__ = [
    "CONTROL",
    "PLACEBO",
    "UNCUT",
    "Experiment",
    "Level",
    "Plan",
    "kind_of",
    "off_in_all_arms",
    "plan",
    "without_gate",
]

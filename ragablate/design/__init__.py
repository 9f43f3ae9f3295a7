"""From experiments to arms, each exactly one change away from control."""

from ragablate.design.arms import CONTROL, PLACEBO, Plan, plan
from ragablate.design.experiments import Experiment, Level

__all__ = ["CONTROL", "PLACEBO", "Experiment", "Level", "Plan", "plan"]

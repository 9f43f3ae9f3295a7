"""Two bundles on the same questions: what changed between them, and what that did."""

from ragablate.versus.between import Between, between
from ragablate.versus.demands import Demand, Outcome, met, parse

__all__ = ["Between", "Demand", "Outcome", "between", "met", "parse"]

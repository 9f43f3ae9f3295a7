"""Causes by tier: from metrics alone, and, where a judge is asked for, from the texts."""

from ragablate.diagnose.tiers.diagnosing import diagnose_tiers
from ragablate.diagnose.tiers.report import Diagnosed, TierReport
from ragablate.diagnose.tiers.thresholds import Thresholds

__all__ = ["Diagnosed", "Thresholds", "TierReport", "diagnose_tiers"]

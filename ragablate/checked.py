"""A plan that has been checked and can be executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragablate.adapters import Pipeline, Workshop
from ragablate.budget import Limits
from ragablate.dataset.digests import set_digest
from ragablate.design import Plan
from ragablate.reading import Settings
from ragablate.records import Dataset, HumanLabel, Measure
from ragablate.seeds import derive


@dataclass(frozen=True, slots=True)
class Checked:
    """A plan that can be executed: composed, built and with its data read."""

    plan: Plan
    """Arms and contrasts."""
    pipelines: Mapping[str, Pipeline]
    """Adapters by arm."""
    judges: Mapping[str, tuple[Any, str]]
    """Judge and fingerprint by name."""
    measures: Mapping[str, Measure]
    """What the judges measure."""
    dataset: Dataset
    """After ``limit``."""
    workshop: Workshop
    """To be closed when done."""
    overrides: tuple[str, ...]
    """What the user asked for."""
    labels: tuple[HumanLabel, ...] = ()
    """What people said of answers."""

    @property
    def settings(self) -> Settings:
        """Seed, replicates, how the questions were chosen, and what may be spent."""
        control = self.plan.control
        fresh = bool(control["fresh_control"])
        seed = control["seed"]
        if fresh:
            # Another question set gets other seeds, so that no answer the questions may have
            # been chosen by is used again.
            seed = derive(seed, "fresh", set_digest(self.dataset))
        chosen = bool(control["questions_selected_by_failure"])
        limits = Limits(**control["budget"])
        coverage = float(control["gold_coverage"])
        return Settings(seed, control["replicates"], chosen, fresh, coverage, limits)

    @property
    def outputs(self) -> Path:
        """Where bundles and the store lie."""
        return Path(self.plan.control["outputs"])

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self.plan.control["name"] or self.dataset.name)

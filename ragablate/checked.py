"""A plan that has been checked and can be executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragablate.adapters import Pipeline, Workshop
from ragablate.design import Plan
from ragablate.reading import Settings
from ragablate.records import Dataset, Measure


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

    @property
    def settings(self) -> Settings:
        """Seed and replicates."""
        control = self.plan.control
        return Settings(control["seed"], control["replicates"])

    @property
    def outputs(self) -> Path:
        """Where bundles and the store lie."""
        return Path(self.plan.control["outputs"])

    @property
    def name(self) -> str:
        """Name of the study."""
        return str(self.plan.control["name"] or self.dataset.name)

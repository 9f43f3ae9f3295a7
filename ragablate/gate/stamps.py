"""Whether the floors of a gate belong to the scores they are held against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Stamped(Protocol):
    """As much of an arm's pipeline as is needed: its stages and their fingerprints."""

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """By stage."""

    def __getitem__(self, stage: str) -> Any:
        """The adapter of a stage."""


def uncalibrated(pipelines: Mapping[str, Stamped]) -> list[str]:
    """Gates whose floors were found with other stages than those of their arm, one sentence each.

    Args:
        pipelines: By arm.
    """
    found = []
    for name, pipeline in pipelines.items():
        stamped = getattr(pipeline["gate"], "calibrated_for", None) or {}
        moved = [s for s, own in stamped.items() if pipeline.fingerprints.get(s) != own]
        if moved:
            found.append(
                f"arm '{name}': the gate was calibrated for another {' and '.join(moved)}, whose "
                "scores are not these; calibrate it anew (ragablate calibrate), or leave it out of "
                "all arms, gate=none"
            )
    return found

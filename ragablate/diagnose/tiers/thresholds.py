"""From where on a metric of the ranking passes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """Least values that pass, in [0, 1]."""

    recall_pass: float = 0.5
    """Recall of the gold from which the evidence counts as retrieved."""
    mrr_pass: float = 0.5
    """Reciprocal rank of the first gold passage from which it counts as well ranked."""

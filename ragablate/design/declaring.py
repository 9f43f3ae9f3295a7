"""Declaring a design of several arms."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ragablate.design.drafting import Draft
from ragablate.design.experiments import Experiment
from ragablate.records import Analysis, AnalysisKind, Factor

MOST_FACTORS = 4
"""Variables whose combinations are all run without asking."""
MOST_ON_REQUEST = 5
"""The most with ``allow_five``."""


def declare(
    draft: Draft,
    experiment: Experiment,
    kind: AnalysisKind,
    arms: Mapping[str, str],
    factors: Collection[Factor] = (),
    order: tuple[str, ...] = (),
) -> None:
    """Add an analysis to the draft, unless one of its arms could not be made."""
    if not all(arms.values()):
        return
    several = kind == "mediation" and len(experiment.details["treatments"]) > 1
    name = f"{experiment.name}/{next(iter(factors)).level}" if several else experiment.name
    draft.analyses.append(
        Analysis(
            name,
            experiment.question,
            kind,
            dict(arms),
            experiment.measure,
            experiment.margin,
            tuple(factors),
            order,
        )
    )


def too_many(experiment: Experiment, count: int) -> str:
    """What to do about more variables than can be combined."""
    return (
        f"{experiment.where}: {count} variables take {2**count} arms; join some into groups, or "
        f"ask for five with allow_five: true"
        + ("; an order: [...] runs them one after the other" if count > 1 else "")
    )

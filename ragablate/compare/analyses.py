"""Analyses: what a design of several arms shows, one procedure a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ragablate.compare.scores import ScoreTable
from ragablate.records import Analysis, AnalysisKind, AnalysisResult, Conclusion, Effect


@dataclass(frozen=True, slots=True)
class Analysed:
    """What one analysis shows."""

    conclusion: Conclusion
    """Its verdict, under the id of the analysis."""
    result: AnalysisResult | None = None
    """Its terms; ``None`` where it is refused."""
    effects: tuple[Effect, ...] = ()
    """One a term that has a test, with the role ``term``."""


ANALYSES: dict[AnalysisKind, Callable[[ScoreTable, Analysis], Analysed]] = {}
"""By kind of analysis, what reads it from the scores of its study."""


def analysed(table: ScoreTable) -> Iterator[Analysed]:
    """Every declared analysis, in the order of the plan."""
    for analysis in table.study.analyses:
        procedure = ANALYSES.get(analysis.kind)
        if procedure is not None:
            yield procedure(table, analysis)

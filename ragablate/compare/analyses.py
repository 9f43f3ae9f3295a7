"""Analyses: what a design of several arms shows, one procedure a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragablate.compare.analysed import Analysed
from ragablate.compare.attribution import attribution
from ragablate.compare.factorial import factorial
from ragablate.compare.ladder import ladder
from ragablate.compare.mediation import mediation
from ragablate.compare.scores import ScoreTable
from ragablate.records import Analysis, AnalysisKind

ANALYSES: dict[AnalysisKind, Callable[[ScoreTable, Analysis], Analysed]] = {
    "ladder": ladder,
    "factorial": factorial,
    "mediation": mediation,
    "attribution": attribution,
}
"""By kind of analysis, what reads it from the scores of its study."""


def every_analysis(table: ScoreTable) -> Iterator[Analysed]:
    """Every declared analysis, in the order of the plan."""
    for analysis in table.study.analyses:
        procedure = ANALYSES.get(analysis.kind)
        if procedure is not None:
            yield procedure(table, analysis)

"""A ladder seen from the reader: what is lost before it, and what it loses itself."""

from __future__ import annotations

from ragablate.compare.case import Case
from ragablate.compare.contrasts import UPSTREAM_MINUS_READER
from ragablate.compare.labels import Licence
from ragablate.compare.ladder_rungs import ONE, ZERO, Climb, Incomplete, base_of
from ragablate.compare.ladder_terms import (
    Bounds,
    contrast_of,
    effects_with_missing,
    sample_of,
)
from ragablate.compare.populations import ANSWERABLE
from ragablate.compare.scores import ScoreTable
from ragablate.records import Analysis, Effect


def sides_of(
    climbed: Climb, table: ScoreTable, analysis: Analysis, licence: Licence
) -> tuple[Case, tuple[Effect, ...]]:
    """The oracle context against control without its gate, as a case to reach a verdict from.

    Returns:
        The case, and its two effects: the gap, and what is lost upstream of the reader minus
        what the reader loses on questions whose evidence it had.
    """
    base = base_of(analysis)
    rows = [(q.mean(base), q.mean("O"), q.evidence) for q in climbed.complete]
    before, oracle = [b for b, _, _ in rows], [o for _, o, _ in rows]
    lost = [ONE - o if evidence else ZERO for _, o, evidence in rows]
    gained = [o - b for b, o, _ in rows]
    arms = base, "O"
    gap = sample_of(climbed, analysis, arms, analysis.measure, (before, oracle))
    weighing = sample_of(climbed, analysis, arms, UPSTREAM_MINUS_READER, (lost, gained), bound=2.0)
    effects = effects_with_missing(
        [gap, weighing],
        [
            [_gap(q, base) for q in climbed.incomplete],
            [_weighing(q, base) for q in climbed.incomplete],
        ],
        climbed,
        table.study,
    )
    case = Case(
        table=table,
        contrast=contrast_of(analysis, *arms),
        arms=gap.arms,
        primary=effects[0],
        pairs=gap.pairs,
        others={(UPSTREAM_MINUS_READER, ANSWERABLE): effects[1]},
        licence=licence,
    )
    return case, tuple(effects)


def _gap(question: Incomplete, base: str) -> Bounds:
    before, oracle = question.scores[base], question.scores["O"]
    return oracle[0] - before[1], oracle[1] - before[0]


def _weighing(question: Incomplete, base: str) -> Bounds:
    low, high = _gap(question, base)
    oracle = question.scores["O"]
    if question.evidence is not False:
        low -= ONE - oracle[0]
    if question.evidence:
        high -= ONE - oracle[1]
    return low, high

"""Opening a design of several arms: its questions, its scores, and what it may claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ragablate.compare.analysed import Analysed
from ragablate.compare.cells import Cells, cells
from ragablate.compare.contrasts import ContrastSamples
from ragablate.compare.families import Estimand, Family, judge_family
from ragablate.compare.labels import REPAIR, Licence
from ragablate.compare.phrases import sentence
from ragablate.compare.populations import (
    ANSWERABLE,
    KEPT_PRESENT,
    UNANSWERABLE,
    answerable,
    evidence_full,
    unanswerable,
)
from ragablate.compare.scores import FAITHFULNESS, Reading, ScoreTable
from ragablate.compare.standing import licence_of, refusal_of, refused
from ragablate.compare.told import Teller
from ragablate.edges import edges
from ragablate.records import Analysis, Conclusion, Effect, Study, Term


@dataclass(frozen=True, slots=True)
class Opened:
    """An analysis with the scores of all its arms."""

    table: ScoreTable
    """The study's scores."""
    analysis: Analysis
    """The analysis."""
    read: Reading
    """How its measure is read."""
    scores: Cells
    """On the questions of the headline."""
    apart: Cells | None
    """On unanswerable questions, where there are at least two."""

    @property
    def study(self) -> Study:
        """The study."""
        return self.table.study

    @property
    def teller(self) -> Teller:
        """Its words."""
        return Teller(self.study, self.analysis)

    @property
    def refusal(self) -> str:
        """Why it gets no number; empty where it gets one."""
        return refusal_of(self.table, self.analysis, self.read, self.scores)

    def judge(self, estimands: Sequence[Estimand]) -> Family:
        """Terms on the questions of the headline, as one family."""
        return judge_family(self.scores, estimands, self.analysis, self.study)

    def judge_apart(self, estimands: Sequence[Estimand]) -> Family | None:
        """The same on unanswerable questions, a family of its own."""
        if self.apart is None:
            return None
        return judge_family(self.apart, estimands, self.analysis, self.study)

    def licence(self, families: Iterable[Family]) -> Licence:
        """The strongest label that everything allows."""
        return licence_of(self.table, self.analysis, self.read, self.scores, families)

    def means(self) -> dict[str, float]:
        """Mean score by role, on the common questions."""
        return {role: self.scores.mean(role) for role in self.scores.complete}


def lacking(study: Study, analysis: Analysis, needed: Iterable[str]) -> tuple[str, ...]:
    """Roles an analysis needs and has no scores for."""
    return tuple(
        role
        for role in needed
        if role not in analysis.arms
        or analysis.measure not in study.scores.get(analysis.arms[role], {})
    )


def opened(table: ScoreTable, analysis: Analysis) -> Opened:
    """Read every arm of an analysis on its questions.

    Faithfulness is read where the evidence was full in every arm, and a refusal there is
    not faithful; other measures on all answerable questions, unanswerable ones apart.
    """
    arms = {
        r: arm
        for r, arm in analysis.arms.items()
        if r not in lacking(table.study, analysis, analysis.arms)
    }
    analysis = replace(analysis, arms=arms)
    read = ContrastSamples(table, edges(analysis)[0].contrast).read(analysis.measure)
    population, qids = ANSWERABLE, answerable(table.study)
    if analysis.measure == FAITHFULNESS:
        population = KEPT_PRESENT
        qids = tuple(q for q in qids if all(evidence_full(table, a, q) for a in arms.values()))
    scores = cells(read, arms, population, qids)
    apart = cells(read, arms, UNANSWERABLE, unanswerable(table.study))
    return Opened(table, analysis, read, scores, apart if len(apart.qids) > 1 else None)


def refuse(found: Opened) -> Analysed:
    """An analysis that gets no number."""
    licence = refused(found.study, found.analysis, found.refusal)
    return Analysed(
        Conclusion(
            contrast=found.analysis.id,
            verdict="refused",
            label=licence.label,
            sentences=(f"No attribution. {sentence(found.refusal)}",),
            limits=licence.limits,
            settle=REPAIR,
            owner="",
            effects=(),
        )
    )


def strata(apart: Family | None) -> dict[str, tuple[Term, ...]]:
    """Terms on unanswerable questions, where there are any."""
    return {} if apart is None else {UNANSWERABLE: apart.terms}


def effects_of(families: Iterable[Family | None]) -> tuple[Effect, ...]:
    """The effects of all families, each once."""
    found = (effect for each in families if each is not None for effect in each.effects)
    return tuple({effect.id: effect for effect in found}.values())

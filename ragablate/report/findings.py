"""A comparison regrouped by contrast, and its stage signals as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragablate.bundle.read import Bundle
from ragablate.records import (
    Analysis,
    AnalysisResult,
    Comparison,
    Conclusion,
    Contrast,
    Effect,
    Proof,
    Signal,
)
from ragablate.report import figures, plans
from ragablate.report.tables import Column, Table

EXPLORATORY = "Exploratory:"
"""How sentences about slices begin."""

_HEADERS = {
    "evidence_retrieved": "evidence retrieved",
    "evidence_in_context": "evidence in context",
    "faithfulness": "faithful",
    "abstained": "abstained",
    "correct": "correct",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What came out of one question."""

    name: str
    """The experiment, with the level where it has several."""
    question: str
    """In the researcher's words."""
    change: str
    """What was changed."""
    conclusion: Conclusion
    """The verdict."""
    proofs: tuple[Proof, ...]
    """What was checked."""
    effects: tuple[Effect, ...]
    """Every effect but the headline of a contrast."""

    def of(self, *roles: str) -> tuple[Effect, ...]:
        """Effects of the given roles, in their order."""
        return tuple(e for e in self.effects if e.role in roles)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict in plain language, without what was found by looking at slices."""
        return tuple(s for s in self.conclusion.sentences if not s.startswith(EXPLORATORY))

    @property
    def explorations(self) -> tuple[str, ...]:
        """Sentences about slices."""
        return tuple(s for s in self.conclusion.sentences if s.startswith(EXPLORATORY))


@dataclass(frozen=True, slots=True)
class Compared(Finding):
    """What came out of a contrast."""

    contrast: Contrast
    """The contrast."""
    primary: Effect
    """The headline effect."""

    @property
    def p_adjusted(self) -> float | None:
        """Holm's p-value; ``None`` for a placebo, which is in no family."""
        return None if self.contrast.kind == "placebo" else self.primary.p_adjusted


@dataclass(frozen=True, slots=True)
class Analysed(Finding):
    """What came out of a design of several arms."""

    analysis: Analysis
    """The design."""
    result: AnalysisResult | None
    """Its terms; ``None`` where it is refused."""


def findings(bundle: Bundle, comparison: Comparison) -> tuple[Finding, ...]:
    """One finding a contrast and one an analysis, each in the order they were declared."""
    conclusions = {c.contrast: c for c in comparison.conclusions}
    return (
        *_of_contrasts(bundle, comparison, conclusions),
        *_of_analyses(bundle, comparison, conclusions),
    )


def _of_contrasts(
    bundle: Bundle, comparison: Comparison, conclusions: Mapping[str, Conclusion]
) -> Iterator[Compared]:
    levels = Counter(contrast.experiment for contrast in bundle.contrasts)
    for contrast in bundle.contrasts:
        own = tuple(e for e in comparison.effects if e.contrast == contrast.id)
        primary = next((e for e in own if e.role == "primary"), None)
        if primary is None or contrast.id not in conclusions:
            continue
        yield Compared(
            name=contrast.experiment if levels[contrast.experiment] == 1 else contrast.id,
            question=contrast.question,
            change=plans.changed(contrast),
            conclusion=conclusions[contrast.id],
            proofs=bundle.proofs.get(contrast.id, ()),
            effects=tuple(e for e in own if e is not primary),
            contrast=contrast,
            primary=primary,
        )


def _of_analyses(
    bundle: Bundle, comparison: Comparison, conclusions: Mapping[str, Conclusion]
) -> Iterator[Analysed]:
    results = {result.id: result for result in comparison.analyses}
    for analysis in bundle.analyses:
        if analysis.id not in conclusions:
            continue
        yield Analysed(
            name=analysis.id,
            question=analysis.question,
            change=plans.design(analysis),
            conclusion=conclusions[analysis.id],
            proofs=bundle.proofs.get(analysis.id, ()),
            effects=tuple(e for e in comparison.effects if e.contrast == analysis.id),
            analysis=analysis,
            result=results.get(analysis.id),
        )


def compared(found: Sequence[Finding]) -> tuple[Compared, ...]:
    """The findings of contrasts."""
    return tuple(f for f in found if isinstance(f, Compared))


def analysed(found: Sequence[Finding]) -> tuple[Analysed, ...]:
    """The findings of designs of several arms."""
    return tuple(f for f in found if isinstance(f, Analysed))


def alike(found: Sequence[Compared]) -> str:
    """The measure, questions and margin that all contrasts share; empty where they differ."""
    shared = {(f.primary.measure, figures.population(f.primary), f.primary.margin) for f in found}
    if len(shared) != 1:
        return ""
    measure, population, margin = shared.pop()
    return f"{measure}, {population} questions, margin {margin:g}"


def population_size(comparison: Comparison, population: str) -> int:
    """Questions of a population; 0 where no signal tells."""
    sizes = [s.n + s.unmeasured for s in comparison.signals if s.population == population]
    return max(sizes, default=0)


def signal_table(
    comparison: Comparison,
    population: str,
    top_k: int,
    cell: Callable[[Signal], str] = figures.rate,
    name: Callable[[str], str] = str,
) -> Table:
    """Arms by stage signals; columns without any value are left out.

    Args:
        comparison: With the signals.
        population: ``answerable`` or ``unanswerable``.
        top_k: Passages that *retrieved* means.
        cell: How a signal is written.
        name: How an arm is written.
    """
    signals = [s for s in comparison.signals if s.population == population]
    by_place = {(s.arm, s.measure): s for s in signals}
    measures = list(dict.fromkeys(s.measure for s in signals))
    columns = [Column("arm"), *(Column(signal_header(m, top_k), right=True) for m in measures)]
    rows = []
    for arm in dict.fromkeys(s.arm for s in signals):
        found = [by_place.get((arm, measure)) for measure in measures]
        rows.append((name(arm), *(figures.rate(s) if s is None else cell(s) for s in found)))
    return Table(tuple(columns), tuple(rows)).without_empty()


def signal_header(measure: str, top_k: int) -> str:
    """The title of a stage signal."""
    header = _HEADERS.get(measure, measure)
    return f"{header} (top {top_k})" if measure == "evidence_retrieved" else header

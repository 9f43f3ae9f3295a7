"""From a study to what it shows: effects, conclusions, signals and notes."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.compare.analyses import every_analysis
from ragablate.compare.case import Case
from ragablate.compare.effects import Sample, effects_of
from ragablate.compare.human import corrected_effects, in_words, judged_rates
from ragablate.compare.labels import CAUSAL
from ragablate.compare.limits import licence_of
from ragablate.compare.numbers import count, listed
from ragablate.compare.populations import answerable
from ragablate.compare.primaries import Primary, judge, missing_text, primaries
from ragablate.compare.scores import ScoreTable
from ragablate.compare.signals import different_questions, signals
from ragablate.compare.slices import sliced
from ragablate.compare.validity import require_comparable
from ragablate.compare.verdicts import conclude
from ragablate.records import Comparison, Conclusion, Effect, Study

ASSUMED = (
    "Every causal claim assumes that questions do not influence one another, that the measure "
    "is what matters, that the gold is right, and that the question set stands for the "
    "questions to come."
)


def compare(study: Study) -> Comparison:
    """What a study shows, and how strongly it may be said.

    Equal studies give equal comparisons, whatever the order of their questions.

    1. Every contrast is paired by qid on its primary measure; the primary effects are one
       family under Holm's adjustment.
    2. Cells, stage signals, negative controls and slices are read beside each.
    3. Proofs and findings set how strongly each contrast may speak; its verdict follows from
       the states of its effects.
    4. Every analysis has a family, a verdict and terms of its own.

    Raises:
        EvidenceError: The scores cannot be paired (``require_comparable``), or no contrast
            has two answers to compare.
    """
    found = cases(study)
    table = found[0].table if found else ScoreTable(study)
    several = tuple(every_analysis(table))
    conclusions = (*map(conclude, found), *(one.conclusion for one in several))
    rates, corrected = judged_rates(table), corrected_effects(table)
    return Comparison(
        effects=(
            *(case.primary for case in found),
            *(effect for one in several for effect in one.effects),
            *(effect for case in found for effect in _rest(case)),
        ),
        conclusions=conclusions,
        signals=signals(table),
        notes=(*_notes(table, conclusions), *in_words(rates, corrected)),
        analyses=tuple(one.result for one in several if one.result is not None),
        judged_rates=rates,
        corrected=corrected,
    )


def cases(study: Study) -> tuple[Case, ...]:
    """One case a contrast, with all its effects: what the verdicts are reached from.

    Raises:
        EvidenceError: As ``compare``.
    """
    require_comparable(study)
    found = primaries(ScoreTable(study))
    headlines = judge(found, study)
    beside = _beside(found, study)
    return tuple(_case(p, e, headlines, beside) for p, e in zip(found, headlines, strict=True))


def _beside(found: Sequence[Primary], study: Study) -> list[Effect]:
    """Cells, stage signals and negative controls of every contrast that has a number."""
    samples: dict[str, Sample] = {}
    for primary in found:
        if not primary.refusal:
            of = primary.samples
            samples |= {s.id: s for s in (*of.cells(), *of.signals(), *of.controls())}
    return effects_of(list(samples.values()), study)


def _case(
    primary: Primary, headline: Effect, headlines: Sequence[Effect], beside: Sequence[Effect]
) -> Case:
    samples = primary.samples
    own = (effect for effect in beside if effect.contrast == primary.contrast.id)
    return Case(
        table=samples.table,
        contrast=samples.contrast,
        arms=samples.arms,
        primary=headline,
        pairs=primary.sample.pairs,
        others={(effect.measure, effect.population): effect for effect in own},
        licence=licence_of(primary, headlines),
        headlines={effect.contrast: effect for effect in headlines},
        slices=() if primary.refusal else sliced(samples, samples.table.study),
        refusal=primary.refusal,
        missing=missing_text(primary),
    )


def _rest(case: Case) -> list[Effect]:
    """Everything of one contrast but its headline, slices last."""
    return [*case.others.values(), *(effect for s in case.slices for effect in s.effects)]


def _notes(table: ScoreTable, conclusions: Sequence[Conclusion]) -> tuple[str, ...]:
    study, notes = table.study, list(table.study.remarks)
    gaps = sorted(q for q in study.qids if q in study.eval_gaps)
    if gaps:
        notes.append(
            f"{count(len(gaps), 'question')} without usable gold ({listed(gaps)}): eval gaps, "
            "excluded from every effect and every rate."
        )
    n = len(answerable(study))
    if n < 20:
        notes.append(f"{count(n, 'answerable question')}: a pilot, whatever it shows.")
    if not study.clusters:
        notes.append(
            "Questions are treated as independent: no cluster key (source document, "
            "conversation) was given."
        )
    notes.extend(different_questions(table))
    if any(conclusion.label in CAUSAL for conclusion in conclusions):
        notes.append(ASSUMED)
    return tuple(notes)

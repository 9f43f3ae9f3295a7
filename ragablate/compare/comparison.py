"""From a study to what it shows: effects, conclusions, signals and notes."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.compare.case import Case
from ragablate.compare.effects import effect_of
from ragablate.compare.limits import licence_of
from ragablate.compare.numbers import count, listed
from ragablate.compare.populations import answerable
from ragablate.compare.primaries import Primary, judge, missing_text, primaries
from ragablate.compare.scores import ScoreTable
from ragablate.compare.signals import different_questions, signals
from ragablate.compare.slices import sliced
from ragablate.compare.validity import require_comparable
from ragablate.compare.verdicts import conclude
from ragablate.records import Comparison, Effect, Signal, Study


def compare(study: Study) -> Comparison:
    """What a study shows, and how strongly it may be said.

    Equal studies give equal comparisons, whatever the order of their questions.

    1. Every contrast is paired by qid on its primary measure; the primary effects are one
       family under Holm's adjustment.
    2. Cells, stage signals, negative controls and slices are read beside each.
    3. Proofs and findings set how strongly each contrast may speak; its verdict follows from
       the states of its effects.

    Raises:
        EvidenceError: The scores cannot be paired (``require_comparable``), or no contrast
            has two answers to compare.
    """
    require_comparable(study)
    table = ScoreTable(study)
    found = primaries(table)
    headlines = judge(found, study)
    cases = [_case(p, e, headlines) for p, e in zip(found, headlines, strict=True)]
    beside: list[Effect] = []
    for primary, case in zip(found, cases, strict=True):
        beside.extend(_beside(primary, case))
    rows = signals(table)
    return Comparison(
        effects=(*headlines, *beside),
        conclusions=tuple(conclude(case) for case in cases),
        signals=rows,
        notes=_notes(study, rows),
    )


def _case(primary: Primary, headline: Effect, headlines: Sequence[Effect]) -> Case:
    samples = primary.samples
    study = samples.table.study
    others = [] if primary.refusal else [*samples.cells(), *samples.signals()]
    effects = {(s.measure, s.population): effect_of(s, study) for s in others}
    return Case(
        table=samples.table,
        contrast=samples.contrast,
        arms=samples.arms,
        primary=headline,
        pairs=primary.sample.pairs,
        others=effects,
        licence=licence_of(primary, headlines),
        slices=() if primary.refusal else sliced(samples, study),
        refusal=primary.refusal,
        missing=missing_text(primary),
    )


def _beside(primary: Primary, case: Case) -> list[Effect]:
    """Cells and signals, negative controls, then slices."""
    controls = () if primary.refusal else primary.samples.controls()
    return [
        *case.others.values(),
        *(effect_of(sample, case.study) for sample in controls),
        *(effect for s in case.slices for effect in s.effects),
    ]


def _notes(study: Study, rows: Sequence[Signal]) -> tuple[str, ...]:
    notes = []
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
    return (*notes, *different_questions(rows))

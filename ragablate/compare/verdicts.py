"""Verdicts: one table a kind of contrast, and what every conclusion adds to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragablate.compare import phrases, sentences
from ragablate.compare.bottleneck import oracle_context
from ragablate.compare.case import Case, Ruling
from ragablate.compare.labels import REPAIR, unattributed, way_out
from ragablate.compare.memory import closed_book
from ragablate.compare.necessity import edited_context, without_gold
from ragablate.compare.noise import placebo
from ragablate.compare.populations import RETRIEVAL_DEPENDENT, UNANSWERABLE
from ragablate.compare.swaps import swapped_gate, swapped_reader, swapped_stage
from ragablate.records import Conclusion, ContrastKind

RULES: Mapping[ContrastKind, Callable[[Case], Ruling]] = {
    "oracle": oracle_context,
    "closed_book": closed_book,
    "necessity": without_gold,
    "context": edited_context,
    "upstream": swapped_stage,
    "assembler": swapped_stage,
    "gate": swapped_gate,
    "reader": swapped_reader,
    "placebo": placebo,
}


def conclude(case: Case) -> Conclusion:
    """The conclusion of one contrast.

    A stage is named only where the claim is causal: a refused contrast gives no number, a
    confounded or descriptive one gives its number without an attribution.
    """
    ruling = _ruling(case)
    used = [case.primary.id]
    for measure, population in ruling.rests_on:
        effect = case.effect(measure, population)
        if effect is not None:
            used.append(effect.id)
    used.extend(effect.id for s in case.slices if s.open for effect in s.effects)
    stratum = case.effect(case.contrast.measure, RETRIEVAL_DEPENDENT)
    if stratum is not None and not case.refusal:
        used.append(stratum.id)
    dependent = () if case.refusal else sentences.retrieval_dependent(case)
    slices = () if case.refusal else sentences.by_slice(case)
    return Conclusion(
        contrast=case.contrast.id,
        verdict=ruling.verdict,
        label=case.licence.label,
        sentences=(*ruling.sentences, *dependent, *slices),
        limits=case.licence.limits,
        settle=ruling.settle,
        owner=ruling.owner,
        effects=tuple(dict.fromkeys(used)),
    )


def _ruling(case: Case) -> Ruling:
    if case.refusal:
        return Ruling("refused", sentences.headline(case), settle=REPAIR)
    if not case.licence.causal:
        return Ruling(
            unattributed(case.licence.label),
            (*sentences.headline(case), *_left_open(case), *sentences.unanswerables(case)),
            settle=way_out(case.licence.label),
            rests_on=((case.contrast.measure, UNANSWERABLE),),
        )
    known = case.study.measures.get(case.contrast.measure)
    about_answers = known is None or (known.stage == "read" and known.higher_is_better is True)
    if not about_answers and case.contrast.kind != "placebo":
        return _moved(case)
    return RULES[case.contrast.kind](case)


def _moved(case: Case) -> Ruling:
    """Up and down without a judgement: the measure is not one of how good answers are."""
    verb = {"up": "rose", "down": "fell", "flat": "did not move by more than the margin"}
    state = case.primary.state
    name = phrases.measure(case.study, case.contrast.measure)
    return Ruling(
        f"{name} {verb[state]}" if state in verb else "not enough evidence",
        (*sentences.headline(case), *sentences.unanswerables(case)),
        settle=sentences.more_questions(case, case.primary),
        rests_on=((case.contrast.measure, UNANSWERABLE),),
    )


def _left_open(case: Case) -> tuple[str, ...]:
    """What the data leave open, where the difference itself is not decided."""
    if case.primary.state != "unclear":
        return ()
    return sentences.still_open(case, case.primary)

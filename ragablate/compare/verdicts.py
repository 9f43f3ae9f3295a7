"""Verdicts: one table a kind of contrast, and what every conclusion adds to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragablate.compare import sentences
from ragablate.compare.bottleneck import oracle_context
from ragablate.compare.case import Case, Ruling
from ragablate.compare.memory import closed_book
from ragablate.compare.necessity import edited_context, without_gold
from ragablate.compare.noise import placebo
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
    slices = () if case.refusal else sentences.by_slice(case)
    return Conclusion(
        contrast=case.contrast.id,
        verdict=ruling.verdict,
        label=case.licence.label,
        sentences=(*ruling.sentences, *slices),
        limits=case.licence.limits,
        settle=ruling.settle,
        owner=ruling.owner,
        effects=tuple(dict.fromkeys(used)),
    )


def _ruling(case: Case) -> Ruling:
    if case.refusal:
        return Ruling("refused", sentences.headline(case), settle=_repair(case))
    if not case.licence.causal:
        verdict = "no attribution" if case.licence.label == "confounded" else "association only"
        return Ruling(
            verdict,
            (*sentences.headline(case), *_left_open(case), *sentences.unanswerables(case)),
            settle=_repair(case),
            rests_on=((case.contrast.measure, "unanswerable"),),
        )
    return RULES[case.contrast.kind](case)


def _left_open(case: Case) -> tuple[str, ...]:
    """What the data leave open, where the difference itself is not decided."""
    if case.primary.state != "unclear":
        return ()
    return sentences.still_open(case, case.primary)


def _repair(case: Case) -> str:
    reasons = "; ".join(case.licence.reasons)
    return f"put right: {reasons}" if reasons else ""

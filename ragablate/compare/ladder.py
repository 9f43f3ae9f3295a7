"""The ladder: control's context repaired step by step, and what each repair wins back."""

from __future__ import annotations

from dataclasses import replace

from ragablate.compare import ladder_beside as beside
from ragablate.compare import ladder_sentences as say
from ragablate.compare import owners
from ragablate.compare.analysed import Analysed
from ragablate.compare.bottleneck import GOLD_SUSPECT, NO_SHORTFALL, NOT_ENOUGH, either_side
from ragablate.compare.case import Ruling
from ragablate.compare.labels import REPAIR, unattributed, way_out
from ragablate.compare.ladder_limits import licence_of, refusal_of
from ragablate.compare.ladder_logs import agreement, shares
from ragablate.compare.ladder_naming import Ranked, rank
from ragablate.compare.ladder_orders import AVERAGED, averaged, in_words
from ragablate.compare.ladder_rungs import (
    ASSEMBLY,
    DISTRACTOR,
    GATE,
    ORDERING,
    READER,
    READER_OR_LABEL,
    RETRIEVAL,
    Climb,
    climb,
    order_of,
)
from ragablate.compare.ladder_sentences import Ladder
from ragablate.compare.ladder_sides import sides_of
from ragablate.compare.ladder_terms import Terms, terms_of
from ragablate.compare.phrases import sentence
from ragablate.compare.populations import ANSWERABLE
from ragablate.compare.scores import ScoreTable
from ragablate.records import Analysis, AnalysisResult, Conclusion, Term

RETRIEVAL_DEPENDENT = "never right without context"
"""The stratum in which memory cannot hide what retrieval loses."""

_OWNERS = {
    GATE: owners.GATE,
    ASSEMBLY: owners.ASSEMBLER,
    RETRIEVAL: owners.RETRIEVER,
    ORDERING: owners.ORDER,
    DISTRACTOR: owners.DISTRACTORS,
    READER: owners.READER,
    READER_OR_LABEL: f"{owners.READER}; {owners.GOLD}",
}
_NEXT = {
    GATE: "another gate, or another floor of this one, as a treatment: what it wins and lets "
    "through",
    ASSEMBLY: "another assembler or budget as a treatment: what of this loss it wins back",
    RETRIEVAL: "another retriever as a treatment: it also brings other distractors, which this "
    "ladder holds fixed",
    ORDERING: "another order of the context as a treatment",
    DISTRACTOR: "a reranker or a shorter context as a treatment",
    READER: "another reader or prompt as a treatment, on the same contexts",
}


def ladder(table: ScoreTable, analysis: Analysis) -> Analysed:
    """What control lacks, split over its stages by repairing them one after the other.

    1. Every answerable question that is measured on every rung is split exactly; the terms
       are means over them and add up to 1 minus control's score.
    2. Signed terms are tested as one family; the others have an interval.
    3. The verdict says on which side of the reader more is lost, and names a stage only
       where it loses more than every other.
    4. Log buckets stand beside it and are only described.
    """
    climbed = climb(table, analysis)
    refusal = refusal_of(climbed, table, analysis)
    if refusal:
        return Analysed(_refused(analysis, refusal))
    found = _found(climbed, table, analysis)
    case = found.case
    ruling = either_side(case)
    verdict = ruling.verdict if case.licence.causal else unattributed(case.licence.label)
    silent = not case.licence.causal or _nothing_to_name(verdict, found)
    if silent:
        found = replace(found, ranked=Ranked("", (), found.ranked.against))
    named = found.ranked.named
    effects = (*found.terms.effects, case.primary, *case.others.values(), *found.ranked.against)
    conclusion = Conclusion(
        contrast=analysis.id,
        verdict=_verdict(verdict, named),
        label=case.licence.label,
        sentences=_sentences(found, ruling, silent),
        limits=case.licence.limits,
        settle=_settle(found, ruling) if case.licence.causal else way_out(case.licence.label),
        owner=_owner(named, ruling) if case.licence.causal else "",
        effects=tuple(effect.id for effect in effects),
    )
    return Analysed(conclusion, _result(found, table, analysis), effects)


def _found(climbed: Climb, table: ScoreTable, analysis: Analysis) -> Ladder:
    study = table.study
    case, _ = sides_of(climbed, table, analysis, licence_of(climbed, table, analysis))
    terms = terms_of(climbed, analysis, study)
    return Ladder(
        climbed=climbed,
        case=case,
        terms=terms,
        ranked=rank(climbed, terms, analysis, study),
        dependent=_dependent(climbed, table, analysis),
        agreement=agreement(climbed, table) if study.buckets else (),
        shares=shares(climbed, table, analysis),
        averaged=averaged(climbed, table, analysis),
    )


def _dependent(climbed: Climb, table: ScoreTable, analysis: Analysis) -> tuple[int, Terms | None]:
    if "N" not in analysis.arms:
        return 0, None
    closed = analysis.arms["N"]
    qids = (*climbed.qids, *(q.qid for q in climbed.incomplete))
    stratum = climbed.only(q for q in qids if table.mean(closed, analysis.measure, q) == 0.0)
    n = len(stratum.complete)
    return n, terms_of(stratum, analysis, table.study) if n > 1 else None


def _nothing_to_name(verdict: str, found: Ladder) -> bool:
    """Doubtful gold stops every claim; without a shortfall only the gate can lose answers."""
    small = verdict == NO_SHORTFALL and found.ranked.named != GATE
    return verdict == GOLD_SUSPECT or small


def _refused(analysis: Analysis, reason: str) -> Conclusion:
    said = f"No losses of {analysis.id} are reported. {sentence(reason)}"
    return Conclusion(analysis.id, "refused", "refused", (said,), (reason,), REPAIR, "", ())


def _verdict(verdict: str, named: str) -> str:
    if not named:
        return verdict
    loses = f"{say.name_of(named)} {'lose' if named == DISTRACTOR else 'loses'} the most"
    return loses if verdict in (NOT_ENOUGH, NO_SHORTFALL) else f"{verdict}; {loses}"


def _sentences(found: Ladder, ruling: Ruling, silent: bool) -> tuple[str, ...]:
    if not found.case.licence.causal:
        return (
            say.opening(found),
            say.association(found),
            *beside.unanswerables(found),
        )
    return (
        say.opening(found),
        say.gap(found),
        *ruling.sentences,
        *say.reader_or_label(found),
        *(() if silent else say.naming(found)),
        *say.worsened(found),
        *in_words(found.averaged),
        *say.joint(found),
        *say.reasons(found),
        *say.dependent(found),
        *beside.evidence(found),
        *beside.logs(found),
        *beside.unanswerables(found),
    )


def _settle(found: Ladder, ruling: Ruling) -> str:
    named = found.ranked.named
    if named:
        return _NEXT.get(named, "")
    return say.to_tell_apart(found) or ruling.settle


def _owner(named: str, ruling: Ruling) -> str:
    return _OWNERS[named] if named else ruling.owner


def _result(found: Ladder, table: ScoreTable, analysis: Analysis) -> AnalysisResult:
    climbed = found.climbed
    score = climbed.mean(climbed.steps[0].before)
    return AnalysisResult(
        id=analysis.id,
        kind=analysis.kind,
        order=order_of(analysis),
        population=ANSWERABLE,
        total=float(1 - score),
        terms=found.terms.terms,
        cells=_cells(climbed, table, analysis),
        strata=_strata(found),
        named=found.ranked.named,
        candidates=found.ranked.candidates,
        agreement=found.agreement,
        shares=found.shares,
        beside={AVERAGED: found.averaged} if found.averaged else {},
    )


def _strata(found: Ladder) -> dict[str, tuple[Term, ...]]:
    """The terms where memory cannot help, unless that is everywhere."""
    n, dependent = found.dependent
    if dependent is None or n == len(found.climbed.complete):
        return {}
    return {RETRIEVAL_DEPENDENT: tuple(replace(term, effect="") for term in dependent.terms)}


def _cells(climbed: Climb, table: ScoreTable, analysis: Analysis) -> dict[str, float]:
    """Mean score by role on the common questions, where all of them have one."""
    steps = climbed.steps
    found = {
        role: float(climbed.mean(role)) for role in (steps[0].before, *(r.after for r in steps))
    }
    closed = analysis.arms.get("N")
    values = (
        [] if closed is None else [table.mean(closed, analysis.measure, q) for q in climbed.qids]
    )
    measured = [v for v in values if v is not None]
    if values and len(measured) == len(values):
        found["N"] = sum(measured) / len(measured)
    return found

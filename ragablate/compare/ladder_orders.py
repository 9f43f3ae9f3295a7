"""Assembly and retrieval averaged over both orders of repairing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ragablate.compare.effects import Sample, decision, drafts, finish
from ragablate.compare.inference.multiplicity import holm
from ragablate.compare.ladder_rungs import ASSEMBLY, RETRIEVAL, Climb, Complete, base_of
from ragablate.compare.ladder_terms import contrast_of
from ragablate.compare.numbers import between, confidence_text, p_text, signed
from ragablate.compare.populations import ANSWERABLE
from ragablate.compare.scores import Pairs, ScoreTable
from ragablate.edges import UNRETRIEVED
from ragablate.records import Analysis, Effect, Study, Term

AVERAGED = "averaged over both orders of repairing assembly and retrieval"

_HALF = Fraction(1, 2)
_SIDES = {ASSEMBLY: (("B", UNRETRIEVED), ("A", "D")), RETRIEVAL: (("A", "B"), ("D", UNRETRIEVED))}


def averaged(climbed: Climb, table: ScoreTable, analysis: Analysis) -> tuple[Term, ...]:
    """The two-player average of what assembly and retrieval lose.

    assembly = 1/2 [(A - B) + (D - A')] and retrieval = 1/2 [(D - A) + (A' - B)], which add up
    to D - B. They differ from the terms of the ladder only on questions that lack evidence of
    both kinds. Nothing where the plan has no arm A', or fewer than two questions have it.

    Source: Shapley, "A value for n-person games", for two players.
    """
    if UNRETRIEVED not in analysis.arms:
        return ()
    found: dict[str, tuple[Fraction, ...]] = {}
    for question in climbed.complete:
        values = table.values(analysis.arms[UNRETRIEVED], analysis.measure, question.qid)
        measured = [Fraction(v) for v in values if v is not None]
        if len(measured) == climbed.replicates:
            found[question.qid] = tuple(measured)
    if len(found) < 2:
        return ()
    return tuple(_term(effect) for effect in _effects(climbed, analysis, table.study, found))


def _effects(
    climbed: Climb, analysis: Analysis, study: Study, found: Mapping[str, Sequence[Fraction]]
) -> list[Effect]:
    questions = [q for q in climbed.complete if q.qid in found]
    samples = [
        Sample(
            contrast_of(analysis, "B", "D"),
            (analysis.arms["B"], analysis.arms["D"]),
            f"{name}, both orders",
            ANSWERABLE,
            "term",
            Pairs(
                qids=tuple(q.qid for q in questions),
                control=tuple(_half_sum(q, found[q.qid], sides[0], analysis) for q in questions),
                treatment=tuple(_half_sum(q, found[q.qid], sides[1], analysis) for q in questions),
                unmeasured=len(climbed.incomplete) + len(climbed.complete) - len(questions),
                replicates=climbed.replicates,
                whole=climbed.whole,
                grain=2,
            ),
            mixed=True,
        )
        for name, sides in _SIDES.items()
    ]
    tested = [draft for draft in drafts(samples, study) if draft is not None]
    adjusted = holm([draft.flip.p for draft in tested])
    return [
        finish(draft, decision(draft, p, study.alpha), p, study)
        for draft, p in zip(tested, adjusted, strict=True)
    ]


def _half_sum(
    question: Complete, unretrieved: Sequence[Fraction], roles: Sequence[str], analysis: Analysis
) -> float:
    """Half the sum of two arms' mean scores."""
    base = base_of(analysis)
    total = Fraction(0)
    for role in roles:
        if role == UNRETRIEVED:
            total += sum(unretrieved, Fraction(0)) / len(unretrieved)
        else:
            total += question.mean(base if role == "B" else role)
    return float(_HALF * total)


def _term(effect: Effect) -> Term:
    return Term(
        name=effect.measure.removesuffix(", both orders"),
        value=0.0 if effect.effect is None else effect.effect,
        n=effect.n,
        fixed=effect.better,
        broke=effect.worse,
        ci95=effect.ci95,
        p=effect.p,
        p_adjusted=effect.p_adjusted,
        state=effect.state,
        effect="",
    )


def in_words(terms: Sequence[Term]) -> tuple[str, ...]:
    """Both averages in a sentence; nothing without them."""
    if not terms:
        return ()
    said = " and ".join(
        f"{term.name} {signed(term.value)} ({confidence_text(term.ci95)} {between(term.ci95)}; "
        f"Holm p = {p_text(term.p_adjusted)})"
        for term in terms
        if term.ci95 is not None and term.p_adjusted is not None
    )
    return (
        f"Averaged over both orders of repairing them: {said}. This differs from the ladder only "
        "where a question lacks evidence of both kinds.",
    )

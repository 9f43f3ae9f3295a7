"""A swapped stage: does it act because the evidence arrives, or in some other way?"""

from __future__ import annotations

from collections.abc import Mapping

from ragablate.compare import owners
from ragablate.compare.analysed import Analysed
from ragablate.compare.families import Family
from ragablate.compare.labels import Licence, unattributed, way_out, weakest
from ragablate.compare.numbers import count, signed
from ragablate.compare.paths import (
    EVIDENCE,
    KEPT,
    OTHER,
    ROLES,
    TOTAL,
    Transitions,
    orders,
    paths,
    total,
    transitions,
)
from ragablate.compare.phrases import number, places
from ragablate.compare.scores import ScoreTable
from ragablate.compare.several import Opened, effects_of, lacking, opened, refuse, strata
from ragablate.compare.told import STATES, Teller, listing
from ragablate.compare.unsplit import unsplit
from ragablate.records import Analysis, AnalysisResult, Conclusion, Effect, State

NOT_ENOUGH = "not enough evidence"

WHOLE = "the whole effect"
BOTH_ORDERS = "both orders of the two paths"
BY_EVIDENCE = "the whole effect by what became of the evidence (descriptive)"

_MOST = 0.5

_VERDICTS: Mapping[tuple[State, State], str] = {
    ("up", "up"): "evidence helped, better distractors too",
    ("up", "flat"): "evidence helped",
    ("flat", "up"): "better distractors helped, not the evidence",
    ("flat", "down"): "worse distractors hurt, not the evidence",
    ("flat", "flat"): "no material effect through either path",
    ("down", "flat"): "lost evidence hurt",
    ("down", "down"): "lost evidence hurt, worse distractors too",
    ("up", "unclear"): "evidence helped, the rest is not decided",
    ("down", "unclear"): "lost evidence hurt, the rest is not decided",
    ("flat", "unclear"): "not through the evidence, the rest is not decided",
    ("unclear", "up"): "better distractors helped, the evidence path is not decided",
    ("unclear", "down"): "worse distractors hurt, the evidence path is not decided",
    ("unclear", "flat"): "not through distractors, the evidence path is not decided",
}
"""What the two paths say together; *distractors* stands for all but the evidence."""


def reading(evidence: State, other: State, through: float, beside: float) -> str:
    """The verdict on the two paths.

    Args:
        evidence: State of the evidence path.
        other: State of the other path.
        through: Estimate of the evidence path.
        beside: Estimate of the other path.
    """
    if {evidence, other} == {"up", "down"}:
        return _against(through, beside)
    return _VERDICTS.get((evidence, other), NOT_ENOUGH)


def _against(through: float, beside: float) -> str:
    """The verdict on two paths that pull in opposite directions."""
    if through > 0:
        eaten = -beside / through
        much = "all" if eaten >= 1 else "most" if eaten >= _MOST else "some"
        return f"evidence helped, distractors ate {much} of it"
    made_up = -beside / through if through else 1.0
    much = "all" if made_up >= 1 else "most" if made_up >= _MOST else "some"
    return f"lost evidence hurt, better distractors made up for {much} of it"


def mediation(table: ScoreTable, analysis: Analysis) -> Analysed:
    """Split the effect of a swapped stage by the path it takes.

    1. Two edited contexts make the mixed arms observable: control's passages with the gold
       status of the treatment, and the reverse.
    2. The evidence path is the mean of its effects in both orders, and so is the other
       path; they add up to the total effect in every question and are one family.
    3. Beside them stands the split by what became of the evidence, which is descriptive.
       Without both edited contexts it is all there is, and no path is claimed.
    """
    absent = lacking(table.study, analysis, ROLES)
    if {"B", "R"} & set(absent):
        return unsplit(table, analysis, absent)
    found = opened(table, analysis)
    if found.refusal:
        return refuse(found)
    moved = transitions(found)
    return _described(found, moved, absent) if absent else _split(found, moved)


def _split(found: Opened, moved: Transitions | None) -> Analysed:
    whole, both, ordered = (found.judge(e) for e in ((total(),), paths(), orders()))
    apart = found.judge_apart((*paths(), total()))
    families = (whole, both, ordered)
    beside = {WHOLE: whole.terms, BOTH_ORDERS: ordered.terms}
    if moved is not None:
        beside[BY_EVIDENCE] = moved.terms
    result = AnalysisResult(
        id=found.analysis.id,
        kind=found.analysis.kind,
        order="",
        population=found.scores.population,
        total=whole[TOTAL].effect or 0.0,
        terms=both.terms,
        cells=found.means(),
        strata=strata(apart),
        beside=beside,
    )
    licence = found.licence(families)
    effects = (*effects_of((*families, apart)), *_effects(moved))
    return Analysed(_conclusion(found, licence, families, apart, moved), result, effects)


def _described(found: Opened, moved: Transitions | None, absent: tuple[str, ...]) -> Analysed:
    """The whole effect and its descriptive split, where an edited context is missing."""
    whole = found.judge((total(),))
    licence = found.licence((whole,))
    label = weakest((licence.label, "descriptive"))
    names = listing([f"'{role}'" for role in absent])
    denial = (
        f"No path is claimed, since {count(len(absent), 'edited context')} "
        f"({names}) {'was' if len(absent) == 1 else 'were'} not run."
    )
    result = AnalysisResult(
        id=found.analysis.id,
        kind=found.analysis.kind,
        order="",
        population=found.scores.population,
        total=whole[TOTAL].effect or 0.0,
        terms=moved.terms if moved is not None else (),
        cells=found.means(),
        beside={WHOLE: whole.terms},
    )
    conclusion = Conclusion(
        contrast=found.analysis.id,
        verdict="no path claimed",
        label=label,
        sentences=(
            denial,
            _association(found.teller, whole[TOTAL]),
            *_by_evidence(found.teller, moved),
        ),
        limits=licence.limits,
        settle="run the mediation design, which edits the gold of both contexts",
        owner="",
        effects=(whole[TOTAL].id,),
    )
    return Analysed(conclusion, result, (*whole.effects, *_effects(moved)))


def _effects(moved: Transitions | None) -> tuple[Effect, ...]:
    return () if moved is None else tuple(moved.effects.values())


# ── in words ────────────────────────────────────────────────────────────────────────────


def _conclusion(
    found: Opened,
    licence: Licence,
    families: tuple[Family, Family, Family],
    apart: Family | None,
    moved: Transitions | None,
) -> Conclusion:
    whole, both, ordered = families
    teller, effect = found.teller, whole[TOTAL]
    doing = teller.everything()
    verdict = unattributed(licence.label)
    said: tuple[str, ...] = (teller.association(effect, licence),)
    if licence.causal:
        states = [e.state for e in both.effects]
        values = [e.effect or 0.0 for e in both.effects]
        verdict = ", ".join(f"{e.measure} {STATES[e.state]}" for e in both.effects)
        if teller.judges_answers:
            verdict = reading(states[0], states[1], values[0], values[1])
        held = f"with reader {found.study.reader} held fixed"
        said = (
            *teller.headline(effect, doing, held),
            _paths(teller, both),
            *(_estimated(both, verdict) if teller.judges_answers else ()),
            _orders(teller, ordered),
            *_by_evidence(teller, moved),
        )
    return Conclusion(
        contrast=found.analysis.id,
        verdict=verdict,
        label=licence.label,
        sentences=(*said, *teller.apart(apart[TOTAL] if apart is not None else None, doing)),
        limits=licence.limits,
        settle=teller.settle(both.effects) if licence.causal else way_out(licence.label),
        owner=_owner(both) if licence.causal and teller.judges_answers else "",
        effects=tuple(e.id for e in effects_of(families)),
    )


def _paths(teller: Teller, both: Family) -> str:
    return (
        f"Through the evidence, the gold that arrives or is lost: {teller.figure(both[EVIDENCE])}; "
        f"through everything else, which is distractors, order and length: "
        f"{teller.figure(both[OTHER])}."
    )


def _estimated(both: Family, verdict: str) -> tuple[str, ...]:
    """The reading of the estimates where a path is not decided."""
    through, beside = both[EVIDENCE], both[OTHER]
    if "unclear" not in (through.state, beside.state):
        return (f"So {_so(verdict)}.",) if verdict != NOT_ENOUGH else ()
    one, other = through.effect or 0.0, beside.effect or 0.0
    undecided = listing([e.measure for e in both.effects if e.state == "unclear"])
    if one * other < 0:
        return (f"As estimated, {_against(one, other)}, but the {undecided} is not decided.",)
    return (f"The {undecided} is not decided.",)


def _so(verdict: str) -> str:
    return verdict if not verdict.startswith("no ") else f"there is {verdict}"


def _orders(teller: Teller, ordered: Family) -> str:
    """Both orders, whose difference is the interaction of the paths."""
    direct, rest, reverse, first = ordered.effects
    return (
        f"In either order: evidence {number(direct)} among control's distractors and "
        f"{number(reverse)} among the treatment's, everything else {number(rest)} with the "
        f"treatment's evidence and {number(first)} with control's."
    )


def _association(teller: Teller, effect: Effect) -> str:
    return (
        f"{teller.measure} differs by {number(effect)} between '{effect.arms[1]}' and "
        f"'{effect.arms[0]}' ({teller.statistics(effect)})."
    )


def _by_evidence(teller: Teller, moved: Transitions | None) -> tuple[str, ...]:
    """The descriptive split, and what the questions say whose evidence stayed."""
    if moved is None:
        return (
            "Whether the evidence was in the context was not measured of every question, so the "
            "effect is not split by what became of it.",
        )
    at = places(next(iter(moved.effects.values()))) if moved.effects else 3
    each = ", ".join(
        f"{signed(term.value, max(3, at))} where it is {term.name} ({count(term.n, 'question')})"
        for term in moved.terms
    )
    said = [f"By what became of the evidence, which is descriptive: {each}."]
    kept = moved.effects.get(KEPT)
    if kept is None:
        return tuple(said)
    where = f"On the {count(kept.n, 'question')} whose evidence was there before and after"
    figure = teller.figure(kept)
    if kept.state in ("up", "down"):
        said.append(
            f"{where}, {teller.measure} moved too ({figure}): the stage acts through more than "
            "the presence of the evidence."
        )
    elif kept.state == "flat":
        said.append(f"{where}, {teller.measure} did not move by more than the margin ({figure}).")
    return tuple(said)


def _owner(both: Family) -> str:
    if both[OTHER].state == "down":
        return owners.CONTEXT
    return owners.RETRIEVER if both[EVIDENCE].state == "down" else ""

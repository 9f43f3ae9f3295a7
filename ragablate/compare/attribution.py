"""From one pipeline to another: which stage's change did it, shared out without remainder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragablate.compare import owners
from ragablate.compare.analysed import Analysed
from ragablate.compare.combining import TOTAL, along_order, roles, sequence, total
from ragablate.compare.factorial import TOGETHER, altering, combined, quoted_shares, together
from ragablate.compare.families import Family
from ragablate.compare.inference.naming import Naming, name_top
from ragablate.compare.labels import Licence, unattributed, way_out
from ragablate.compare.populations import clusters
from ragablate.compare.scores import ScoreTable
from ragablate.compare.several import (
    Opened,
    effects_of,
    lacking,
    opened,
    refuse,
    strata,
)
from ragablate.compare.told import listing
from ragablate.compare.unsplit import unsplit
from ragablate.records import Analysis, AnalysisResult, Conclusion, Effect, Term

NOT_ENOUGH = "not enough evidence"
NO_CHANGE = "no material change"
CANCEL = "changes cancel out"

_MOVED = ("up", "down")
_OWNERS: Mapping[str, str] = {
    "chunker": owners.RETRIEVER,
    "rewriter": owners.RETRIEVER,
    "retriever": owners.RETRIEVER,
    "reranker": owners.RETRIEVER,
    "gate": owners.GATE,
    "assembler": owners.ASSEMBLER,
    "reader": owners.READER,
}


@dataclass(frozen=True, slots=True)
class Attributed:
    """A total change and the terms that add up to it."""

    total: Family
    """Everything at once."""
    terms: Family
    """Shares of every stage, or the steps of one order."""
    apart: Family | None
    """The same on unanswerable questions."""
    beside: Mapping[str, tuple[Term, ...]]
    """Further contrasts."""
    families: tuple[Family, ...]
    """Every family of the headline's questions."""
    said: tuple[str, ...]
    """How it was shared out."""
    order: str
    """``sequential, order = [...]`` for the steps of one order."""


def attribution(table: ScoreTable, analysis: Analysis) -> Analysed:
    """How much of a change of pipeline is each stage's.

    1. With all combinations: exact Shapley shares, question by question, which add up to
       the total. They are a convention for splitting what stages do together.
    2. With an ``order``: the steps of changing stages one after the other, which add up too
       and depend on the order, so that none is the contribution of its stage.
    3. Shares are one family. The stage with the largest share in the direction of the total
       is named only where it beats every other; else those that may be it are listed.
    """
    m = len(analysis.factors)
    needed = along_order(analysis.factors, analysis.order) if analysis.order else roles(m)
    absent = lacking(table.study, analysis, needed)
    if absent:
        return unsplit(table, analysis, absent)
    found = opened(table, analysis)
    if found.refusal:
        return refuse(found)
    terms = _steps(found) if analysis.order else _shares(found)
    licence = found.licence(terms.families)
    naming = _naming(found, terms) if licence.causal and not terms.order else None
    return Analysed(
        _conclusion(found, terms, licence, naming),
        _result(found, terms, naming),
        effects_of((*terms.families, terms.apart)),
    )


def _shares(found: Opened) -> Attributed:
    terms = combined(found, crossed=False)
    return Attributed(
        terms.total,
        terms.shares,
        terms.apart,
        {TOGETHER: terms.total.terms, **together(terms)},
        terms.all,
        (
            f"Averaged over all orders of changing, which shares out the total by convention "
            f"(Shapley): {quoted_shares(found.teller, terms)}.",
            *altering(found.teller, terms),
        ),
        "",
    )


def _steps(found: Opened) -> Attributed:
    analysis, teller = found.analysis, found.teller
    steps = sequence(analysis.factors, analysis.order)
    everything = (total(len(analysis.factors)),)
    whole, terms = found.judge(everything), found.judge(steps)
    order = f"sequential, order = [{', '.join(analysis.order)}]"
    listed = listing([f"{e.measure} {teller.item(e)}" for e in terms.effects])
    return Attributed(
        whole,
        terms,
        found.judge_apart((*steps, *everything)),
        {TOGETHER: whole.terms},
        (whole, terms),
        (
            f"Changed one after the other ({order}), the steps are: {listed}. In another order "
            "the same changes can be worth something else, so no step is what its stage is worth.",
        ),
        order,
    )


def _result(found: Opened, terms: Attributed, naming: Naming | None) -> AnalysisResult:
    return AnalysisResult(
        id=found.analysis.id,
        kind=found.analysis.kind,
        order=terms.order,
        population=found.scores.population,
        total=terms.total[TOTAL].effect or 0.0,
        terms=terms.terms.terms,
        cells=found.means(),
        strata=strata(terms.apart),
        beside=terms.beside,
        named=naming.named or "" if naming is not None else "",
        candidates=naming.candidates if naming is not None and naming.named is None else (),
    )


# ── naming ──────────────────────────────────────────────────────────────────────────────


def _naming(found: Opened, terms: Attributed) -> Naming | None:
    """The stage with the largest share in the direction of a total that is detected.

    Where answers are missing it must be named with all of them counted against it too.
    """
    whole = terms.total[TOTAL]
    if whole.state not in _MOVED or len(terms.terms.effects) < 2:
        return None
    sign = 1 if whole.state == "up" else -1
    detected = {e.measure: e.state == whole.state for e in terms.terms.effects}
    weights = dict(zip(detected, terms.terms.weights, strict=True))
    moved = {
        name: [sign * d for d in found.scores.pairs(w).differences] for name, w in weights.items()
    }
    point = _top(found, moved, detected, found.scores.qids)
    if point.named is None or not found.scores.unmeasured:
        return point
    # The named stage gets the least that missing answers allow, the others the most.
    worst = {
        name: [
            sign * d
            for d in found.scores.worst(w, int((name == point.named) == (sign < 0))).differences
        ]
        for name, w in weights.items()
    }
    again = _top(found, worst, detected, found.scores.asked)
    if again.named == point.named:
        return point
    candidates = tuple(dict.fromkeys((*point.candidates, *again.candidates)))
    return Naming(None, candidates, point.p_values)


def _top(
    found: Opened,
    moved: Mapping[str, Sequence[float]],
    detected: Mapping[str, bool],
    qids: Sequence[str],
) -> Naming:
    return name_top(
        moved,
        detected,
        clusters(found.study, qids),
        replicates=found.scores.replicates,
        alpha=found.study.alpha,
        seed=found.study.seed,
    )


# ── in words ────────────────────────────────────────────────────────────────────────────


def _conclusion(
    found: Opened, terms: Attributed, licence: Licence, naming: Naming | None
) -> Conclusion:
    teller, whole = found.teller, terms.total[TOTAL]
    doing = teller.everything()
    named = naming.named if naming is not None else None
    worse = whole.state == "down" and teller.judges_answers
    if not licence.causal:
        verdict = unattributed(licence.label)
        said: tuple[str, ...] = (teller.association(whole, licence),)
        rests: tuple[Effect, ...] = (whole,)
    else:
        verdict = _verdict(terms, whole, naming, teller.directions)
        said = (
            *teller.headline(whole, doing, "with all else held fixed"),
            *terms.said,
            *_named(naming),
        )
        rests = effects_of(terms.families)
    return Conclusion(
        contrast=found.analysis.id,
        verdict=verdict,
        label=licence.label,
        sentences=(*said, *teller.apart(terms.apart[TOTAL] if terms.apart else None, doing)),
        limits=licence.limits,
        settle=teller.settle((whole, *terms.terms.effects))
        if licence.causal
        else way_out(licence.label),
        owner=_OWNERS.get(named or "", "") if worse else "",
        effects=tuple(effect.id for effect in rests),
    )


def _verdict(
    terms: Attributed, whole: Effect, naming: Naming | None, directions: tuple[str, str]
) -> str:
    states = {effect.state for effect in terms.terms.effects}
    if whole.state == "flat":
        return CANCEL if {"up", "down"} <= states else NO_CHANGE
    if whole.state not in _MOVED:
        moved = [f"{e.measure} {e.state}" for e in terms.terms.effects if e.state in _MOVED]
        return f"{listing(moved)}; the total is not decided" if moved else NOT_ENOUGH
    came = directions[whole.state == "down"]
    if terms.order:
        return f"{came}; the steps depend on their order"
    if naming is None:
        return came
    if naming.named is not None:
        return f"{came}; largest share: {naming.named}"
    return f"{came}; which stage did most is not decided"


def _named(naming: Naming | None) -> tuple[str, ...]:
    if naming is None:
        return ()
    if naming.named is not None:
        return (
            f"The {naming.named} has the largest share: it beats every other stage's by the exact "
            "test on the same questions.",
        )
    if not naming.candidates:
        return ()
    listed = listing([f"the {name}" for name in naming.candidates])
    if len(naming.candidates) == 1:
        return (f"The largest share is that of {listed}, but it is not detected by itself.",)
    return (f"Which stage has the largest share is not decided: {listed} cannot be told apart.",)

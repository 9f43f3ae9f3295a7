"""Several variables in all combinations: what each change is worth, and with what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragablate.compare.analysed import Analysed
from ragablate.compare.combining import (
    TOTAL,
    alone,
    interactions,
    last,
    roles,
    shares,
    total,
)
from ragablate.compare.families import Family
from ragablate.compare.labels import Licence, unattributed, way_out
from ragablate.compare.phrases import number
from ragablate.compare.scores import ScoreTable
from ragablate.compare.several import (
    Opened,
    effects_of,
    lacking,
    opened,
    refuse,
    strata,
)
from ragablate.compare.told import Teller, capital, listing
from ragablate.compare.unsplit import unsplit
from ragablate.records import Analysis, AnalysisResult, Conclusion, Effect, Factor, Term

DEPENDS = "effects depend on each other"
ADDITIVE = "effects add up"
UNSHOWN = "additivity not shown"

SHARED = "averaged over all orders: shares by convention (Shapley)"
TOGETHER = "all changes together"
ALONE = "each change alone"
LAST = "each change after all others"
PAIRS = "pairs of changes: how much each alters the other's effect (descriptive)"


@dataclass(frozen=True, slots=True)
class Combined:
    """All combinations of several changes, estimated and tested."""

    total: Family
    """Every change at once."""
    simple: Family
    """With two variables their four effects and the interaction, as one family; with more,
    each change alone."""
    shares: Family
    """Shares of the total by convention."""
    last: Family | None
    """Each change after all others; with two variables among the simple effects."""
    pairs: Family | None
    """Interactions of pairs; with two variables among the simple effects."""
    apart: Family | None
    """The total, and what adds up to it, on unanswerable questions."""

    @property
    def all(self) -> tuple[Family, ...]:
        """Every family of the headline's questions."""
        every = (self.total, self.simple, self.shares, self.last, self.pairs)
        return tuple(family for family in every if family is not None)


def combined(found: Opened, crossed: bool) -> Combined:
    """Every term of a design with all combinations.

    Args:
        found: Its scores.
        crossed: Whether the simple effects of two variables are the headline, not the shares.
    """
    factors = found.analysis.factors
    m = len(factors)
    everything = (total(m),)
    share = shares(factors)
    if crossed:
        simple = (*alone(factors), *last(factors), *interactions(factors))
        additive = (*alone(factors), *interactions(factors))
        return Combined(
            found.judge(everything),
            found.judge(simple),
            found.judge(share),
            None,
            None,
            found.judge_apart((*additive, *everything)),
        )
    return Combined(
        found.judge(everything),
        found.judge(alone(factors) if m > 1 else ()),
        found.judge(share),
        found.judge(last(factors)) if m > 1 else None,
        found.judge(interactions(factors)) if m > 1 else None,
        found.judge_apart((*share, *everything)),
    )


def factorial(table: ScoreTable, analysis: Analysis) -> Analysed:
    """What every change is worth, given the others, and whether that depends on them.

    1. Two variables: the four simple effects and the interaction are one family; control
       plus both effects alone plus the interaction is the arm with both.
    2. More: the shares, which add up to the total, are the headline family; effects alone
       and after all others, and interactions of pairs, stand beside them.
    3. An interaction that is detected forbids to say what a change is worth without saying
       with what; one shown to lie within the margin allows to quote the shares.
    """
    absent = lacking(table.study, analysis, roles(len(analysis.factors)))
    if absent:
        return unsplit(table, analysis, absent)
    found = opened(table, analysis)
    if found.refusal:
        return refuse(found)
    terms = combined(found, crossed=len(analysis.factors) == 2)
    licence = found.licence(terms.all)
    return Analysed(
        _conclusion(found, terms, licence),
        _result(found, terms),
        effects_of((*terms.all, terms.apart)),
    )


def _result(found: Opened, terms: Combined) -> AnalysisResult:
    m = len(found.analysis.factors)
    simple = terms.simple.terms
    beside: dict[str, tuple[Term, ...]] = {TOGETHER: terms.total.terms}
    if m == 2:
        additive = (*simple[:2], simple[4])
        beside |= {LAST: simple[2:4], SHARED: terms.shares.terms}
    else:
        additive = terms.shares.terms
        beside |= together(terms)
    return AnalysisResult(
        id=found.analysis.id,
        kind=found.analysis.kind,
        order="",
        population=found.scores.population,
        total=terms.total[TOTAL].effect or 0.0,
        terms=additive,
        cells=found.means(),
        strata=strata(terms.apart),
        beside=beside,
    )


def together(terms: Combined) -> Mapping[str, tuple[Term, ...]]:
    """What stands beside shares that are the headline."""
    groups = ((ALONE, terms.simple), (LAST, terms.last), (PAIRS, terms.pairs))
    return {name: group.terms for name, group in groups if group is not None and group.effects}


# ── in words ────────────────────────────────────────────────────────────────────────────


def _conclusion(found: Opened, terms: Combined, licence: Licence) -> Conclusion:
    teller, whole = found.teller, terms.total[TOTAL]
    doing = teller.everything()
    apart = teller.apart(terms.apart[TOTAL] if terms.apart else None, doing)
    if not licence.causal:
        verdict = unattributed(licence.label)
        said: tuple[str, ...] = (teller.association(whole, licence),)
        settle = way_out(licence.label)
        rests: tuple[Effect, ...] = (whole,)
    else:
        two = len(found.analysis.factors) == 2
        verdict, more = _two(teller, terms) if two else _more(teller, terms)
        said = (*teller.headline(whole, doing, "with all else held fixed"), *more)
        rests = effects_of(terms.all)
        settle = teller.settle(terms.simple.effects if two else terms.shares.effects)
    return Conclusion(
        contrast=found.analysis.id,
        verdict=verdict,
        label=licence.label,
        sentences=(*said, *apart),
        limits=licence.limits,
        settle=settle,
        owner="",
        effects=tuple(effect.id for effect in rests),
    )


def _two(teller: Teller, terms: Combined) -> tuple[str, tuple[str, ...]]:
    """The verdict on two variables, with each change given the other."""
    first, second = teller.analysis.factors
    a0, b0, a1, b1, both = terms.simple.effects
    given = (
        f"{_given(teller, first, second, (teller.item(a0), teller.item(a1)))}.",
        f"{_given(teller, second, first, (teller.item(b0), teller.item(b1)))}.",
    )
    quoted = quoted_shares(teller, terms)
    if both.state in ("up", "down"):
        worth = (
            _given(teller, first, second, (number(a0), number(a1)), " is worth "),
            _given(teller, second, first, (number(b0), number(b1)), " is worth "),
        )
        return DEPENDS, (
            *given,
            f"The effects depend on each other (interaction {teller.figure(both)}): {worth[0]}; "
            f"{worth[1]}. Neither is worth anything without saying with what.",
        )
    if both.state == "flat":
        return ADDITIVE, (
            *given,
            f"The effects add up within the margin of {teller.margin} (interaction "
            f"{teller.figure(both)}), so each may be quoted averaged over the other's two "
            f"levels: {quoted}.",
        )
    return UNSHOWN, (
        *given,
        f"Whether the effects depend on each other is not decided: interaction "
        f"{teller.figure(both)}.",
        f"Averaged over the other's two levels, which shares out the total by convention "
        f"(additivity not shown): {quoted}.",
    )


def _given(
    teller: Teller, changed: Factor, other: Factor, said: tuple[str, str], verb: str = ": "
) -> str:
    """A change at both levels of the other variable, as a clause."""
    doing = teller.replacing(changed)
    doing = doing if verb != ": " else capital(doing)
    held = f"{other.variable} {other.control_level}" if other.control_level else "the control's"
    return f"{doing}{verb}{said[0]} with {held}, {said[1]} with {other.level}"


def _more(teller: Teller, terms: Combined) -> tuple[str, tuple[str, ...]]:
    """The verdict on three variables or more."""
    pairs = terms.pairs.effects if terms.pairs is not None else ()
    states = {effect.state for effect in pairs}
    shared = (
        f"Averaged over all orders of changing, which shares out the total by convention "
        f"(Shapley): {quoted_shares(teller, terms)}."
    )
    if states & {"up", "down"}:
        verdict = DEPENDS
    elif states == {"flat"}:
        verdict = ADDITIVE
    else:
        verdict = UNSHOWN
    return verdict, (shared, *altering(teller, terms))


def altering(teller: Teller, terms: Combined) -> tuple[str, ...]:
    """How much each two of many changes alter each other's effect."""
    pairs = terms.pairs.effects if terms.pairs is not None else ()
    if not pairs:
        return ()
    listed = listing([f"{e.measure} {teller.item(e)}" for e in pairs])
    detected = [e.measure for e in pairs if e.state in ("up", "down")]
    if detected:
        text = (
            f"The effects depend on each other ({listing(detected)}): no change is worth "
            "anything without saying with what."
        )
    elif all(e.state == "flat" for e in pairs):
        text = f"No pair alters the other's effect by more than the margin of {teller.margin}."
    else:
        text = "Additivity is not shown."
    return (
        f"Pairs of changes, by how much each alters the other's effect (averaged over the rest): "
        f"{listed}. {text}",
    )


def quoted_shares(teller: Teller, terms: Combined) -> str:
    """The shares of all variables, as a list."""
    return listing([f"{e.measure} {teller.item(e)}" for e in terms.shares.effects])

"""The terms of a ladder: estimates, tests and intervals, and what missing answers could do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ragablate.compare.effects import Draft, Role, Sample, decision, drafts, finish
from ragablate.compare.inference.intervals import rate_interval
from ragablate.compare.inference.multiplicity import holm
from ragablate.compare.inference.states import (
    FEWEST_CHANGED,
    FEWEST_QUESTIONS,
    decide_with_missing,
)
from ragablate.compare.ladder_reasons import split_by_reason
from ragablate.compare.ladder_rungs import (
    JOINT,
    LABEL,
    ONE_SIDED,
    READER,
    READER_OR_LABEL,
    Climb,
)
from ragablate.compare.populations import ANSWERABLE, clusters
from ragablate.compare.scores import Pairs
from ragablate.records import (
    Analysis,
    Contrast,
    ContrastKind,
    Effect,
    Interval,
    State,
    Study,
    Term,
)

Bounds = tuple[Fraction, Fraction]
"""Lowest and highest value that missing answers allow."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one ladder on one set of questions."""

    terms: tuple[Term, ...]
    """In pipeline order; they add up to 1 minus control's score."""
    effects: tuple[Effect, ...]
    """One a rung."""

    @property
    def by_name(self) -> dict[str, Term]:
        """The terms by their names."""
        return {term.name: term for term in self.terms}


def contrast_of(
    analysis: Analysis, before: str, after: str, kind: ContrastKind = "oracle"
) -> Contrast:
    """Two arms of a ladder as a contrast that carries the id of the analysis."""
    return Contrast(
        id=analysis.id,
        experiment=analysis.id.split("/")[0],
        question=analysis.question,
        kind=kind,
        variable="context",
        level=after,
        control=analysis.arms[before],
        treatment=analysis.arms[after],
        measure=analysis.measure,
        margin=analysis.margin,
    )


def terms_of(climbed: Climb, analysis: Analysis, study: Study) -> Terms:
    """Every term with its test, interval and state.

    The signed terms are one family under Holm's adjustment; the terms that cannot be
    negative have a Wilson interval that is compared with the margin: ``up`` is a loss above
    it, ``flat`` one within it. Where questions are missing on a rung the state must be the
    same on the complete questions and at both worst cases.
    """
    reasons = split_by_reason(climbed, study.reasons)
    effects = _signed(climbed, analysis, study)
    signed = [_term(effect, climbed, reasons) for effect in effects]
    one_sided = [
        _one_sided(name, climbed, analysis, study, reasons) for name in shown_one_sided(climbed)
    ]
    return Terms((*signed, *one_sided), tuple(effects))


def shown_one_sided(climbed: Climb) -> tuple[str, ...]:
    """The terms behind the rungs that this ladder tells apart.

    Reader and label are told apart where faithfulness was measured. What it could not be
    measured on (an answer without a claim) stays a term of both.
    """
    lost = {name: sum(climbed.columns[name]) for name in ONE_SIDED}
    told_apart = climbed.supported and (
        bool(lost[READER] or lost[LABEL]) or not lost[READER_OR_LABEL]
    )
    if not told_apart:
        return READER_OR_LABEL, JOINT
    return READER, LABEL, *((READER_OR_LABEL,) if lost[READER_OR_LABEL] else ()), JOINT


# ── signed terms ────────────────────────────────────────────────────────────────────────


def _signed(climbed: Climb, analysis: Analysis, study: Study) -> list[Effect]:
    """Every rung as pairs, the score before it and after it, judged as one family."""
    paths = [q.path(climbed.steps) for q in climbed.complete]
    samples = []
    for place, rung in enumerate(climbed.steps):
        sides = [path[place] for path in paths], [path[place + 1] for path in paths]
        arms = rung.before, rung.after
        samples.append(sample_of(climbed, analysis, arms, rung.name, sides, role="term"))
    bounds = [q.bounds(climbed.steps) for q in climbed.incomplete]
    worst = [[each[rung.name] for each in bounds] for rung in climbed.steps]
    return effects_with_missing(samples, worst, climbed, study, holm)


def sample_of(
    climbed: Climb,
    analysis: Analysis,
    arms: tuple[str, str],
    name: str,
    sides: tuple[Sequence[Fraction], Sequence[Fraction]],
    *,
    role: Role = "signal",
    bound: float = 1.0,
) -> Sample:
    """Two columns over the common questions as a sample.

    Args:
        climbed: The ladder.
        analysis: Its declaration.
        arms: Roles of the two arms the columns rest on.
        name: What is compared.
        sides: Control's column and the treatment's.
        role: What the effect is for.
        bound: Largest absolute difference that is possible.
    """
    pairs = Pairs(
        qids=climbed.qids,
        control=tuple(map(float, sides[0])),
        treatment=tuple(map(float, sides[1])),
        unmeasured=len(climbed.incomplete),
        replicates=climbed.replicates,
        whole=climbed.whole,
    )
    contrast = contrast_of(analysis, *arms)
    compared = contrast.control, contrast.treatment
    return Sample(contrast, compared, name, ANSWERABLE, role, pairs, bound)


def effects_with_missing(
    samples: Sequence[Sample],
    worst: Sequence[Sequence[Bounds]],
    climbed: Climb,
    study: Study,
    adjust: Callable[[Sequence[float]], Sequence[float]] = tuple,
) -> list[Effect]:
    """Effects whose states hold whatever the missing answers were.

    Args:
        samples: Over the common questions.
        worst: For each sample the lowest and highest difference of every incomplete question.
        climbed: The ladder.
        study: The study.
        adjust: Adjusts the p-values of the samples as a family; by default for nothing.
    """
    found = _tested(samples, study)
    ps = [draft.flip.p for draft in found]
    adjusted = adjust(ps)
    decided = [decision(d, p, study.alpha) for d, p in zip(found, adjusted, strict=True)]
    if climbed.incomplete:
        pairs = list(zip(samples, worst, strict=True))
        sides = [_tested([_worst(s, climbed, b, side) for s, b in pairs], study) for side in (0, 1)]
        for i, drafted in enumerate(zip(*sides, strict=True)):
            low, high = (
                decision(d, adjust([*ps[:i], d.flip.p, *ps[i + 1 :]])[i], study.alpha)
                for d in drafted
            )
            decided[i] = decide_with_missing(decided[i], low, high)
    return [
        finish(draft, state, p, study)
        for draft, state, p in zip(found, decided, adjusted, strict=True)
    ]


def _tested(samples: Sequence[Sample], study: Study) -> list[Draft]:
    return [draft for draft in drafts(samples, study) if draft is not None]


def _worst(sample: Sample, climbed: Climb, bounds: Sequence[Bounds], side: int) -> Sample:
    """A sample with the unmeasured questions most against it (0) or most for it (1)."""
    differences = [float(each[side]) for each in bounds]
    pairs = replace(
        sample.pairs,
        qids=(*sample.pairs.qids, *(q.qid for q in climbed.incomplete)),
        control=(*sample.pairs.control, *(max(0.0, -d) for d in differences)),
        treatment=(*sample.pairs.treatment, *(max(0.0, d) for d in differences)),
        unmeasured=0,
    )
    return replace(sample, pairs=pairs)


def _term(effect: Effect, climbed: Climb, reasons: Mapping[str, Mapping[str, Fraction]]) -> Term:
    values = climbed.columns[effect.measure]
    return Term(
        name=effect.measure,
        value=float(sum(values) / len(values)),
        n=effect.n,
        fixed=effect.better,
        broke=effect.worse,
        ci95=effect.ci95,
        p=effect.p,
        p_adjusted=effect.p_adjusted,
        state=effect.state,
        effect=effect.id,
        reasons=_per_question(reasons.get(effect.measure, {}), effect.n),
    )


def _per_question(parts: Mapping[str, Fraction], n: int) -> dict[str, float]:
    return {reason: float(parts[reason] / n) for reason in sorted(parts)}


# ── terms that cannot be negative ───────────────────────────────────────────────────────


def _one_sided(
    name: str,
    climbed: Climb,
    analysis: Analysis,
    study: Study,
    reasons: Mapping[str, Mapping[str, Fraction]],
) -> Term:
    values = merged(climbed, name)
    n, margin = len(values), analysis.margin
    interval = rate_interval([float(v) for v in values], clusters=clusters(study, climbed.qids))
    state = against_margin(interval, margin, values)
    if climbed.incomplete:
        every = (*climbed.qids, *(q.qid for q in climbed.incomplete))
        keys = clusters(study, every)
        for side in (0, 1):
            unmeasured = [q.bounds(climbed.steps)[name][side] for q in climbed.incomplete]
            bounded = (*values, *unmeasured)
            rates = [float(v) for v in bounded]
            if against_margin(rate_interval(rates, clusters=keys), margin, bounded) != state:
                state = "unclear"
    return Term(
        name=name,
        value=float(sum(values) / n),
        n=n,
        fixed=sum(v > 0 for v in values),
        broke=0,
        ci95=interval,
        p=None,
        p_adjusted=None,
        state=state,
        reasons=_per_question(reasons.get(name, {}), n),
    )


def merged(climbed: Climb, name: str) -> tuple[Fraction, ...]:
    """A term of every common question; reader and label are one where nothing splits them."""
    if name != READER_OR_LABEL or READER in shown_one_sided(climbed):
        return climbed.columns[name]
    return reader_and_label(climbed)


def reader_and_label(climbed: Climb) -> tuple[Fraction, ...]:
    """What is lacking with exactly the gold, where the evidence was there before any repair."""
    names = (READER, LABEL, READER_OR_LABEL)
    columns = [climbed.columns[name] for name in names]
    return tuple(sum(parts, Fraction(0)) for parts in zip(*columns, strict=True))


def against_margin(interval: Interval, margin: float, losses: Sequence[Fraction]) -> State:
    """Whether a loss is above the margin, within it, or neither can be said.

    Fewer than 6 questions that lose never show that it is above, and fewer than 20 questions
    never that it is within: what holds of a difference holds of a loss.
    """
    if interval.low > margin and sum(loss > 0 for loss in losses) >= FEWEST_CHANGED:
        return "up"
    within = interval.high <= margin and len(losses) >= FEWEST_QUESTIONS
    return "flat" if within else "unclear"

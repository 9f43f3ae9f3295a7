"""Which stage of a ladder loses the most, where the data tell it from every other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ragablate.compare.effects import Sample, effects_of
from ragablate.compare.inference.naming import Naming, name_top
from ragablate.compare.ladder_rungs import (
    READER,
    READER_OR_LABEL,
    ZERO,
    Climb,
)
from ragablate.compare.ladder_terms import (
    Terms,
    reader_and_label,
    sample_of,
    shown_one_sided,
)
from ragablate.compare.populations import clusters
from ragablate.records import Analysis, Effect, Study

Column = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """The stages of a ladder, ranked by what they lose."""

    named: str
    """The stage that loses more than every other; empty where none can be named."""
    candidates: tuple[str, ...]
    """Stages that cannot be told from the largest, largest first, if more than none lose."""
    against: tuple[Effect, ...]
    """The largest loss minus each other one, on the common questions."""


def rank(climbed: Climb, terms: Terms, analysis: Analysis, study: Study) -> Ranked:
    """Name the stage with the largest loss, or those among which it is.

    Label and joint losses are no stage and do not take part. Where answers are missing, or
    where it was not measured whether the reader or the label failed, the stage must also
    be named with all of that counted against it.
    """
    losses = _losses(climbed)
    detected = {t.name: t.state == "up" for t in terms.terms if t.p is not None}
    point = _named(losses, detected, climbed, study, climbed.qids)
    if not point.candidates:
        return Ranked("", (), ())
    named, candidates = point.named or "", point.candidates
    if named and (climbed.incomplete or READER_OR_LABEL in shown_one_sided(climbed)):
        every = (*climbed.qids, *(q.qid for q in climbed.incomplete))
        worst = _named(_worst(losses, climbed, named), detected, climbed, study, every)
        if worst.named != named:
            named, candidates = "", tuple(dict.fromkeys((*candidates, *worst.candidates)))
    top, *others = sorted(losses, key=lambda name: -sum(losses[name], ZERO))
    against = [_difference(climbed, analysis, losses, (top, other)) for other in others]
    return Ranked(named, () if named else candidates, tuple(effects_of(against, study)))


def _losses(climbed: Climb) -> dict[str, Column]:
    """What each stage loses on every common question.

    Losses of which it was not measured whether they are the reader's count as the reader's.
    """
    found = {rung.name: climbed.columns[rung.name] for rung in climbed.steps}
    if READER not in shown_one_sided(climbed):
        return {**found, READER_OR_LABEL: reader_and_label(climbed)}
    own, shared = climbed.columns[READER], climbed.columns[READER_OR_LABEL]
    return {**found, READER: tuple(a + b for a, b in zip(own, shared, strict=True))}


def _worst(losses: Mapping[str, Column], climbed: Climb, top: str) -> dict[str, Column]:
    """Over all questions the least that the top stage can lose, and the most the others can."""
    bounds = [q.bounds(climbed.steps) for q in climbed.incomplete]
    found = {
        name: (*values, *(each[name][name != top] for each in bounds))
        for name, values in losses.items()
    }
    if top == READER:
        found[READER] = (*climbed.columns[READER], *(each[READER][0] for each in bounds))
    return found


def _named(
    losses: Mapping[str, Column],
    detected: Mapping[str, bool],
    climbed: Climb,
    study: Study,
    qids: Sequence[str],
) -> Naming:
    return name_top(
        {name: [float(v) for v in values] for name, values in losses.items()},
        detected,
        clusters(study, qids),
        replicates=climbed.replicates,
        alpha=study.alpha,
        seed=study.seed,
    )


def _difference(
    climbed: Climb, analysis: Analysis, losses: Mapping[str, Column], names: tuple[str, str]
) -> Sample:
    """The largest loss minus another, paired by question."""
    top, other = names
    arms = climbed.steps[0].before, "O"
    sides = losses[other], losses[top]
    return sample_of(climbed, analysis, arms, f"{top} minus {other}", sides, bound=2.0)

"""Judges held against human labels: how far they agree, and what the labels correct.

Every arm is held against its own labels, because a judge may be lenient to one reader and
strict to another. The labelled answers are taken for a random part of those judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragablate.compare.inference.judge_error import (
    cohen_kappa,
    prediction_powered,
    rogan_gladen,
)
from ragablate.compare.numbers import between, count, percent, rate_between, signed
from ragablate.compare.populations import ANSWERABLE, UNANSWERABLE, answerable, unanswerable
from ragablate.compare.scores import ScoreTable
from ragablate.records import Contrast, CorrectedEffect, HumanLabel, JudgedRate

_Labels = Mapping[tuple[str, str], Sequence[HumanLabel]]
_LEAST = 2


def judged_rates(table: ScoreTable) -> tuple[JudgedRate, ...]:
    """Every labelled measure of every arm, by arm and measure, answerable questions first.

    Sources: Cohen, "A coefficient of agreement for nominal scales"; Rogan and Gladen,
    "Estimating prevalence from the results of a screening test"; Angelopoulos and others,
    "Prediction-powered inference".
    """
    study = table.study
    populations = {ANSWERABLE: answerable(study), UNANSWERABLE: unanswerable(study)}
    found = (
        _rate(table, arm, measure, population, qids, labels)
        for (arm, measure), labels in _by_column(study.labels).items()
        for population, qids in populations.items()
    )
    return tuple(rate for rate in found if rate is not None)


def _by_column(labels: Sequence[HumanLabel]) -> _Labels:
    found: dict[tuple[str, str], list[HumanLabel]] = {}
    for label in sorted(labels, key=lambda x: (x.arm, x.measure, x.qid, x.replicate)):
        found.setdefault((label.arm, label.measure), []).append(label)
    return found


def _rate(
    table: ScoreTable,
    arm: str,
    measure: str,
    population: str,
    qids: Sequence[str],
    labels: Sequence[HumanLabel],
) -> JudgedRate | None:
    inside = set(qids)
    own = [label for label in labels if label.qid in inside]
    means = {qid: mean for qid in qids if (mean := table.mean(arm, measure, qid)) is not None}
    pairs = [(x, value) for x in own if (value := _judged(table, x)) is not None]
    if not own or not means:
        return None
    binary = bool(pairs) and all(v in (0.0, 1.0) and x.label in (0.0, 1.0) for x, v in pairs)
    agreement = cohen_kappa([v for _, v in pairs], [x.label for x, _ in pairs]) if binary else None
    sensitivity = _share(pairs, 1.0) if binary else None
    specificity = _share(pairs, 0.0) if binary else None
    judged = sum(means.values()) / len(means)
    moved = {x.qid: means[x.qid] + x.label - v for x, v in reversed(pairs) if x.qid in means}
    places = {qid: place for place, qid in enumerate(means)}
    human = {places[qid]: value for qid, value in moved.items()}
    powered = prediction_powered(list(means.values()), human) if len(human) >= _LEAST else None
    corrected = None
    if sensitivity is not None and specificity is not None:
        corrected = rogan_gladen(judged, sensitivity, specificity)
    return JudgedRate(
        arm, measure, population, len(means), len(pairs), len(own) - len(pairs), judged,
        agreement.observed if agreement else None,
        agreement.kappa if agreement else None,
        agreement.interval if agreement else None,
        sensitivity, specificity, corrected,
        powered.estimate if powered else None,
        powered.interval if powered else None,
    )  # fmt: skip


def _judged(table: ScoreTable, label: HumanLabel) -> float | None:
    """The judge's value of the decode that was labelled."""
    values = table.values(label.arm, label.measure, label.qid)
    return values[label.replicate - 1] if label.replicate <= len(values) else None


def _share(pairs: Sequence[tuple[HumanLabel, float]], wanted: float) -> float | None:
    """Of the answers labelled so, the share that the judge gave the same."""
    of = [value == wanted for x, value in pairs if x.label == wanted]
    return sum(of) / len(of) if of else None


def corrected_effects(table: ScoreTable) -> tuple[CorrectedEffect, ...]:
    """The declared contrasts with at least two questions that are labelled in both arms."""
    labels = _by_column(table.study.labels)
    found = (_corrected(table, contrast, labels) for contrast in table.study.contrasts)
    return tuple(effect for effect in found if effect is not None)


def _corrected(table: ScoreTable, contrast: Contrast, labels: _Labels) -> CorrectedEffect | None:
    arms, measure = (contrast.control, contrast.treatment), contrast.measure
    pairs = table.pairs(table.reading(measure), arms, answerable(table.study))
    wrong = [_errors(table, labels.get((arm, measure), ())) for arm in arms]
    both = {
        place: difference + wrong[1][qid] - wrong[0][qid]
        for place, (qid, difference) in enumerate(zip(pairs.qids, pairs.differences, strict=True))
        if qid in wrong[0] and qid in wrong[1]
    }
    if len(both) < _LEAST:
        return None
    found = prediction_powered(pairs.differences, both)
    return CorrectedEffect(
        contrast.id, measure, ANSWERABLE, len(pairs.qids), found.labelled, found.judged,
        found.estimate, found.rectifier, found.se, found.interval,
    )  # fmt: skip


def _errors(table: ScoreTable, labels: Sequence[HumanLabel]) -> dict[str, float]:
    """By qid, label minus the judge's value of the first labelled decode that has one."""
    pairs = ((x, _judged(table, x)) for x in reversed(labels))
    return {x.qid: x.label - value for x, value in pairs if value is not None}


def in_words(rates: Sequence[JudgedRate], effects: Sequence[CorrectedEffect]) -> Iterator[str]:
    """A sentence for every rate and effect, and what they take for granted."""
    for rate in rates:
        yield f"Human labels, {rate.measure} in {rate.arm} ({rate.population}): {_rate_said(rate)}."
    for effect in effects:
        yield (
            f"Human labels, {effect.contrast} on {effect.measure}: judged "
            f"{signed(effect.judged, 3)}, corrected by {count(effect.labelled, 'question')} of "
            f"{effect.n} labelled in both arms {signed(effect.estimate, 3)} "
            f"({between(effect.ci95, 3)}, prediction-powered)."
        )
    if rates:
        yield (
            "Corrections by labels hold where the labelled answers are a random part of all, "
            "chosen without looking at what the judge said, and take questions for independent."
        )


def _rate_said(rate: JudgedRate) -> str:
    said = f"{count(rate.labelled, 'answer')} labelled"
    if rate.unmeasured:
        said += f" and judged, {rate.unmeasured} labelled without a judge's value"
    if rate.agreed is not None:
        said += f", the judge agrees on {percent(rate.agreed)}, {_kappa_said(rate)}"
    said += f"; judged {percent(rate.judged)} of {count(rate.n, 'question')}"
    if rate.rogan_gladen is not None:
        said += (
            f", corrected {percent(rate.rogan_gladen)} (Rogan-Gladen, sensitivity "
            f"{rate.sensitivity:.2f}, specificity {rate.specificity:.2f})"
        )
    if rate.estimate is not None and rate.ci95 is not None:
        said += f", {percent(rate.estimate)} ({rate_between(rate.ci95)}, prediction-powered)"
    return said


def _kappa_said(rate: JudgedRate) -> str:
    if rate.kappa is None or rate.kappa_ci95 is None:
        return "Cohen's kappa is not defined where one value was given throughout"
    return f"Cohen's kappa {rate.kappa:.2f} ({rate_between(rate.kappa_ci95)})"

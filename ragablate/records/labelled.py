"""What people said of answers, and what that says of the judges."""

from __future__ import annotations

from dataclasses import dataclass

from ragablate.records.claims import Interval


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """A person's word on one answer."""

    qid: str
    """The question."""
    arm: str
    """The arm that answered."""
    measure: str
    """The measure the label is a value of."""
    label: float
    """In [0, 1], on the scale of the measure."""
    replicate: int = 1
    """The decode, from 1."""


@dataclass(frozen=True, slots=True)
class JudgedRate:
    """A judge's rate in one arm, held against labels of some of the same answers."""

    arm: str
    """The arm."""
    measure: str
    """The measure."""
    population: str
    """``answerable`` or ``unanswerable``."""
    n: int
    """Judged questions."""
    labelled: int
    """Answers with a label and a judge's value."""
    unmeasured: int
    """Labels on answers that the judge left unmeasured."""
    judged: float
    """The judge's mean over the n questions."""
    agreed: float | None
    """Share of labelled answers with the same value; ``None`` unless all are 0 or 1."""
    kappa: float | None
    """Cohen's kappa; ``None`` also where one value was given throughout."""
    kappa_ci95: Interval | None
    """Wilson's interval of the agreement, carried to kappa."""
    sensitivity: float | None
    """Share of answers labelled 1 that the judge gave 1; ``None`` without any."""
    specificity: float | None
    """Share of answers labelled 0 that the judge gave 0; ``None`` without any."""
    rogan_gladen: float | None
    """The rate corrected by both; ``None`` where one is missing, or both are of no use."""
    estimate: float | None
    """The rate corrected by the labels, prediction-powered; ``None`` with fewer than two."""
    ci95: Interval | None
    """Its interval, not held to [0, 1]."""


@dataclass(frozen=True, slots=True)
class CorrectedEffect:
    """A judged paired difference, corrected by questions labelled in both arms."""

    contrast: str
    """Id of the contrast."""
    measure: str
    """Its measure."""
    population: str
    """``answerable``."""
    n: int
    """Complete pairs."""
    labelled: int
    """Of them labelled in both arms."""
    judged: float
    """Mean judged difference."""
    estimate: float
    """Judged mean plus rectifier."""
    rectifier: float
    """Mean of labelled minus judged difference."""
    se: float
    """Standard error of the estimate, over questions."""
    ci95: Interval
    """Prediction-powered, with t quantiles by the labelled questions."""

"""Two changes at once, and one change through two paths: exact arithmetic per question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragablate.compare.inference.arrays import Floats, vector
from ragablate.errors import EvidenceError


@dataclass(frozen=True, slots=True)
class TwoByTwo:
    """The contrasts of a 2x2 factorial, one number a question each."""

    first_old: Floats
    """First factor changed, second at its old value."""
    first_new: Floats
    """First factor changed, second at its new value."""
    second_old: Floats
    """Second factor changed, first at its old value."""
    second_new: Floats
    """Second factor changed, first at its new value."""
    interaction: Floats
    """By how much the first factor's effect differs with the second; in [-2, 2]."""
    first_share: Floats
    """Average of the first factor's two effects: its share of the total by convention."""
    second_share: Floats
    """Average of the second factor's two effects."""
    total: Floats
    """Both changed: ``first_share + second_share``."""


def two_by_two(
    neither: ArrayLike, first: ArrayLike, second: ArrayLike, both: ArrayLike
) -> TwoByTwo:
    """Simple effects, interaction and shares from the four cells of a factorial.

    Args:
        neither: Scores with both factors at their old value.
        first: Scores with the first factor alone changed.
        second: Scores with the second factor alone changed.
        both: Scores with both changed.

    Raises:
        EvidenceError: The cells do not hold the same number of questions.
    """
    y00, y10, y01, y11 = _cells(neither, first, second, both)
    return TwoByTwo(
        first_old=y10 - y00,
        first_new=y11 - y01,
        second_old=y01 - y00,
        second_new=y11 - y10,
        interaction=(y11 + y00) - (y10 + y01),
        first_share=((y10 + y11) - (y00 + y01)) / 2,
        second_share=((y01 + y11) - (y00 + y10)) / 2,
        total=y11 - y00,
    )


@dataclass(frozen=True, slots=True)
class Mediation:
    """One retriever change split by path, one number a question each."""

    total: Floats
    """Treatment minus control."""
    evidence: Floats
    """Through the arrival or loss of evidence: mean of the two orders."""
    other: Floats
    """Through everything else: distractors, order, length."""
    evidence_on_control: Floats
    """The evidence path with everything else as in control."""
    evidence_on_treatment: Floats
    """The evidence path with everything else as in the treatment."""
    other_on_control: Floats
    """The other path with evidence as in control."""
    other_on_treatment: Floats
    """The other path with evidence as in the treatment."""


def mediation(
    control: ArrayLike,
    control_with_evidence: ArrayLike,
    treatment_with_evidence: ArrayLike,
    treatment: ArrayLike,
) -> Mediation:
    """Split a retriever's effect into its evidence path and the rest, exactly.

    The two paths sum to the total in every question. The two orders differ by the
    interaction of the paths.

    Source: VanderWeele, "A unification of mediation and interaction: a 4-way decomposition".

    Args:
        control: Scores of control.
        control_with_evidence: Control's passages with the gold status of the treatment.
        treatment_with_evidence: The treatment's passages with the gold status of control.
        treatment: Scores of the treatment.

    Raises:
        EvidenceError: The arms do not hold the same number of questions.
    """
    b, c01, c10, r = _cells(control, control_with_evidence, treatment_with_evidence, treatment)
    return Mediation(
        total=r - b,
        evidence=((c01 + r) - (b + c10)) / 2,
        other=((c10 + r) - (b + c01)) / 2,
        evidence_on_control=c01 - b,
        evidence_on_treatment=r - c10,
        other_on_control=c10 - b,
        other_on_treatment=r - c01,
    )


def _cells(*cells: ArrayLike) -> list[Floats]:
    """The cells as arrays of equal length."""
    arrays = [vector(cell, "scores") for cell in cells]
    sizes = [len(array) for array in arrays]
    if len(set(sizes)) != 1:
        raise EvidenceError(
            f"cells of {sizes} questions do not pair: every arm needs the same questions."
        )
    return [np.asarray(array) for array in arrays]

"""Judges held against labels, on studies written down by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragablate.compare import compare
from ragablate.records import HumanLabel, Study


def labelled(study: Study, arm: str, values: list[float | None]) -> tuple[HumanLabel, ...]:
    return tuple(
        HumanLabel(qid, arm, "correct", value)
        for qid, value in zip(study.qids, values, strict=False)
        if value is not None
    )


@pytest.fixture
def study(sheet: Any, declare: Any) -> Study:
    """30 questions: control right on 20 of 30 by the judge, the oracle on 25."""
    sheet = sheet()
    sheet.add({("control", "correct"): 1.0, ("oracle", "correct"): 1.0}, 20)
    sheet.add({("control", "correct"): 0.0, ("oracle", "correct"): 1.0}, 5)
    sheet.add({("control", "correct"): 0.0, ("oracle", "correct"): 0.0}, 5)
    return sheet.study(declare("oracle"))


def test_a_rate_is_corrected_by_how_the_judge_errs_in_its_own_arm(study: Study) -> None:
    # Of 20 called right, 18 are; of 10 called wrong, 1 is right.
    truth: list[float | None] = [1.0] * 18 + [0.0] * 2 + [1.0] + [0.0] * 9
    found = compare(replace(study, labels=labelled(study, "control", truth)))
    (rate,) = found.judged_rates
    assert (rate.arm, rate.n, rate.labelled, rate.unmeasured) == ("control", 30, 30, 0)
    assert rate.sensitivity == pytest.approx(18 / 19)
    assert rate.specificity == pytest.approx(9 / 11)
    assert rate.rogan_gladen == pytest.approx((20 / 30 + 9 / 11 - 1) / (18 / 19 + 9 / 11 - 1))
    assert rate.estimate == pytest.approx(19 / 30)
    assert rate.agreed == pytest.approx(27 / 30)
    chance = (20 * 19 + 10 * 11) / 900
    assert rate.kappa == pytest.approx((0.9 - chance) / (1 - chance))
    assert found.corrected == ()


def test_a_contrast_is_corrected_by_what_is_labelled_in_both_arms(study: Study) -> None:
    control: list[float | None] = [1.0] * 10 + [None] * 10 + [0.0] * 10
    oracle: list[float | None] = [1.0] * 8 + [0.0] * 4
    labels = labelled(study, "control", control) + labelled(study, "oracle", oracle)
    (effect,) = compare(replace(study, labels=labels)).corrected
    assert effect.n == 30
    assert effect.labelled == 10
    assert effect.judged == pytest.approx(5 / 30)
    assert effect.rectifier == pytest.approx(-2 / 10)
    assert effect.estimate == pytest.approx(5 / 30 - 0.2)
    assert effect.ci95.low < effect.estimate < effect.ci95.high


def test_a_label_without_a_judge_s_value_is_unmeasured(study: Study) -> None:
    scores = {arm: {m: dict(of) for m, of in found.items()} for arm, found in study.scores.items()}
    scores["control"]["correct"][study.qids[0]] = (None,)
    labels = labelled(study, "control", [1.0, 1.0, 1.0])
    (rate,) = compare(replace(study, scores=scores, labels=labels)).judged_rates
    assert (rate.n, rate.labelled, rate.unmeasured) == (29, 2, 1)
    assert rate.kappa is None
    assert rate.specificity is None
    assert rate.rogan_gladen is None


def test_labels_between_0_and_1_correct_a_mean_and_have_no_kappa(study: Study) -> None:
    labels = labelled(study, "control", [0.5, 0.5])
    (rate,) = compare(replace(study, labels=labels)).judged_rates
    assert rate.kappa is None
    assert rate.agreed is None
    assert rate.estimate == pytest.approx(20 / 30 - 0.5)


def test_without_labels_nothing_is_said_of_them(study: Study) -> None:
    found = compare(study)
    assert found.judged_rates == ()
    assert not any("label" in note for note in found.notes)


def test_a_model_that_judges_two_readers_limits_the_claim_until_both_are_labelled(
    sheet: Any, declare: Any
) -> None:
    swap = sheet()
    swap.add({("control", "correct"): 1.0, ("reader", "correct"): 1.0}, 20)
    swap.add({("control", "correct"): 0.0, ("reader", "correct"): 1.0}, 10)
    study = swap.study(declare("reader"), asked_of_models=frozenset({"correct"}))
    unequal = "judge error not shown equal across arms"

    def limited(study: Study) -> bool:
        return any(unequal in limit for limit in compare(study).conclusions[0].limits)

    assert limited(study)
    one = labelled(study, "control", [1.0, 1.0])
    assert limited(replace(study, labels=one))
    assert not limited(replace(study, labels=one + labelled(study, "reader", [1.0, 1.0])))
    assert not limited(replace(study, asked_of_models=frozenset()))

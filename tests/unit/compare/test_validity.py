from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ragablate.compare import compare
from ragablate.errors import EvidenceError

CONTROL, TREATMENT = ("control", "correct"), ("upstream", "correct")


@pytest.fixture
def two_arms(sheet):
    return sheet().add({CONTROL: 0, TREATMENT: 1}, times=4)


def refuses(study, message):
    with pytest.raises(EvidenceError, match=message) as caught:
        compare(study)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [1.3, -0.1, math.nan, math.inf])
def test_a_score_outside_the_unit_interval_names_arm_measure_and_question(two_arms, declare, value):
    two_arms.add({CONTROL: 0, TREATMENT: value})

    refuses(two_arms.study(declare("upstream")), r"correct on q0004 in arm 'upstream'")


def test_a_bad_score_of_a_measure_that_is_not_compared_is_refused_too(two_arms, declare):
    two_arms.add({CONTROL: 0, TREATMENT: 1, ("control", "token_f1"): 7.0})

    refuses(two_arms.study(declare("upstream")), r"Score 7 of token_f1 on q0004 in arm 'control'")


def test_unequal_replicates_between_arms_are_refused(sheet, declare):
    made = sheet().add({CONTROL: (0, 1), TREATMENT: (1,)}, times=4)

    refuses(made.study(declare("upstream")), r"correct has 1 replicate\(s\) on q0000 in arm 'up")


def test_unequal_replicates_between_questions_are_refused(two_arms, declare):
    two_arms.add({CONTROL: (0, 1), TREATMENT: (1, 1)})

    refuses(two_arms.study(declare("upstream")), r"2 replicate\(s\) on q0004 .* 1 on q0000")


def test_a_placebo_may_hold_fewer_replicates_and_questions(sheet, declare):
    made = sheet()
    made.add({CONTROL: (1, 1, 0), ("placebo", "correct"): (1,)}, times=3)
    made.add({CONTROL: (1, 1, 0)}, times=3)

    effect = compare(made.study(declare("placebo"))).effects[0]

    assert (effect.n, effect.unmeasured, effect.replicates, effect.effect) == (3, 0, 1, 0.0)


def test_duplicate_qids_are_refused(two_arms, declare):
    study = two_arms.study(declare("upstream"))

    refuses(replace(study, qids=(*study.qids, "q0001")), r"occur more than once \(q0001\)")


def test_an_empty_question_set_is_refused(sheet, declare):
    refuses(sheet().study(declare("upstream")), "empty")


def test_different_questions_in_the_arms_are_refused_by_name(two_arms, declare):
    two_arms.add({CONTROL: 1})

    refuses(two_arms.study(declare("upstream")), r"no correct in arm 'upstream' \(q0004\)")


def test_scores_of_a_question_outside_the_set_are_refused(two_arms, declare):
    study = two_arms.study(declare("upstream"))

    refuses(replace(study, qids=study.qids[:-1]), "q0003, which is not in the question set")


def test_an_arm_without_the_primary_measure_is_refused(two_arms, declare):
    refuses(two_arms.study(declare("reader")), "arm 'reader' has no scores")


def test_fewer_than_two_questions_after_exclusions_are_refused(two_arms, declare):
    study = two_arms.study(declare("upstream"), eval_gaps=frozenset(two_arms.qids[1:]))

    refuses(study, r"1 answerable question\(s\) with usable gold are left of 4 \(3 eval gaps\)")


def test_contrasts_of_one_id_are_refused(two_arms, declare):
    refuses(two_arms.study(declare("upstream"), declare("upstream")), "more than once")


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.05])
def test_a_margin_outside_its_range_is_refused(two_arms, declare, margin):
    refuses(two_arms.study(declare("upstream", margin=margin)), "between 0 and 1")


def test_a_question_that_is_neither_answerable_nor_not_is_refused(two_arms, declare):
    study = two_arms.study(declare("upstream"))

    refuses(replace(study, answerable={q: True for q in study.qids[1:]}), "answerable .q0000")

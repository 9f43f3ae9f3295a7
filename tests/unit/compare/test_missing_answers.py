from __future__ import annotations

import pytest

from ragablate.compare import compare
from ragablate.errors import EvidenceError

CONTROL, TREATMENT = ("control", "correct"), ("upstream", "correct")


def conclude(study):
    comparison = compare(study)
    return comparison.effects[0], comparison.conclusions[0]


def test_errors_that_could_undo_a_gain_leave_it_unclear_as_in_ex_14(sheet, declare):
    made = sheet()
    made.add({CONTROL: 1, TREATMENT: 1}, times=5)
    made.add({CONTROL: 0, TREATMENT: 1})
    made.add({CONTROL: 0, TREATMENT: 0}, times=2)
    made.add({CONTROL: 1, TREATMENT: None})
    made.add({CONTROL: 0, TREATMENT: None})
    made.errors = {"upstream": {made.qids[-1]: "timeout", made.qids[-2]: "timeout"}}

    effect, conclusion = conclude(made.study(declare("upstream")))

    assert (effect.n, effect.unmeasured, effect.effect) == (8, 2, 0.125)
    assert effect.state == "unclear"
    assert conclusion.label == "descriptive"
    assert any("between 0.00 and +0.20" in limit for limit in conclusion.limits)


def test_the_full_state_must_hold_at_both_worst_cases_as_in_ex_25(sheet, declare):
    made = sheet()
    made.add({CONTROL: 0, TREATMENT: 1}, times=12)
    made.add({CONTROL: 1, TREATMENT: 0})
    made.add({CONTROL: 1, TREATMENT: 1}, times=83)
    made.add({CONTROL: 1, TREATMENT: None}, times=4)

    effect, conclusion = conclude(made.study(declare("upstream")))

    assert effect.n == 96
    assert effect.p == pytest.approx(0.0034, abs=5e-5)
    assert (effect.state, effect.detail) == ("unclear", "errors could flip it")
    assert conclusion.label == "causal with limits"
    assert any("could flip the conclusion" in s for s in conclusion.sentences)
    assert conclusion.settle == "fill in the missing answers: run the same command again"


def test_an_effect_that_survives_both_worst_cases_stands(sheet, declare):
    made = sheet()
    made.add({CONTROL: 0, TREATMENT: 1}, times=30)
    made.add({CONTROL: 1, TREATMENT: 1}, times=68)
    made.add({CONTROL: 1, TREATMENT: None}, times=2)

    effect, conclusion = conclude(made.study(declare("upstream")))

    assert effect.state == "up"
    assert conclusion.label == "causal with limits"


@pytest.mark.parametrize(("gone", "label"), [(5, "causal with limits"), (6, "descriptive")])
def test_more_than_five_per_cent_missing_in_one_arm_is_descriptive(sheet, declare, gone, label):
    made = sheet()
    made.add({CONTROL: 0, TREATMENT: 1}, times=60)
    made.add({CONTROL: 1, TREATMENT: 1}, times=40 - gone)
    made.add({CONTROL: None, TREATMENT: 1}, times=gone)

    assert conclude(made.study(declare("upstream")))[1].label == label


def test_one_missing_replicate_makes_the_question_incomplete_and_bounds_it(sheet, declare):
    made = sheet()
    made.add({CONTROL: (0, 0, 0), TREATMENT: (1, 1, 1)}, times=19)
    made.add({CONTROL: (0, 0, 0), TREATMENT: (1, None, 1)})

    effect, conclusion = conclude(made.study(declare("upstream")))

    assert (effect.n, effect.unmeasured) == (19, 1)
    assert any("between +0.98 and +1.00" in limit for limit in conclusion.limits)


def test_failures_that_fall_on_one_arm_are_tested_and_counted(sheet, declare):
    made = sheet()
    made.add({CONTROL: 1, TREATMENT: 0}, times=8)
    made.add({CONTROL: 1, TREATMENT: 1}, times=92)
    made.errors = {"upstream": dict.fromkeys(made.qids[:8], "context overflow")}

    _, conclusion = conclude(made.study(declare("upstream")))

    assert conclusion.limits == (
        "failures: 0 in control, 8 in treatment, of 100; they depend on the arm (exact p = 0.008)",
    )


def test_failures_in_both_arms_alike_are_only_counted(sheet, declare):
    made = sheet().add({CONTROL: 0, TREATMENT: 0}, times=100)
    made.errors = {arm: {made.qids[0]: "context overflow"} for arm in ("control", "upstream")}

    _, conclusion = conclude(made.study(declare("upstream")))

    assert conclusion.limits == ("failures: 1 in control, 1 in treatment, of 100",)


def test_an_arm_of_which_every_answer_failed_is_refused_without_a_number(sheet, declare):
    made = sheet()
    made.add({CONTROL: 1, TREATMENT: None, ("oracle", "correct"): 1}, times=30)

    comparison = compare(made.study(declare("upstream"), declare("oracle")))

    refused = comparison.conclusions[0]
    assert (refused.verdict, refused.label) == ("refused", "refused")
    assert refused.sentences == (
        "No effect of replacing retriever bm25 by minilm_run is reported. Arm 'upstream' has no "
        "answer to any of the 30 questions (all failed or are unmeasured).",
    )
    assert (comparison.effects[0].state, comparison.effects[0].effect) == ("refused", None)
    assert comparison.conclusions[1].label == "causal"


def test_scored_failures_of_every_question_are_refused_too(sheet, declare):
    made = sheet().add({CONTROL: 1, TREATMENT: 0, ("oracle", "correct"): 1}, times=30)
    made.errors = {"upstream": dict.fromkeys(made.qids, "context overflow")}

    comparison = compare(made.study(declare("upstream"), declare("oracle")))

    assert comparison.conclusions[0].label == "refused"


def test_a_study_without_two_answers_to_compare_is_an_error(sheet, declare):
    made = sheet().add({CONTROL: None, TREATMENT: 1}, times=30)

    with pytest.raises(EvidenceError, match="Arm 'control' has no answer to any of the 30"):
        compare(made.study(declare("upstream")))


def test_one_complete_pair_is_refused(sheet, declare):
    made = sheet()
    made.add({CONTROL: 1, TREATMENT: 1})
    made.add({CONTROL: 1, TREATMENT: None})

    with pytest.raises(EvidenceError, match=r"1 complete pair of arms .* at least 2"):
        compare(made.study(declare("upstream")))

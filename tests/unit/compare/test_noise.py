from __future__ import annotations

from itertools import product

import pytest

from ragablate.compare import compare
from ragablate.compare.noise import flip_upper, placebo_reading


def again(sheet, same, better=0, worse=0):
    made = sheet().add({("control", "correct"): 1, ("placebo", "correct"): 1}, times=same)
    made.add({("control", "correct"): 0, ("placebo", "correct"): 1}, times=better)
    return made.add({("control", "correct"): 1, ("placebo", "correct"): 0}, times=worse)


@pytest.mark.parametrize(
    ("asked", "upper"), [(20, 0.139), (50, 0.058), (59, 0.0495), (100, 0.0295)]
)
def test_no_change_bounds_the_share_of_changing_answers(asked, upper):
    assert flip_upper(0, asked) == pytest.approx(upper, abs=5e-4)


def test_the_bound_grows_with_what_changed_and_never_passes_one():
    assert flip_upper(0, 50) < flip_upper(1, 50) < flip_upper(4, 50) < 1
    assert flip_upper(4, 50) == pytest.approx(0.1738, abs=5e-4)
    assert flip_upper(3, 3) == 1.0
    assert flip_upper(0, 0) == 1.0


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [(59, "reader is deterministic"), (58, "no change seen, too few to call it deterministic")],
)
def test_deterministic_is_said_from_59_unchanged_answers_on(sheet, declare, asked, verdict):
    conclusion = compare(again(sheet, asked).study(declare("placebo"))).conclusions[0]

    assert conclusion.verdict == verdict
    assert f"0 of {asked} questions moved on some measure" in conclusion.sentences[0]


def test_a_change_on_any_measure_makes_the_reader_stochastic(sheet, declare):
    made = again(sheet, 99).add(
        {
            ("control", "correct"): 1,
            ("placebo", "correct"): 1,
            ("control", "token_f1"): 0.5,
            ("placebo", "token_f1"): 0.6,
        }
    )
    conclusion = compare(made.study(declare("placebo"))).conclusions[0]

    assert conclusion.verdict == "reader is stochastic"
    assert "1 of 100 questions moved on some measure (0 on correct)" in conclusion.sentences[0]
    assert conclusion.settle == "replicates=3"


def test_a_placebo_that_moves_limits_every_other_contrast(sheet, declare):
    made = again(sheet, 90, better=10)
    for qid in made.qids:
        made.scores.setdefault("reader", {}).setdefault("correct", {})[qid] = (1.0,)

    placebo, reader = compare(made.study(declare("placebo"), declare("reader"))).conclusions

    assert placebo.verdict == "placebo moved"
    assert reader.limits == ("the placebo moved, though nothing was changed in it",)
    assert reader.label == "causal with limits"


def test_a_probe_of_some_questions_counts_no_other_as_missing(sheet, declare):
    made = again(sheet, 60).add({("control", "correct"): 1}, times=100)

    comparison = compare(made.study(declare("placebo")))

    assert (comparison.effects[0].n, comparison.effects[0].unmeasured) == (60, 0)
    assert comparison.conclusions[0].label == "causal"


def test_every_combination_of_a_placebo_has_a_verdict():
    states = ("up", "down", "flat", "unclear")
    read = {placebo_reading(s, c, n) for s, c, n in product(states, (0, 3), (20, 100))}

    assert read == {
        "placebo moved",
        "reader is stochastic",
        "reader is deterministic",
        "no change seen, too few to call it deterministic",
    }

from __future__ import annotations

import pytest

from ragablate.calibrate import (
    Decided,
    Refusals,
    Scored,
    at,
    decided,
    halves,
    open_cap,
    segments,
    sweep,
)


def scored(answerable, counts):
    """Questions of one kind: how many have which score."""
    kind = "a" if answerable else "u"
    scores = [score for score, n in counts.items() for _ in range(n)]
    return [Scored(f"{kind}{i:03d}", score, answerable) for i, score in enumerate(scores)]


TOY = [
    *scored(False, {0.41: 35, 0.50: 20, 0.60: 15, 0.70: 8, 0.75: 22}),
    *scored(True, {0.50: 1, 0.60: 3, 0.70: 5, 0.75: 91}),
]
"""Scores that give the refusal rates of a published toy sweep at its four floors."""


def test_the_published_toy_sweep_comes_out():
    found = sweep(TOY)
    rates = {f.floor: (f.correct_rate, f.wrong_rate) for f in found.floors}
    assert rates[0.50] == (0.35, 0.00)
    assert rates[0.60] == (0.55, 0.01)
    assert rates[0.70] == (0.70, 0.04)
    assert rates[0.75] == (0.78, 0.09)
    assert found.picked.floor == 0.60
    assert found.warnings == ()


def test_the_floors_that_are_tried_are_the_recorded_scores():
    assert [f.floor for f in sweep(TOY).floors] == [0.41, 0.50, 0.60, 0.70, 0.75]


def test_a_looser_cap_takes_a_higher_floor():
    assert sweep(TOY, 0.05).picked.floor == 0.70
    assert sweep(TOY, 0.0).picked.floor == 0.50


def test_a_rate_at_the_cap_is_allowed_and_the_lowest_of_tied_floors_wins():
    questions = [
        *scored(False, {0.1: 5, 0.9: 5}),
        *scored(True, {0.2: 1, 0.3: 1, 0.9: 48}),
    ]
    found = sweep(questions, 0.02)
    assert found.picked.floor == 0.2
    assert sweep(questions, 0.04).picked.floor == 0.2
    assert {f.floor: f.refused for f in found.floors}[0.3] == 5


def test_a_question_without_a_candidate_is_refused_at_any_floor():
    questions = [*TOY, Scored("none", None, False), Scored("lost", None, True)]
    first = sweep(questions).floors[0]
    assert (first.refused, first.wrong) == (1, 1)


def test_few_questions_of_a_kind_are_warned_of_with_the_standard_error():
    questions = [*scored(False, {0.1: 10, 0.9: 10}), *scored(True, {0.9: 40})]
    (warning,) = sweep(questions).warnings
    assert warning.startswith("20 unanswerable questions")
    assert "±11 points" in warning


def test_one_kind_alone_gives_no_floor():
    found = sweep(scored(True, {0.1: 20, 0.9: 40}))
    assert found.picked is None
    assert "There is no unanswerable question" in found.warnings[0]


def test_rates_have_wilson_intervals():
    floor = at(TOY, 0.60)
    low, high = floor.interval("correct").low, floor.interval("correct").high
    assert (low, high) == pytest.approx((0.4524, 0.6439), abs=5e-4)


def test_halves_hold_both_kinds_and_nothing_twice():
    tune, held = halves(TOY, 0)
    assert {q.qid for q in tune} | {q.qid for q in held} == {q.qid for q in TOY}
    assert not {q.qid for q in tune} & {q.qid for q in held}
    assert sum(q.answerable for q in tune) == sum(q.answerable for q in held) == 50
    assert halves(TOY, 0) == (tune, held) != halves(TOY, 1)


def test_segments_keep_their_questions_apart():
    questions = [Scored("1", 0.1, True, "x"), Scored("2", 0.2, False, "y"), Scored("3", 1, True)]
    assert {name: len(own) for name, own in segments(questions).items()} == {"": 1, "x": 1, "y": 1}


def test_a_score_that_tells_nothing_apart_gives_no_floor():
    questions = [*scored(False, {0.9: 40}), *scored(True, {0.1: 20, 0.5: 20})]
    assert sweep(questions).picked is None


def test_a_cap_that_the_interval_crosses_is_called_open():
    said = open_cap(Refusals(23, 40, 3, 160), 0.02)
    assert said.startswith("Its wrong refusals may be as high as 5.4%")
    assert "above the cap of 2.0%: to be sure of the cap takes 189 answerable questions" in said
    assert open_cap(Refusals(23, 40, 0, 188), 0.02) != ""
    assert open_cap(Refusals(23, 40, 0, 189), 0.02) == ""
    assert open_cap(Refusals(23, 40, 0, 0), 0.02) == ""
    assert open_cap(Refusals(23, 40, 0, 189), 0.0).endswith("above the cap of 0.0%.")


def test_an_unclear_reply_counts_against_a_gate_on_both_sides():
    said = [("go", True), ("refuse", True), ("unclear", True), ("refuse", False),
            ("clarify", False), ("unclear", False), ("go", False)]  # fmt: skip
    found = decided([Decided(str(i), outcome, kind) for i, (outcome, kind) in enumerate(said)])
    assert (found.wrong, found.answerable) == (2, 3)
    assert (found.refused, found.unanswerable) == (2, 4)

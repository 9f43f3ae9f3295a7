import numpy as np
import pytest

from ragablate.compare.inference.intervals import mean_interval, tango
from ragablate.compare.inference.randomization import sign_flip
from ragablate.compare.inference.states import (
    Decision,
    contrast_bounds,
    decide,
    decide_with_missing,
    floor_changed,
    smallest_attainable_p,
    worst_case,
)
from ragablate.errors import EvidenceError
from ragablate.records import Interval


def of_counts(better, worse, n, margin=0.05, **options):
    values = [1] * better + [-1] * worse + [0] * (n - better - worse)
    test = sign_flip(values)
    return decide(
        ci95=tango(better, worse, n),
        ci90=tango(better, worse, n, confidence=0.9),
        p_adjusted=options.pop("p_adjusted", test.p),
        changed=test.changed,
        margin=margin,
        n=n,
        **options,
    )


@pytest.mark.parametrize(
    ("counts", "margin", "state", "detail"),
    [
        ((14, 3, 100), 0.05, "up", ""),
        ((3, 14, 100), 0.05, "down", ""),
        ((12, 5, 100), 0.05, "unclear", ""),
        ((0, 0, 52), 0.05, "flat", ""),
        ((0, 0, 51), 0.05, "unclear", "floor"),
        ((5, 0, 40), 0.05, "unclear", "borderline"),
        ((2, 1, 40), 0.05, "unclear", "floor"),
        ((9, 0, 1000), 0.05, "flat", "negligible"),
        ((7, 0, 14), 0.05, "up", "pilot"),
        ((4, 4, 14), 0.05, "unclear", "pilot"),
        ((0, 0, 19), 0.5, "unclear", "floor"),
    ],
)
def test_counts_and_margin_give_a_state(counts, margin, state, detail):
    decision = of_counts(*counts, margin=margin)
    assert (decision.state, decision.detail) == (state, detail)


def test_flat_is_never_said_of_a_pilot():
    assert of_counts(0, 0, 19, margin=0.3).state == "unclear"
    assert of_counts(0, 0, 20, margin=0.3).state == "flat"


def test_floor_and_pilot_are_told_beside_the_detail():
    decision = of_counts(5, 0, 19)
    assert (decision.detail, decision.floor, decision.pilot) == ("borderline", True, True)
    assert not of_counts(6, 0, 20).floor


def test_an_adjusted_p_above_alpha_makes_it_borderline():
    assert of_counts(14, 3, 100, p_adjusted=0.06) == Decision("unclear", "borderline")
    assert of_counts(14, 3, 100, p_adjusted=0.05).state == "up"


def test_an_interval_that_holds_zero_makes_it_borderline():
    wide = Interval(-0.01, 0.3, 0.95, "augmented t")
    decision = decide(ci95=wide, ci90=wide, p_adjusted=0.01, changed=30, margin=0.05, n=90)
    assert (decision.state, decision.detail) == ("unclear", "borderline")


def test_too_few_changed_clusters_detect_nothing():
    options = {"clusters_changed": 5}
    assert of_counts(14, 3, 100, **options) == Decision("unclear", "floor", floor=True)
    assert of_counts(14, 3, 100, clusters_changed=6).state == "up"


def test_touching_the_margin_is_not_flat():
    inside, edge = Interval(-0.04, 0.0499, 0.9, "tango"), Interval(-0.04, 0.05, 0.9, "tango")
    wide = Interval(-0.06, 0.06, 0.95, "tango")
    options = {"ci95": wide, "p_adjusted": 0.5, "changed": 30, "margin": 0.05, "n": 200}
    assert decide(ci90=inside, **options).state == "flat"
    mirrored = Interval(-edge.high, -edge.low, 0.9, "tango")
    assert decide(ci90=edge, **options).state == "unclear"
    assert decide(ci90=mirrored, **options).state == "unclear"


@pytest.mark.parametrize("limits", [(0.0, 0.2), (-0.2, 0.0)])
def test_an_interval_that_ends_at_zero_does_not_exclude_it(limits):
    touching = Interval(*limits, 0.95, "tango")
    decision = decide(ci95=touching, ci90=touching, p_adjusted=0.01, changed=9, margin=0.05, n=90)
    assert (decision.state, decision.detail) == ("unclear", "borderline")


def test_fewer_than_two_questions_are_refused():
    assert of_counts(1, 0, 1).state == "refused"
    assert of_counts(1, 0, 2).state == "unclear"


def test_a_margin_must_be_positive():
    with pytest.raises(ValueError, match="margin"):
        of_counts(1, 0, 30, margin=0)


def test_the_floor_follows_from_the_smallest_attainable_p():
    assert [smallest_attainable_p(m) for m in (0, 1, 2, 6)] == [1, 1, 0.5, 0.03125]
    for contrasts in range(1, 12):
        changed = floor_changed(contrasts)
        assert smallest_attainable_p(changed) * contrasts <= 0.05
        assert smallest_attainable_p(changed - 1) * contrasts > 0.05
        assert sign_flip([1] * changed).p == smallest_attainable_p(changed)
    assert smallest_attainable_p(100_000) > 0
    with pytest.raises(ValueError, match="alpha"):
        floor_changed(0)


def test_worst_cases_fill_what_is_missing_against_and_for_the_treatment():
    control, treatment = [1.0, None, 0.5, None], [None, 0.5, 0.25, None]
    lower, upper = worst_case(control, treatment)
    assert lower.tolist() == [-1.0, -0.5, -0.25, -1.0]
    assert upper.tolist() == [0.0, 0.5, -0.25, 1.0]


def test_nothing_missing_leaves_one_contrast():
    lower, upper = worst_case([0.0, 1.0], [1.0, 1.0])
    assert lower.tolist() == upper.tolist() == [1.0, 0.0]


def test_bounds_of_an_interaction_follow_the_signs_of_the_weights():
    arms = [[None], [None], [0.5], [None]]
    lower, upper = contrast_bounds(arms, [1, -1, -1, 1])
    assert (lower.tolist(), upper.tolist()) == ([-1.5], [1.5])
    weighted = contrast_bounds([[None], [0.25]], [0.5, -1])
    assert [bound.tolist() for bound in weighted] == [[-0.25], [0.25]]
    with pytest.raises(EvidenceError, match="do not pair"):
        contrast_bounds([[1.0], [1.0, 0.0]], [1, -1])


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("up", "up", "up"), "up"),
        (("up", "unclear", "up"), "unclear"),
        (("flat", "flat", "unclear"), "unclear"),
        (("refused", "up", "up"), "refused"),
    ],
)
def test_a_state_stands_only_if_errors_cannot_flip_it(states, expected):
    decision = decide_with_missing(*map(Decision, states))
    assert decision.state == expected
    assert (decision.detail == "errors could flip it") == (expected == "unclear")


def test_lopsided_cluster_sums_do_not_pass_test_and_interval_together():
    rng = np.random.default_rng(5)
    keys = [str(i // 5) for i in range(100)]
    false = 0
    for _ in range(400):
        moves = rng.choice([0.2, -1.0, 0.0], p=[0.5, 0.1, 0.4], size=20)
        values = np.repeat(moves, 5)
        test = sign_flip(values, clusters=keys)
        decision = decide(
            ci95=mean_interval(values, clusters=keys),
            ci90=mean_interval(values, clusters=keys, confidence=0.9),
            p_adjusted=test.p,
            changed=test.changed,
            clusters_changed=test.clusters_changed,
            margin=0.05,
            n=100,
        )
        false += decision.state in ("up", "down")
    assert false / 400 <= 0.06

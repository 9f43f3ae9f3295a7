import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ragablate.compare.inference.intervals import (
    augmented_t,
    cluster_t,
    mean_interval,
    rate_interval,
    tango,
    wilson,
)
from ragablate.errors import EvidenceError

relaxed = settings(deadline=None, max_examples=60)


@st.composite
def paired(draw):
    n = draw(st.integers(1, 300))
    better = draw(st.integers(0, n))
    return better, draw(st.integers(0, n - better)), n


@relaxed
@given(paired())
def test_tango_contains_the_estimate_and_stays_in_range(counts):
    better, worse, n = counts
    interval = tango(better, worse, n)
    assert -1 <= interval.low <= (better - worse) / n + 1e-12
    assert 1 >= interval.high >= (better - worse) / n - 1e-12
    assert interval.low < interval.high


@relaxed
@given(paired())
def test_swapping_arms_mirrors_tango(counts):
    better, worse, n = counts
    there, back = tango(better, worse, n), tango(worse, better, n)
    assert (there.low, there.high) == (-back.high, -back.low)


@relaxed
@given(paired())
def test_tango_limits_solve_the_score_equation(counts):
    b, c, n = counts
    interval = tango(b, c, n)
    for limit in (interval.low, interval.high):
        if abs(limit) == 1:
            continue
        linear = -b - c + (2 * n - b + c) * limit
        q = (math.sqrt(linear**2 + 8 * n * c * limit * (1 - limit)) - linear) / (4 * n)
        variance = n * (2 * q + limit * (1 - limit))
        assert abs(b - c - n * limit) == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-4)


@relaxed
@given(paired())
def test_lower_confidence_lies_within_higher(counts):
    wide, narrow = tango(*counts), tango(*counts, confidence=0.9)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


def test_the_published_check_value_comes_out():
    interval = tango(1, 7, 21)
    assert (round(interval.low, 3), round(interval.high, 3)) == (-0.517, -0.026)
    assert (interval.confidence, interval.method) == (0.95, "tango")


@pytest.mark.parametrize("n", [1, 20, 500])
def test_nothing_changed_keeps_an_interval(n):
    z = stats.norm.ppf(0.975)
    assert tango(0, 0, n).high == pytest.approx(z * z / (n + z * z), abs=1e-11)
    assert tango(0, 0, n).low == -tango(0, 0, n).high


@pytest.mark.parametrize("counts", [(3, 0, 3), (1, 0, 1), (40, 0, 40)])
def test_everything_better_reaches_one(counts):
    z, n = stats.norm.ppf(0.975), counts[2]
    assert tango(*counts).high == 1.0
    assert tango(*counts).low == pytest.approx((n - z * z) / (n + z * z), abs=1e-11)


@pytest.mark.parametrize("counts", [(3, 3, 5), (0, 0, 0), (-1, 0, 5)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(EvidenceError, match="no paired result"):
        tango(*counts)


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_a_confidence_is_a_share(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson(1, 2, confidence=confidence)


@relaxed
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_statsmodels(counts):
    expected = proportion_confint(*counts, method="wilson")
    interval = wilson(*counts)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-10)


def test_wilson_takes_an_effective_number_and_reaches_the_ends():
    assert wilson(0, 12).low == 0.0
    assert wilson(12, 12).high == 1.0
    assert wilson(2.5, 12.5).high > wilson(20, 100).high
    with pytest.raises(EvidenceError, match="at least one question"):
        wilson(0, 0)


def test_a_clustered_rate_counts_clusters_not_questions():
    values = [1, 1, 0, 0, 1, 0, 1, 0]
    keys = list("aabbccdd")
    assert rate_interval(values) == wilson(4, 8)
    assert rate_interval(values, clusters=keys) == wilson(2, 4)
    with pytest.raises(EvidenceError, match=r"lie in \[0, 1\]"):
        rate_interval([0.2, 1.4])


def test_augmented_t_with_z_is_the_bonett_price_interval():
    better, worse, n = 1, 7, 21
    mean = (better - worse) / (n + 2)
    variance = ((better + worse + 2) / (n + 2) - mean**2) / (n + 2)
    values = [1] * better + [-1] * worse + [0] * (n - better - worse)
    interval = augmented_t(values)
    assert (interval.low + interval.high) / 2 == pytest.approx(mean, abs=1e-11)
    half = (interval.high - interval.low) / 2
    assert half / stats.t.ppf(0.975, n - 1) == pytest.approx(math.sqrt(variance), abs=1e-11)
    z = stats.norm.ppf(0.975)
    published = (round(mean - z * math.sqrt(variance), 3), round(mean + z * math.sqrt(variance), 3))
    assert published == (-0.508, -0.013)


def test_pseudo_questions_shrink_only_where_both_directions_are_well_seen():
    seen = [1 / 3] * 10 + [-1 / 3] * 10 + [0] * 10
    lopsided = [1 / 3] * 11 + [-1 / 3] * 9 + [0] * 10
    assert augmented_t(seen, replicates=3).high < augmented_t(seen, replicates=1).high
    assert augmented_t(lopsided, replicates=3) == augmented_t(lopsided, replicates=1)


def test_limits_are_cut_at_what_is_possible():
    assert augmented_t([1.0, 1.0]).high == 1.0
    assert augmented_t([1.0, 1.0], bound=2).high == 2.0
    assert augmented_t([2.0, 2.0]).high == 2.0
    assert (augmented_t([0.5]).low, augmented_t([0.5]).high) == (-1.0, 1.0)
    single = cluster_t([0.5, 0.25], ["a", "a"])
    assert (single.low, single.high) == (-1.0, 1.0)


def test_one_question_a_cluster_is_the_augmented_t_interval():
    values = np.random.default_rng(1).integers(-2, 3, size=40) / 2
    plain, clustered = augmented_t(values), cluster_t(values, [str(i) for i in range(40)])
    assert (clustered.low, clustered.high) == pytest.approx((plain.low, plain.high), abs=1e-11)


def test_moves_by_cluster_widen_the_interval():
    values = np.repeat([1, 0, 0, -1, 1, 0, 0, 1, 0, 1], 5)
    keys = [str(i // 5) for i in range(50)]
    wide, narrow = cluster_t(values, keys), augmented_t(values)
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


@pytest.mark.parametrize(
    ("values", "settings", "method"),
    [
        ([1, 0, -1, 0], {}, "tango"),
        ([1, 0, -1, 0], {"replicates": 3}, "augmented t"),
        ([0.5, 0, -1, 0], {}, "augmented t"),
        ([2, 0, -1, 0], {"bound": 2}, "augmented t"),
        ([0, 0, 0, 0], {"replicates": 3}, "tango"),
        ([1, 0, -1, 0], {"clusters": list("aabb")}, "cluster t"),
        ([1, 0, -1, 0], {"clusters": list("abcd")}, "tango"),
        ([0, 0, 0, 0], {"clusters": list("aabb")}, "cluster t"),
    ],
)
def test_each_kind_of_difference_gets_its_interval(values, settings, method):
    assert mean_interval(values, **settings).method == method


def test_the_order_of_questions_does_not_matter():
    rng = np.random.default_rng(2)
    values = rng.normal(0, 0.3, size=101).clip(-1, 1)
    keys = [str(i % 17) for i in range(101)]
    order = rng.permutation(101)
    shuffled = [keys[i] for i in order]
    assert augmented_t(values[order]) == augmented_t(values)
    assert cluster_t(values[order], shuffled) == cluster_t(values, keys)


def test_always_right_questions_shrink_the_estimate_not_the_claim():
    values = [1] * 12 + [-1] * 2 + [0] * 26
    few, many = mean_interval(values), mean_interval(values + [0] * 40)
    assert few.low > many.low > 0
    assert few.high > many.high


@pytest.mark.parametrize("confidence", [0.95, 0.9])
def test_tango_covers_where_changes_are_rare(confidence):
    rng = np.random.default_rng(30)
    moves = rng.multinomial(100, [0.06, 0.02, 0.92], size=400)
    intervals = [tango(int(b), int(c), 100, confidence=confidence) for b, c, _ in moves]
    covered = sum(i.low <= 0.04 <= i.high for i in intervals) / 400
    assert confidence - 0.03 <= covered <= 0.99


def test_cluster_t_covers_where_whole_documents_move():
    rng = np.random.default_rng(31)
    keys = [str(i // 5) for i in range(100)]
    covered = 0
    for _ in range(400):
        moves = rng.choice([1, -1, 0], p=[0.1, 0.05, 0.85], size=20)
        interval = cluster_t(np.repeat(moves, 5), keys)
        covered += interval.low <= 0.05 <= interval.high
    assert covered / 400 >= 0.95


def test_many_small_gains_and_few_collapses_are_covered():
    rng = np.random.default_rng(32)
    sets = rng.choice([0.1, -1.0, 0.0], p=[0.5, 0.05, 0.45], size=(400, 100))
    intervals = [augmented_t(values, replicates=10) for values in sets]
    assert sum(i.low <= 0 <= i.high for i in intervals) / 400 >= 0.94


def test_replicates_are_counted_from_one():
    with pytest.raises(ValueError, match="replicates"):
        augmented_t([0.5, 0.0], replicates=0)

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from ragablate.compare.inference.arrays import cluster_codes, cluster_sizes, cluster_sums
from ragablate.compare.inference.intervals import cluster_t, clustered, mean_interval, tango
from ragablate.compare.inference.score import cluster_moments, clustered_limits, paired_limits

relaxed = settings(deadline=None, max_examples=60)


def by_document(moves, size=5):
    """Differences where every question of a document moves with it, and the cluster keys."""
    keys = [str(i // size) for i in range(len(moves) * size)]
    return np.repeat(np.asarray(moves, dtype=float), size), keys


def limits_of(values, keys, quantile=1.96):
    array = np.asarray(values, dtype=float)
    codes = cluster_codes(keys, len(array))
    return clustered_limits(array, cluster_sums(array, codes), cluster_sizes(codes), quantile)


def width(interval):
    return interval.high - interval.low


@st.composite
def questions(draw):
    groups = draw(st.integers(2, 12))
    sizes = draw(st.lists(st.integers(1, 9), min_size=groups, max_size=groups))
    sizes[0] = max(2, sizes[0])
    keys = [str(g) for g, size in enumerate(sizes) for _ in range(size)]
    values = draw(
        st.lists(
            st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 0.5, -0.25, 2.0]),
            min_size=len(keys),
            max_size=len(keys),
        )
    )
    return values, keys


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (4, 2), (0, 7), (20, 0)])
def test_whole_documents_of_one_size_count_as_one_question_each(better, worse):
    moves = [1] * better + [-1] * worse + [0] * (20 - better - worse)
    expected = paired_limits(better, worse, 20, 1.96)
    assert limits_of(*by_document(moves)) == pytest.approx(expected, abs=1e-10)


def test_questions_that_move_alone_are_worth_more_than_their_documents():
    values = np.zeros(400)
    values[::8] = 1.0
    keys = [str(i // 8) for i in range(400)]
    low, high = limits_of(values, keys)
    documents = paired_limits(50 / 8, 0, 50, 1.96)
    alone = paired_limits(50, 0, 400, 1.96)
    assert alone[1] - alone[0] < high - low < 0.8 * (documents[1] - documents[0])


def test_differences_beyond_one_scale_the_limits():
    moves = [1, 1, 0, 0, -1, 0, 0, 0, 0, 1]
    single, double = limits_of(*by_document(moves)), limits_of(*by_document(2 * np.array(moves)))
    assert double == pytest.approx((2 * single[0], 2 * single[1]), abs=1e-12)


def test_effective_numbers_give_the_limits_of_counts_where_they_are_whole():
    low, high = paired_limits(3.0, 1.0, 25.0, 1.959963984540054)
    assert (low, high) == pytest.approx((tango(3, 1, 25).low, tango(3, 1, 25).high), abs=1e-11)


def test_pseudo_clusters_have_the_average_size_unless_told():
    sums, sizes = np.array([5.0, 0.0, 0.0]), np.array([5.0, 1.0, 3.0])
    assert cluster_moments(sums, sizes) == cluster_moments(sums, sizes, 3.0)
    assert cluster_moments(sums, sizes, 6.0)[1] > cluster_moments(sums, sizes)[1]


@relaxed
@given(questions())
def test_widening_never_changes_what_excludes_zero(drawn):
    values, keys = drawn
    robust, interval = cluster_t(values, keys), clustered(values, keys)
    assert interval.low <= robust.low
    assert interval.high >= robust.high
    assert (interval.low > 0, interval.high < 0) == (robust.low > 0, robust.high < 0)
    assert interval.low - 1e-9 <= np.mean(values) <= interval.high + 1e-9
    moved = (interval.low, interval.high) != (robust.low, robust.high)
    assert interval.method == ("cluster t + score" if moved else "cluster t")


@relaxed
@given(questions())
def test_swapping_arms_mirrors_and_lower_confidence_lies_within(drawn):
    values, keys = drawn
    there, back = clustered(values, keys), clustered([-v for v in values], keys)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-11)
    narrow = clustered(values, keys, confidence=0.9)
    assert there.low <= narrow.low <= narrow.high <= there.high


def test_clusters_are_read_whatever_their_order():
    rng = np.random.default_rng(3)
    values = rng.choice([1.0, 0.0, -1.0, 0.5], size=90)
    keys = [str(i) for i in rng.integers(0, 14, size=90)]
    order = rng.permutation(90)
    assert clustered(values[order], [keys[i] for i in order]) == clustered(values, keys)


def test_one_cluster_and_no_change_are_left_to_cluster_t():
    one = (["a"] * 4, [1.0, 0.0, 0.0, 0.0])
    assert clustered(one[1], one[0]) == cluster_t(one[1], one[0])
    assert (clustered(one[1], one[0]).low, clustered(one[1], one[0]).high) == (-1.0, 1.0)
    values, keys = by_document([0] * 20)
    assert clustered(values, keys, confidence=0.9).high == pytest.approx(0.1192, abs=5e-5)
    assert clustered(values, keys).method == "cluster t"


def wrongly_flat(groups, margin, rule):
    """Exact chance of "flat" where documents move up with probability ``margin``."""
    total = 0.0
    for moved in range(groups + 1):
        chance = float(binom.pmf(moved, groups, margin))
        if chance > 1e-9:
            values, keys = by_document([1] * moved + [0] * (groups - moved))
            limits = rule(values, clusters=keys, confidence=0.9)
            total += chance * (-margin < limits.low and limits.high < margin)
    return total


@pytest.mark.parametrize(
    ("groups", "margin", "before"),
    [(40, 0.10, 0.080), (80, 0.10, 0.088), (80, 0.05, 0.086), (20, 0.20, 0.069)],
)
def test_moves_as_large_as_the_margin_are_seldom_flat(groups, margin, before):
    assert wrongly_flat(groups, margin, cluster_t) == pytest.approx(before, abs=1e-3)
    assert wrongly_flat(groups, margin, mean_interval) <= 0.06


@pytest.mark.parametrize("groups", [20, 30, 40])
@pytest.mark.parametrize("share", [0.03, 0.1, 0.2])
def test_rare_moves_of_whole_documents_are_covered(groups, share):
    covered = 0.0
    for moved in range(groups + 1):
        chance = float(binom.pmf(moved, groups, share))
        if chance > 1e-9:
            values, keys = by_document([1] * moved + [0] * (groups - moved))
            interval = mean_interval(values, clusters=keys)
            covered += chance * (interval.low <= share <= interval.high)
    assert covered >= 0.93


@pytest.mark.parametrize(
    ("sizes", "margin"),
    [([9, 1] * 20, 0.1), ([1, 2, 3, 5, 9] * 8, 0.1), ([38, *[1] * 162], 0.08)],
)
def test_documents_of_unequal_size_are_neither_flat_nor_missed(sizes, margin):
    rng = np.random.default_rng(41)
    keys = [str(g) for g, size in enumerate(sizes) for _ in range(size)]
    flat = covered = 0
    for _ in range(300):
        values = np.repeat(rng.random(len(sizes)) < margin, sizes).astype(float)
        narrow = mean_interval(values, clusters=keys, confidence=0.9)
        wide = mean_interval(values, clusters=keys)
        flat += -margin < narrow.low and narrow.high < margin
        covered += wide.low <= margin <= wide.high
    assert flat / 300 <= 0.06
    assert covered / 300 >= 0.93


def test_questions_that_ignore_their_documents_pay_little():
    rng = np.random.default_rng(43)
    keys = [str(i // 5) for i in range(200)]
    before = after = 0.0
    for _ in range(100):
        values = rng.choice([1.0, -1.0, 0.0], p=[0.05, 0.05, 0.9], size=200)
        before += width(cluster_t(values, keys))
        after += width(clustered(values, keys))
    assert before <= after <= 1.03 * before

import numpy as np
import pytest
from scipy import stats

from ragablate.compare.inference.ratios import bca, ratio_interval
from ragablate.errors import EvidenceError


@pytest.fixture
def columns():
    rng = np.random.default_rng(1)
    reachable = (rng.random(120) < 0.6).astype(float)
    return reachable * (rng.random(120) < 0.5), reachable


def test_a_ratio_interval_is_scipys_bca_of_paired_questions(columns):
    above, below = columns
    interval = ratio_interval(above, below)
    reference = stats.bootstrap(
        columns,
        lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
        paired=True,
        n_resamples=10_000,
        random_state=np.random.default_rng(5),
    ).confidence_interval
    assert (interval.low, interval.high) == pytest.approx(tuple(reference), abs=0.015)
    assert interval.low < above.sum() / below.sum() < interval.high
    assert interval.method == "bca"


def test_the_order_of_questions_does_not_matter(columns):
    above, below = columns
    order = np.random.default_rng(2).permutation(120)
    assert ratio_interval(above[order], below[order]) == ratio_interval(above, below)


@pytest.mark.parametrize("unit", [1 / 3, 1 / np.pi])
def test_the_unit_of_the_scores_does_not_matter(columns, unit):
    above, below = columns
    assert ratio_interval(above * unit, below * unit) == ratio_interval(above, below)


def test_a_denominator_that_may_be_zero_gives_no_ratio():
    assert ratio_interval([1, 0, 0] * 10, [1, -1, 0] * 10) is None
    assert ratio_interval([1, 1], [0, 0]) is None


def test_a_ratio_that_resampling_cannot_move_is_not_printed():
    assert ratio_interval([1.0] * 30, [1.0] * 30) is None


def test_documents_are_resampled_whole():
    rng = np.random.default_rng(3)
    above = np.repeat(rng.random(20) < 0.5, 6).astype(float)
    below = np.ones(120)
    keys = [str(i // 6) for i in range(120)]
    plain, clustered = ratio_interval(above, below), ratio_interval(above, below, clusters=keys)
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)


def test_one_cluster_cannot_be_resampled():
    total = bca(lambda a, axis: a.sum(axis=axis), ([1.0, 2.0],), clusters=["a", "a"])
    assert total is None


def test_columns_of_different_questions_are_refused():
    with pytest.raises(EvidenceError, match="do not pair"):
        ratio_interval([1, 0], [1])

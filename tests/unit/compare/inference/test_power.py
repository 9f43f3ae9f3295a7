import numpy as np
import pytest
from scipy import stats

from ragablate.compare.inference.power import (
    detectable_effect,
    flip_rate_upper,
    needed_n,
    needed_n_flat,
    needed_n_from_variance,
    needed_n_nothing_changed,
    needed_n_to_name,
)

# Smallest effect with 80 % power by n and share of changed questions, rounded up; None: none.
TABLE = {
    20: (None, None, None, None, 0.39),
    50: (None, None, 0.18, 0.22, 0.26),
    100: (None, 0.09, 0.13, 0.16, 0.19),
    200: (0.05, 0.07, 0.10, 0.12, 0.13),
    400: (0.04, 0.05, 0.07, 0.08, None),
    800: (0.03, 0.04, 0.05, 0.06, 0.07),
}


def rejection_rate(n, share, effect):
    """Power of the exact test, summed over both counts without any shortcut."""
    better, worse = (share + effect) / 2, (share - effect) / 2
    total = 0.0
    for changed in range(n + 1):
        mass = stats.binom.pmf(changed, n, share)
        if mass < 1e-12:
            continue
        counts = np.arange(changed + 1)
        p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(counts, changed - counts), changed, 0.5))
        total += mass * stats.binom.pmf(counts, changed, better / (better + worse))[p <= 0.05].sum()
    return total


@pytest.mark.parametrize("n", TABLE)
def test_the_smallest_detectable_effect_matches_the_table(n):
    for share, expected in zip((0.05, 0.1, 0.2, 0.3, 0.4), TABLE[n], strict=True):
        if expected is None and n == 400:
            continue
        found = detectable_effect(n, share)
        assert (None if found is None else np.ceil(found * 100) / 100) == expected


@pytest.mark.parametrize(("n", "share"), [(60, 0.3), (200, 0.1), (400, 0.4)])
def test_the_detectable_effect_is_the_first_with_enough_power(n, share):
    found = detectable_effect(n, share)
    assert rejection_rate(n, share, found) >= 0.8
    assert rejection_rate(n, share, found - 0.0001) < 0.8


def test_no_effect_is_detectable_where_nothing_moves():
    assert detectable_effect(0, 0.5) is None
    assert detectable_effect(500, 0.0) is None


def test_the_needed_number_gives_the_declared_power():
    n = needed_n(0.2, 0.1)
    assert 0.79 < rejection_rate(n, 0.2, 0.1) < 0.82
    assert rejection_rate(needed_n(0.2, 0.1, exact_inflation=False), 0.2, 0.1) < 0.78


def test_the_exact_test_asks_for_eight_percent_more():
    assert needed_n(0.17, 0.05) == 574
    assert needed_n(0.17, 0.05, exact_inflation=False) == 532
    assert needed_n(0.17, 0.05, exact_inflation=1.0) == 532


def test_a_share_below_the_margin_is_raised_to_it():
    assert needed_n(0.0, 0.05) == needed_n(0.05, 0.05)


def test_showing_flatness_never_takes_fewer_than_with_no_change_at_all():
    assert needed_n_flat(0.0, 0.05) == needed_n_nothing_changed(0.05) == 52
    assert needed_n_flat(3 / 79, 0.05) == 131


def test_sizes_from_variance_fall_with_replicates():
    sizes = [needed_n_from_variance(0.0245, 0.2503, k, 0.05) for k in (1, 3, 5)]
    assert sizes == [863, 339, 235]


def test_telling_two_losses_apart_takes_more_the_closer_they_are():
    sizes = [needed_n_to_name((0.35 + gap) / 2, (0.35 - gap) / 2) for gap in (0.2, 0.1, 0.05)]
    assert sizes == [61, 267, 1091]
    assert needed_n_to_name(0.2, 0.2) is None
    assert needed_n_to_name(0.225, 0.125, 0.1) == 267


def test_no_flip_seen_still_allows_a_rate():
    shown = [round(100 * flip_rate_upper(m), 2) for m in (20, 50, 59, 100)]
    assert shown == [13.91, 5.82, 4.95, 2.95]
    assert flip_rate_upper(0) == 1.0


@pytest.mark.parametrize(("share", "margin"), [(1.2, 0.05), (0.2, 0.0), (0.2, 1.5)])
def test_impossible_shares_and_margins_are_refused(share, margin):
    with pytest.raises(ValueError, match="must lie in"):
        needed_n(share, margin)

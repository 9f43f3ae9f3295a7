import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ragablate.compare.inference import lattice, randomization
from ragablate.compare.inference.randomization import max_t, mcnemar_exact, sign_flip, sign_flips
from ragablate.errors import EvidenceError

small_integers = st.lists(st.integers(-4, 4), min_size=1, max_size=10)
scores = st.lists(st.floats(-1, 1, allow_nan=False), min_size=1, max_size=40)
relaxed = settings(deadline=None, max_examples=60)


def by_enumeration(values, *, midp=False):
    """p over all sign patterns, in rationals."""
    observed = abs(sum(values))
    signs = itertools.product((-1, 1), repeat=len(values))
    sums = [abs(sum(s * v for s, v in zip(pattern, values, strict=True))) for pattern in signs]
    reached = sum(s >= observed for s in sums)
    ties = sum(s == observed for s in sums)
    return Fraction(2 * reached - ties, 2 * len(sums)) if midp else Fraction(reached, len(sums))


def by_counting(values):
    """p of integers of any number, from whole counts of sign patterns by their sum."""
    ways = {0: 1}
    for value in values:
        after = {}
        for total, count in ways.items():
            for signed in (total - value, total + value):
                after[signed] = after.get(signed, 0) + count
        ways = after
    observed = abs(sum(values))
    reached = sum(count for total, count in ways.items() if abs(total) >= observed)
    return reached / (1 << len(values))


@relaxed
@given(small_integers)
def test_a_lattice_test_equals_full_enumeration(values):
    assert sign_flip(values, denominator=1).p == float(by_enumeration(values))


@relaxed
@given(small_integers.filter(any))
def test_a_mid_p_counts_ties_by_half(values):
    assert sign_flip(values, midp=True).p == float(by_enumeration(values, midp=True))


@relaxed
@given(small_integers.filter(any), st.booleans())
def test_values_on_no_lattice_are_enumerated_with_their_ties(values, midp):
    result = sign_flip(np.array(values) / math.pi, midp=midp)
    assert result.exact
    assert result.p == float(by_enumeration(values, midp=midp))


def test_the_statistic_is_the_sum_of_differences():
    values = [1 / 3, 1 / 3, 2 / 3, -1 / 3, 1.0, 0.0]
    assert sign_flip(values, denominator=3).statistic == 2.0
    assert sign_flip([2.0, 4.0, -2.0]).statistic == 4.0
    assert sign_flip(np.array(values) / math.pi).statistic == pytest.approx(2 / math.pi)
    assert sign_flip(values, clusters=list("aabbcc")).statistic == 2.0


def test_denominators_up_to_120_are_found():
    assert sign_flip(np.arange(1, 40) / 120).exact
    assert not sign_flip(np.arange(1, 40) / 121).exact


@pytest.mark.parametrize("replicates", [3, 4, 7])
def test_hundreds_of_fractional_scores_are_tested_exactly(replicates):
    rng = np.random.default_rng(replicates)
    counts = rng.integers(-replicates, replicates + 1, size=300)
    counts[:40] = np.abs(counts[:40])
    result = sign_flip(counts / replicates, denominator=replicates)
    assert result.exact
    assert result.p == pytest.approx(by_counting(counts.tolist()), rel=1e-12)


def test_far_tails_keep_their_relative_precision():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, size=300) * np.where(rng.random(300) < 0.9, 1, -1)
    expected = by_counting(counts.tolist())
    assert expected < 1e-40
    assert sign_flip(counts / 3).p == pytest.approx(expected, rel=1e-12, abs=0)


@relaxed
@given(st.integers(0, 400), st.integers(0, 400), st.booleans())
def test_mcnemar_agrees_with_the_binomial_test(better, worse, midp):
    m, fewer = better + worse, min(better, worse)
    expected = stats.binomtest(fewer, m, 0.5).pvalue if m else 1.0
    if midp and m:
        tie = stats.binom.pmf(fewer, m, 0.5)
        expected -= tie / 2 if better == worse else tie
    assert mcnemar_exact(better, worse, midp=midp) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@relaxed
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 10))
def test_zero_one_scores_reduce_to_mcnemar(better, worse, same):
    values = [1] * better + [-1] * worse + [0] * (same + 1)
    assert sign_flip(values).p == mcnemar_exact(better, worse)


def test_small_samples_agree_with_scipy_permutation_test():
    values = np.array([0.31, 0.07, -0.21, 0.55, 0.127, -0.033, 0.4, 0.009])
    reference = stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=10_000
    )
    result = sign_flip(values)
    assert result.exact
    assert result.p == pytest.approx(reference.pvalue, abs=1e-12)


def test_sums_that_tie_but_for_rounding_are_ties():
    result = sign_flip([0.1, 0.2, 0.3, -0.3, 0.6, 0.1])
    assert result.p == 0.28125
    # The same multiples of a number that is on no lattice.
    assert sign_flip(np.array([1, 2, 3, -3, 6, 1]) / (10 * math.pi)).p == 0.28125


@pytest.mark.parametrize(("size", "midp"), [(400, False), (30, False), (30, True)])
def test_drawn_signs_agree_with_the_exact_test(size, midp):
    rng = np.random.default_rng(5)
    values = rng.integers(-1, 2, size=size)
    values[: size // 10] = 1
    exact = sign_flip(values, midp=midp)
    drawn = sign_flip(values / math.pi, seed=7, midp=midp)
    assert exact.exact
    assert not drawn.exact
    error = math.sqrt(exact.p * (1 - exact.p) / 20_000)
    assert abs(exact.p - drawn.p) < 4 * error


def test_a_drawn_p_value_is_never_zero():
    values = np.linspace(0.1, 1, 60) / math.pi
    assert sign_flip(values, resamples=999).p == 1 / 1000
    assert sign_flip(values, resamples=999, midp=True).p == 0.5 / 1000


def test_an_exact_p_value_is_never_zero():
    assert mcnemar_exact(5_000, 0) > 0
    assert sign_flip(np.tile([1 / 3, 2 / 3], 2_000)).p > 0


def test_the_drawn_p_value_depends_on_the_seed_alone():
    values = np.random.default_rng(1).normal(0.1, 1, size=50)
    assert sign_flip(values, seed=3) == sign_flip(values, seed=3)
    assert sign_flip(values, seed=3).p != sign_flip(values, seed=4).p


def test_p_values_are_the_same_bits_everywhere():
    counts = np.array([i * i % 101 % 7 - 3 for i in range(900)])
    assert sign_flip(counts / 3).p.hex() == "0x1.23983157c5453p-14"
    assert sign_flip(counts[:300] / 3 * math.sqrt(0.5)).p.hex() == "0x1.765fd8adab9f5p-6"


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 1 / math.pi])
def test_shuffling_questions_and_swapping_arms_change_nothing(unit):
    rng = np.random.default_rng(2)
    values = rng.integers(-3, 4, size=200) * unit
    values[:50] = np.abs(values[:50])
    one = sign_flip(values)
    shuffled = sign_flip(rng.permutation(values))
    swapped = sign_flip(-values)
    assert shuffled.p == one.p == swapped.p
    assert shuffled.statistic == one.statistic == -swapped.statistic
    assert (swapped.better, swapped.worse) == (one.worse, one.better)


@relaxed
@given(scores)
def test_p_lies_in_zero_one_and_counts_add_up(values):
    result = sign_flip(values, resamples=199)
    assert 0 < result.p <= 1
    assert result.changed == result.better + result.worse <= len(values)


@pytest.mark.parametrize("midp", [False, True])
def test_an_arm_against_itself_gives_one(midp):
    result = sign_flip([0.0] * 12, midp=midp)
    assert (result.p, result.statistic, result.changed) == (1.0, 0.0, 0)


def test_differences_of_rounding_alone_are_no_change():
    result = sign_flip([0.1 + 0.2 - 0.3] * 10)
    assert (result.p, result.changed) == (1.0, 0)


@pytest.mark.parametrize("unit", [1.0, 1 / 3, 1 / math.pi])
def test_duplicates_as_clusters_give_the_same_p(unit):
    rng = np.random.default_rng(3)
    values = rng.integers(-3, 4, size=30) * unit
    values[:9] = np.abs(values[:9])
    keys = [f"q{i}" for i in range(30)]
    doubled = sign_flip(np.tile(values, 2), clusters=keys * 2)
    assert doubled.p == sign_flip(values).p
    assert doubled.clusters_changed == sign_flip(values).changed
    assert doubled.changed == 2 * sign_flip(values).changed


def test_keys_that_never_repeat_are_no_clusters():
    values = [1, 1, 0, -1]
    assert sign_flip(values, clusters=list("abcd")) == sign_flip(values)


def test_a_cluster_whose_moves_cancel_has_not_changed():
    result = sign_flip([1, -1, 1, 1], clusters=["a", "a", "b", "b"])
    assert (result.p, result.changed, result.clusters_changed) == (1.0, 4, 1)


def test_several_columns_share_flips_and_equal_single_tests():
    rng = np.random.default_rng(4)
    columns = [rng.normal(0.1, 1, size=300) * (rng.random(300) < share) for share in (0.2, 1.0)]
    columns += [rng.integers(-2, 3, size=300) / 2]
    for several in (columns, columns * 4):
        assert sign_flips(several, seed=9) == tuple(sign_flip(c, seed=9) for c in several)
    assert sign_flips([]) == ()


def test_a_wrong_hint_of_the_denominator_does_no_harm():
    values = [0.5, 0.25, -0.25, 1.0, 0.75]
    assert sign_flip(values, denominator=3) == sign_flip(values)


def test_lattices_too_fine_for_the_exact_distribution_are_drawn(monkeypatch):
    values = np.arange(1, 61) / 60
    assert sign_flip(values).exact
    monkeypatch.setattr(randomization, "_EXACT_WORK", 100)
    assert not sign_flip(values).exact
    assert sign_flip(values[:20]).exact


def test_work_grows_with_the_support():
    assert lattice.work(np.array([1] * 100)) < lattice.work(np.array([1] * 50 + [7] * 50))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [([], "empty"), ([0.1, math.nan], "nan at position 1"), ([[1.0], [0.0]], r"shape \(2, 1\)")],
)
def test_what_cannot_be_tested_is_refused_in_a_sentence(values, sentence):
    with pytest.raises(EvidenceError, match=sentence):
        sign_flip(values)


def test_one_cluster_key_is_needed_for_each_question():
    with pytest.raises(EvidenceError, match="2 cluster keys for 3 questions"):
        sign_flip([1, 0, 1], clusters=["a", "a"])


@pytest.mark.parametrize(
    "wrong", [{"resamples": 0}, {"denominator": 0}, {"denominator": 1_000_000}]
)
def test_senseless_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        sign_flip([1, 0], **wrong)


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="negative"):
        mcnemar_exact(-1, 3)


def test_false_alarms_stay_below_the_level():
    rng = np.random.default_rng(20)
    sets = rng.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=(400, 60))
    false = sum(sign_flip(values).p <= 0.05 for values in sets)
    assert false / 400 <= 0.05


def test_max_t_adjusts_a_single_column_like_the_plain_test():
    values = np.random.default_rng(6).normal(0.25, 1, size=60)
    adjusted = max_t(values[:, None], seed=1)
    assert adjusted[0] == pytest.approx(sign_flip(values, seed=1).p, abs=0.01)


def test_max_t_of_copies_costs_nothing_and_of_nothing_gives_one():
    values = np.random.default_rng(6).normal(0.3, 1, size=60)
    adjusted = max_t(np.column_stack([values, values, -values, np.zeros(60)]), resamples=1_999)
    alone = max_t(values[:, None], resamples=1_999)
    assert adjusted[0] == adjusted[1] == adjusted[2] == pytest.approx(alone[0], abs=0.02)
    assert adjusted[3] == 1.0


def test_max_t_is_at_least_the_single_p_and_ordered_by_the_statistic():
    table = np.random.default_rng(8).normal([0.4, 0.2, 0.0], 1, size=(80, 3))
    adjusted = max_t(table, resamples=4_999)
    statistic = np.abs(table.sum(axis=0)) / np.sqrt((table**2).sum(axis=0))
    assert (np.diff(adjusted[np.argsort(-statistic)]) >= 0).all()
    for column, p in zip(table.T, adjusted, strict=True):
        assert p >= sign_flip(column).p - 0.02


def test_max_t_ignores_the_order_of_questions_and_the_direction_of_arms():
    rng = np.random.default_rng(9)
    table = rng.integers(-2, 3, size=(40, 3)) / 2
    expected = max_t(table, resamples=999).tolist()
    assert max_t(rng.permutation(table), resamples=999).tolist() == expected
    assert max_t(-table, resamples=999).tolist() == expected


def test_max_t_flips_whole_clusters():
    table = np.random.default_rng(10).normal(0.2, 1, size=(25, 2))
    keys = [str(i) for i in range(25)] * 2
    doubled = max_t(np.vstack([table, table]), clusters=keys, resamples=999)
    assert doubled.tolist() == max_t(table, resamples=999).tolist()


def test_max_t_needs_a_table():
    with pytest.raises(ValueError, match="one row a question"):
        max_t([1.0, 2.0])


def test_max_t_counts_sums_that_tie_but_for_rounding():
    values = np.array([1, 2, 3, -3, 6, 1]) / (10 * math.pi)
    assert max_t(values[:, None])[0] == pytest.approx(0.28125, abs=0.015)

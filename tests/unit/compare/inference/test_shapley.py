from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.compare.inference.shapley import ordered_ladder, shapley
from ragablate.errors import DesignError


def subsets(names):
    return [frozenset(c) for size in range(len(names) + 1) for c in combinations(names, size)]


def counts(names):
    """A random whole number for every subset."""
    return st.fixed_dictionaries({cell: st.integers(0, 50) for cell in subsets(names)})


relaxed = settings(deadline=None, max_examples=40)


@relaxed
@given(st.sampled_from(["a", "ab", "abc", "abcd"]).flatmap(counts))
def test_a_share_is_the_average_step_over_all_orders(values):
    rational = {cell: Fraction(value) for cell, value in values.items()}
    names = sorted(frozenset().union(*values))
    ladders = [ordered_ladder(rational, order) for order in permutations(names)]
    expected = {name: sum(ladder[name] for ladder in ladders) / len(ladders) for name in names}
    assert shapley(rational) == expected
    assert sum(expected.values()) == rational[frozenset(names)] - rational[frozenset()]


@relaxed
@given(counts("abc"))
def test_a_dummy_gets_nothing_and_equals_get_equal_shares(values):
    dummy = {cell: values[cell - {"c"}] for cell in values}
    assert shapley(dummy)["c"] == 0
    by_size = {cell: values[frozenset("abc"[: len(cell)])] for cell in values}
    assert len(set(shapley(by_size).values())) == 1


def test_shares_are_taken_question_by_question():
    rng = np.random.default_rng(1)
    values = {cell: rng.integers(0, 2, size=20).astype(float) for cell in subsets("abcd")}
    shares = shapley(values)
    total = values[frozenset("abcd")] - values[frozenset()]
    assert np.abs(sum(shares.values()) - total).max() <= 1e-12
    single = shapley({cell: float(value[7]) for cell, value in values.items()})
    assert {name: share[7] for name, share in shares.items()} == pytest.approx(single, abs=1e-15)


def test_all_missing_arms_are_named():
    values = {frozenset(): 0.5, frozenset("ab"): 0.8}
    with pytest.raises(DesignError, match="arms are missing: a; b"):
        shapley(values)
    with pytest.raises(DesignError, match="arms are missing: a"):
        ordered_ladder(values, "ab")
    with pytest.raises(DesignError, match="nothing changed"):
        shapley({frozenset("a"): 1.0})


def test_more_than_five_factors_are_refused_with_advice():
    with pytest.raises(DesignError, match=r"64 arms: group them"):
        shapley({frozenset("abcdef"): 1.0, frozenset(): 0.0})
    five = {cell: float(len(cell)) for cell in subsets("abcde")}
    assert shapley(five) == dict.fromkeys("abcde", 1.0)


def test_a_ladder_names_each_factor_once():
    with pytest.raises(DesignError, match="twice"):
        ordered_ladder({frozenset(): 0.0, frozenset("a"): 1.0}, "aa")

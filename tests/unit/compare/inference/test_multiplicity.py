import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from ragablate.compare.inference.multiplicity import benjamini_hochberg, holm, welch_gate
from ragablate.errors import EvidenceError

families = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=12)
relaxed = settings(deadline=None, max_examples=60)

# 0.05 and three Monte Carlo standard errors of 400 sets.
LEVEL = 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


@settings(deadline=None, max_examples=20)
@given(families)
def test_holm_agrees_with_statsmodels(ps):
    assert holm(ps) == pytest.approx(multipletests(ps, method="holm")[1], abs=1e-12)


@settings(deadline=None, max_examples=20)
@given(families)
def test_benjamini_hochberg_agrees_with_statsmodels_and_scipy(ps):
    adjusted = benjamini_hochberg(ps)
    assert adjusted == pytest.approx(multipletests(ps, method="fdr_bh")[1], abs=1e-12)
    assert adjusted == pytest.approx(stats.false_discovery_control(ps), abs=1e-12)


@relaxed
@given(families)
def test_adjusting_keeps_the_order_and_never_lowers(ps):
    for adjust in (holm, benjamini_hochberg):
        adjusted = np.array(adjust(ps))
        assert (np.diff(adjusted[np.argsort(ps, kind="stable")]) >= 0).all()
        assert (adjusted >= np.array(ps)).all()
        assert (adjusted <= 1).all()


def test_an_empty_family_stays_empty():
    assert holm([]) == benjamini_hochberg([]) == ()


def test_what_is_no_probability_is_refused():
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]"):
        holm([0.2, 1.2])
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]"):
        benjamini_hochberg([float("nan")])


def slices(rng, shares, sizes):
    return {
        f"s{i}": rng.choice([-1, 0, 1], p=[p / 2, 1 - p, p / 2], size=n)
        for i, (p, n) in enumerate(zip(shares, sizes, strict=True))
    }


def test_the_gate_is_welchs_test_on_augmented_variances():
    groups = slices(np.random.default_rng(1), (0.2, 0.4, 0.6), (30, 50, 40))
    mean = np.array([g.mean() for g in groups.values()])
    n = np.array([len(g) for g in groups.values()])
    v = np.array(
        [(np.sum(g**2) + 2) / (len(g) + 2) - (g.sum() / (len(g) + 2)) ** 2 for g in groups.values()]
    )
    w, k = n / v, 3
    centre = np.sum(w * mean) / w.sum()
    spread = np.sum((1 - w / w.sum()) ** 2 / (n - 1))
    f = np.sum(w * (mean - centre) ** 2) / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    assert welch_gate(groups) == pytest.approx(
        stats.f.sf(f, k - 1, (k**2 - 1) / (3 * spread)), rel=1e-9
    )


def test_the_gate_opens_for_slices_that_differ():
    groups = {"a": [1] * 12 + [0] * 28, "b": [-1] * 12 + [0] * 28}
    assert welch_gate(groups) < 0.001


def test_the_gate_holds_its_level_when_slices_differ_in_noise_alone():
    rng = np.random.default_rng(2)
    opened = sum(
        welch_gate(slices(rng, (0.4, 0.05, 0.2), (20, 150, 60))) <= 0.05 for _ in range(400)
    )
    assert opened / 400 <= LEVEL


def test_the_gate_holds_its_level_when_documents_move_as_one():
    rng = np.random.default_rng(3)
    keys = {f"s{i}": [f"{i}-{j // 5}" for j in range(150)] for i in range(3)}
    naive = clustered = 0
    for _ in range(400):
        groups = {
            name: np.repeat(moves, 5) for name, moves in slices(rng, (0.3,) * 3, (30,) * 3).items()
        }
        naive += welch_gate(groups) <= 0.05
        clustered += welch_gate(groups, keys) <= 0.05
    assert clustered / 400 <= LEVEL
    assert naive / 400 > 0.2


def test_small_slices_and_single_clusters_stay_outside_the_gate():
    big = [1] * 6 + [0] * 14
    assert welch_gate({"a": big, "b": [-1] * 9}) == 1.0
    assert welch_gate({"a": big, "b": [-1] * 9}, min_size=9) < 0.05
    one = {"a": [f"q{i}" for i in range(20)], "b": ["doc"] * 20}
    assert welch_gate({"a": big, "b": [-1] * 20}, one) == 1.0
    assert welch_gate({}) == 1.0


def test_the_gate_does_not_depend_on_the_order_of_slices():
    groups = slices(np.random.default_rng(4), (0.2, 0.4, 0.6), (30, 50, 40))
    assert welch_gate(dict(reversed(groups.items()))) == welch_gate(groups)


def test_a_slice_with_a_hole_is_named():
    with pytest.raises(EvidenceError, match="slice 'b'"):
        welch_gate({"a": [0] * 12, "b": [float("nan")] * 12})

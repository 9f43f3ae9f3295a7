import numpy as np
import pytest

from ragablate.compare.inference.sequential import confidence_sequence, look_z, obf_bounds


def test_bounds_are_the_published_constants():
    # Jennison and Turnbull, table of O'Brien-Fleming constants at two-sided 0.05.
    published = {1: 1.960, 2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040, 10: 2.087}
    assert {looks: round(obf_bounds(looks)[-1], 3) for looks in published} == published


def test_earlier_looks_need_more():
    bounds = obf_bounds(10)
    assert len(bounds) == 10
    assert bounds[0] == pytest.approx(bounds[-1] * 10**0.5, abs=1e-5)
    assert list(bounds) == sorted(bounds, reverse=True)


def test_a_look_is_studentized_and_nothing_changed_is_zero():
    assert look_z([1, 1, 1, -1, 0]) == 1.0
    assert look_z([0, 0]) == 0.0


def test_peeking_is_paid_for():
    rng = np.random.default_rng(1)
    bounds = obf_bounds(10)
    naive = bounded = always = 0
    for _ in range(400):
        values = rng.choice([-1, 0, 1], p=[0.1, 0.8, 0.1], size=500)
        looks = [values[: 50 * k] for k in range(1, 11)]
        z = [abs(look_z(look)) for look in looks]
        naive += max(z) >= 1.96
        bounded += any(a >= b for a, b in zip(z, bounds, strict=True))
        intervals = [confidence_sequence(look, planned_n=500) for look in looks]
        always += any(not i.low <= 0 <= i.high for i in intervals)
    assert naive / 400 > 0.12
    assert bounded / 400 <= 0.05 + 3 * 0.011
    assert always / 400 <= 0.025 + 3 * 0.008


def test_the_sequence_covers_where_changes_are_rare():
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(200):
        values = (rng.random(300) < 0.02).astype(float)
        intervals = [confidence_sequence(values[:t], planned_n=300) for t in range(20, 301, 20)]
        missed += any(not i.low <= 0.02 <= i.high for i in intervals)
    assert missed / 200 <= 0.05


def test_senseless_plans_are_refused():
    with pytest.raises(ValueError, match="looks"):
        obf_bounds(0)
    with pytest.raises(ValueError, match="planned_n"):
        confidence_sequence([1, 0], planned_n=0)

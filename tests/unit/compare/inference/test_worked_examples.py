"""The worked examples of the method, on arrays, to the digits printed there."""

from types import SimpleNamespace

import numpy as np
import pytest

from ragablate.compare.inference.factorial import mediation, two_by_two
from ragablate.compare.inference.intervals import augmented_t, mean_interval, tango, wilson
from ragablate.compare.inference.judge_error import (
    corrected_difference,
    prediction_powered,
    rogan_gladen,
)
from ragablate.compare.inference.multiplicity import benjamini_hochberg, holm
from ragablate.compare.inference.naming import name_top
from ragablate.compare.inference.power import needed_n, needed_n_flat, needed_n_nothing_changed
from ragablate.compare.inference.randomization import mcnemar_exact, sign_flip
from ragablate.compare.inference.shapley import ordered_ladder, shapley
from ragablate.compare.inference.states import (
    Decision,
    decide,
    decide_with_missing,
    floor_changed,
    worst_case,
)
from ragablate.compare.inference.variance import variance_split


def counted(better, worse, n):
    """Paired 0/1 differences with these counts."""
    return [1] * better + [-1] * worse + [0] * (n - better - worse)


def limits(interval, digits=4):
    return round(interval.low, digits), round(interval.high, digits)


def assess(values, *, margin=0.05, clusters=None, replicates=1):
    """Test, intervals and state of one unadjusted contrast."""
    test = sign_flip(values, clusters=clusters, denominator=replicates)
    options = {"clusters": clusters, "replicates": replicates}
    ci95 = mean_interval(values, **options)
    ci90 = mean_interval(values, confidence=0.9, **options)
    decision = decide(
        ci95=ci95,
        ci90=ci90,
        p_adjusted=test.p,
        changed=test.changed,
        clusters_changed=test.clusters_changed,
        margin=margin,
        n=len(values),
    )
    return SimpleNamespace(
        effect=round(sum(values) / len(values), 4),
        p=test.p,
        ci95=limits(ci95),
        ci90=limits(ci90),
        state=decision.state,
        detail=decision.detail,
        floor=decision.floor,
        decision=decision,
    )


def test_ex1_gap_is_up_in_a_pilot_and_the_order_is_open():
    gap, upstream = assess(counted(7, 0, 14)), assess(counted(7, 2, 14))
    assert (gap.p, gap.state, gap.detail) == (0.015625, "up", "pilot")
    assert upstream.p == 92 / 512
    assert (upstream.effect, upstream.state) == (round(5 / 14, 4), "unclear")
    retrieval = {3: 1, 12: 1, 13: 1, 10: -1}
    table = {
        "retrieval": [retrieval.get(i, 0) for i in range(14)],
        "assembly": [int(i == 2) for i in range(14)],
    }
    naming = name_top(table, {"retrieval": False, "assembly": False})
    assert (naming.named, naming.candidates) == (None, ("retrieval", "assembly"))
    assert naming.p_values["assembly"] == 1.0


@pytest.mark.parametrize(
    ("counts", "effect", "p", "ci95", "state", "detail"),
    [
        ((9, 1, 40), 0.2, 22 / 1024, (0.0551, 0.3571), "up", ""),
        ((5, 0, 40), 0.125, 0.0625, (0.0264, 0.2611), "unclear", "borderline"),
        ((6, 0, 40), 0.15, 0.03125, (0.0492, 0.2907), "up", ""),
        ((14, 3, 100), 0.11, 0.012726, (0.0328, 0.1971), "up", ""),
        ((12, 5, 100), 0.07, 0.143463, (-0.0119, 0.1574), "unclear", ""),
    ],
)
def test_ex2_paired_zero_one_scores(counts, effect, p, ci95, state, detail):
    found = assess(counted(*counts))
    assert round(found.p, 6) == round(p, 6)
    assert (found.effect, found.ci95) == (effect, ci95)
    assert (found.state, found.detail) == (state, detail)
    assert found.floor == (counts[0] + counts[1] < 6)


def test_ex2_mid_p_and_published_check():
    assert mcnemar_exact(9, 1) == 22 / 1024
    assert mcnemar_exact(9, 1, midp=True) == 12 / 1024
    assert limits(tango(1, 7, 21), 3) == (-0.517, -0.026)


def test_ex3_fractional_scores():
    values = [1 / 3, 1 / 3, 2 / 3, -1 / 3, 1, 0, 0, 0, 0, 0]
    assert sign_flip(values, denominator=3).p == 8 / 32
    assert sign_flip(values, denominator=3, midp=True).p == 0.15625
    assert limits(augmented_t(values, replicates=3)) == (-0.1832, 0.5165)
    assert assess(values, replicates=3).effect == 0.2


def test_ex4_factorial():
    patterns = {"1111": 8, "0111": 2, "0001": 4, "0101": 2, "0011": 1, "0000": 3}
    rows = np.array([list(map(int, cell)) for cell, n in patterns.items() for _ in range(n)])
    assert rows.mean(axis=0).round(2).tolist() == [0.4, 0.6, 0.55, 0.85]
    effects = two_by_two(*rows.T)
    expected = {
        "first_old": (0.20, 0.125),
        "first_new": (0.30, None),
        "second_old": (0.15, None),
        "second_new": (0.25, None),
        "interaction": (0.10, 0.6875),
        "first_share": (0.25, 0.0078125),
        "second_share": (0.20, 0.015625),
        "total": (0.45, 0.00390625),
    }
    for name, (mean, p) in expected.items():
        values = getattr(effects, name)
        assert round(values.mean(), 12) == mean
        assert p is None or sign_flip(values).p == p
    assert ((effects.interaction > 0).sum(), (effects.interaction < 0).sum()) == (4, 2)


def test_ex5_shapley_against_ladders():
    hundredths = {"": 50, "a": 60, "b": 50, "c": 55, "ab": 70, "ac": 65, "bc": 55, "abc": 80}
    values = {frozenset(cell): float(value) for cell, value in hundredths.items()}
    assert shapley(values) == pytest.approx({"a": 100 / 6, "b": 40 / 6, "c": 40 / 6})
    assert sum(shapley(values).values()) == pytest.approx(30)
    assert ordered_ladder(values, "abc") == {"a": 10, "b": 10, "c": 10}
    assert ordered_ladder(values, "cba") == {"c": 5, "b": 0, "a": 25}


def test_ex6_holm_and_benjamini_hochberg():
    ps = (0.012, 0.030, 0.021, 0.400)
    assert holm(ps) == pytest.approx((0.048, 0.063, 0.063, 0.400))
    assert benjamini_hochberg(ps) == pytest.approx((0.04, 0.04, 0.04, 0.40))


def test_ex7_nothing_changed():
    few = assess([0] * 20, margin=0.10)
    assert (few.p, few.ci95, few.ci90) == (1.0, (-0.1611, 0.1611), (-0.1192, 0.1192))
    assert few.state == "unclear"
    enough = assess([0] * 52)
    assert (enough.ci90, enough.state) == ((-0.0495, 0.0495), "flat")
    assert [needed_n_nothing_changed(m) for m in (0.1, 0.05, 0.03, 0.02)] == [25, 52, 88, 133]


def test_ex8_evidence_gained_and_nothing_lost():
    gained = assess(counted(4, 0, 10))
    assert (gained.effect, gained.p) == (0.4, 0.125)


def test_ex9_moved_between_buckets():
    total = assess(counted(0, 0, 60))
    assert (total.ci90, total.state) == ((-0.0431, 0.0431), "flat")
    assert round(mcnemar_exact(10, 0), 6) == 0.001953
    assert mcnemar_exact(4, 0) == 0.125


def test_ex10_mediation():
    patterns = {"0101": 5, "1100": 3, "1111": 7, "0000": 5}
    rows = np.array([list(map(int, cell)) for cell, n in patterns.items() for _ in range(n)])
    assert rows.mean(axis=0).tolist() == [0.5, 0.75, 0.35, 0.6]
    paths = mediation(*rows.T)
    assert round(paths.total.mean(), 12) == 0.10
    for evidence in (paths.evidence, paths.evidence_on_control, paths.evidence_on_treatment):
        assert evidence.mean() == 0.25
    for other in (paths.other, paths.other_on_control, paths.other_on_treatment):
        assert round(other.mean(), 12) == -0.15


def test_ex11_judge():
    assert round(rogan_gladen(0.70, 0.90, 0.85), 4) == 0.7333
    assert round(corrected_difference(0.075, 0.90, 0.85), 12) == 0.1
    judged = counted(14, 0, 200)
    labelled = {i: judged[i] - (1 if i < 5 else 0) for i in range(0, 80)}
    result = prediction_powered(judged, labelled)
    assert (round(result.judged, 4), round(result.rectifier, 4)) == (0.07, -0.0625)
    assert round(result.estimate, 4) == 0.0075


def test_ex12_sample_sizes():
    asked = [(0.2, 0.10), (0.2, 0.05), (0.1, 0.05), (0.3, 0.10)]
    assert [needed_n(*ask, exact_inflation=False) for ask in asked] == [155, 626, 312, 234]
    assert [needed_n_flat(0.1, 0.05), needed_n_flat(0.2, 0.10)] == [343, 172]


def test_ex13_variance_split():
    old = [[1, 1, 1, 1], [1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0]]
    new = [[1, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    split = variance_split(old, new)
    assert (split.mean, split.s2_d) == (0.25, 0.0625)
    assert (round(split.within, 6), round(split.within / 4, 6)) == (0.183333, 0.045833)
    assert round(split.between, 6) == 0.016667
    assert (round(split.se_super, 4), round(split.se_set, 4)) == (0.1118, 0.0957)


def test_ex14_errors_leave_the_sign_open():
    control = [1, 1, 1, 1, 1, 0, 0, 0, 1, 0]
    treatment = [1, 1, 1, 1, 1, 1, 0, 0, None, None]
    lower, upper = worst_case(control, treatment)
    assert (round(lower.mean(), 12), round(upper.mean(), 12)) == (0.0, 0.2)
    complete = [t - c for c, t in zip(control, treatment, strict=True) if t is not None]
    assert sum(complete) / 8 == 0.125
    states = [assess(values).decision for values in (complete, lower, upper)]
    assert decide_with_missing(*states).state == "unclear"


def test_ex16_clusters():
    values, keys = [1, 1, 1, 1, 1, -1], list("aaabbc")
    assert sign_flip(values).p == 0.21875
    test = sign_flip(values, clusters=keys)
    assert (test.p, test.clusters_changed) == (0.5, 3)
    assert assess(values, clusters=keys).floor


def test_ex17_floors():
    assert [floor_changed(k) for k in range(1, 7)] == [6, 7, 7, 8, 8, 8]


@pytest.mark.parametrize(
    ("top", "second", "p", "named"), [(14, 3, 0.012726, "top"), (12, 5, 0.143463, None)]
)
def test_ex18_naming(top, second, p, named):
    table = {
        "top": [1] * top + [0] * (100 - top),
        "second": [0] * top + [1] * second + [0] * (100 - top - second),
    }
    naming = name_top(table, {"top": True, "second": False})
    assert (naming.named, round(naming.p_values["second"], 6)) == (named, p)
    assert naming.candidates == (("top",) if named else ("top", "second"))


def test_ex19_upstream_against_reader():
    gap = assess(counted(32, 2, 100))
    assert (gap.effect, gap.ci95, f"{gap.p:.1e}") == (0.3, (0.2041, 0.4011), "6.9e-08")
    upstream = assess([1] * 32 + [-1] * 8 + [-2] * 2 + [0] * 58)
    assert (upstream.effect, round(upstream.p, 4)) == (0.2, 0.0053)
    assert (upstream.ci95, upstream.state) == ((0.0640, 0.3281), "up")
    assert limits(wilson(15, 100)) == (0.0931, 0.2328)


def test_ex20_shape():
    evidence = assess(counted(1, 21, 120))
    assert (evidence.effect, f"{evidence.p:.1e}") == (-0.1667, "1.1e-05")
    assert evidence.state == "down"
    kept = assess(counted(1, 2, 79), margin=0.10)
    assert (kept.ci90, kept.state) == ((-0.0629, 0.0327), "flat")
    assert assess(counted(1, 2, 79), margin=0.05).state == "unclear"
    assert needed_n_flat(3 / 79, 0.05) == 131


def test_ex22_co_failures_leave_the_order_open():
    upstream = assess(counted(48, 48, 200))
    assert (upstream.effect, upstream.p) == (0.0, 1.0)
    charged = assess(counted(48, 80, 200))
    assert (charged.effect, round(charged.p, 4)) == (-0.16, 0.0059)


def test_ex23_pooling_unanswerables_would_blame_upstream():
    pooled = assess(counted(30, 5, 100))
    assert (pooled.effect, f"{pooled.p:.1e}") == (0.25, "2.2e-05")


def test_ex24_clusters_of_which_nothing_changed():
    clustered = assess([0] * 100, margin=0.10, clusters=[str(i // 5) for i in range(100)])
    assert (clustered.ci90, clustered.state) == ((-0.1192, 0.1192), "unclear")
    assert assess([0] * 100).ci90 == (-0.0263, 0.0263)


def test_ex25_missing_answers():
    control = [0] * 12 + [1] + [0] * 83 + [1] * 4
    treatment = [1] * 12 + [0] + [0] * 83 + [None] * 4
    complete = assess([t - c for c, t in zip(control, treatment, strict=True) if t is not None])
    assert (round(complete.effect, 2), round(complete.p, 4), complete.state) == (0.11, 0.0034, "up")
    lower, upper = (assess(bound.tolist()) for bound in worst_case(control, treatment))
    assert (round(lower.p, 4), lower.state) == (0.1435, "unclear")
    assert decide_with_missing(complete.decision, lower.decision, upper.decision) == Decision(
        "unclear", "errors could flip it"
    )


def test_ex28_as_many_fixed_as_broken():
    assert assess(counted(10, 10, 300)).state == "flat"


def test_ex29_a_reader_that_begins_to_refuse():
    faithfulness = assess(counted(0, 10, 100))
    assert (round(faithfulness.p, 5), faithfulness.state) == (0.00195, "down")

from __future__ import annotations

import math

import pytest

from ragablate.compare import compare

SAME = ("control", "correct"), ("upstream", "correct")


def paired(sheet, better: int, worse: int, n: int):
    """n questions of a swapped retriever, of which some turned right and some wrong."""
    control, treatment = SAME
    made = sheet()
    made.add({control: 0, treatment: 1}, times=better)
    made.add({control: 1, treatment: 0}, times=worse)
    return made.add({control: 1, treatment: 1}, times=n - better - worse)


def primary(study):
    return compare(study).effects[0]


@pytest.mark.parametrize(
    ("n", "better", "worse", "effect", "p", "low", "high", "state", "detail"),
    [
        (40, 9, 1, 0.2, 22 / 1024, 0.0551, 0.3571, "up", ""),
        (40, 5, 0, 0.125, 2 / 32, 0.0264, 0.2611, "unclear", "borderline"),
        (40, 6, 0, 0.15, 0.03125, 0.0492, 0.2907, "up", ""),
        (100, 14, 3, 0.11, 0.012726, 0.0328, 0.1971, "up", ""),
        (100, 12, 5, 0.07, 0.143463, -0.0119, 0.1574, "unclear", ""),
    ],
)
def test_paired_zero_one_scores_come_out_as_in_ex_2(
    sheet, declare, n, better, worse, effect, p, low, high, state, detail
):
    found = primary(paired(sheet, better, worse, n).study(declare("upstream")))

    assert found.effect == pytest.approx(effect)
    assert found.p == pytest.approx(p, abs=1e-6)
    assert found.ci95.method == "tango"
    assert (found.ci95.low, found.ci95.high) == pytest.approx((low, high), abs=5e-5)
    assert (found.state, found.detail) == (state, detail)
    assert (found.better, found.worse, found.same) == (better, worse, n - better - worse)


@pytest.mark.parametrize(
    ("n", "margin", "state", "half"),
    [(20, 0.10, "unclear", 0.1192), (52, 0.05, "flat", 0.0495), (51, 0.05, "unclear", 0.0504)],
)
def test_no_change_at_all_is_flat_only_where_n_shows_it_as_in_ex_7(
    sheet, declare, n, margin, state, half
):
    found = primary(paired(sheet, 0, 0, n).study(declare("upstream", margin=margin)))

    assert found.p == 1.0
    assert found.ci90.high == pytest.approx(half, abs=5e-5)
    assert found.ci90.low == -found.ci90.high
    assert found.state == state


def test_needed_n_when_nothing_changed_is_that_of_ex_7(sheet, declare):
    assert primary(paired(sheet, 0, 0, 20).study(declare("upstream"))).needed_n == 52
    assert primary(paired(sheet, 0, 0, 20).study(declare("upstream", margin=0.1))).needed_n == 25


def test_fractional_scores_of_three_replicates_come_out_as_in_ex_3(sheet, declare):
    control, treatment = SAME
    made = sheet()
    for right in (1, 1, 2, 3):
        made.add({control: (0, 0, 0), treatment: tuple(int(k < right) for k in range(3))})
    made.add({control: (1, 0, 0), treatment: (0, 0, 0)})
    made.add({control: (1, 1, 0), treatment: (0, 1, 1)}, times=5)

    found = primary(made.study(declare("upstream")))

    assert found.effect == pytest.approx(0.2)
    assert found.p == 0.25
    assert found.replicates == 3
    assert found.ci95.method == "augmented t"
    assert (found.ci95.low, found.ci95.high) == pytest.approx((-0.1832, 0.5165), abs=5e-5)


def test_repeating_cluster_keys_flip_whole_clusters_as_in_ex_16(sheet, declare):
    control, treatment = SAME
    made = sheet()
    made.add({control: 0, treatment: 1}, times=3, cluster="a")
    made.add({control: 0, treatment: 1}, times=2, cluster="b")
    made.add({control: 1, treatment: 0}, cluster="c")

    found = primary(made.study(declare("upstream")))

    assert (found.clusters, found.p, found.state) == (3, 0.5, "unclear")
    assert found.ci95.method == "cluster t"


def test_clusters_and_not_questions_decide_whether_nothing_changed_as_in_ex_24(sheet, declare):
    made = sheet()
    for document in range(20):
        made.add(dict.fromkeys(SAME, 1), times=5, cluster=f"d{document}")

    found = primary(made.study(declare("upstream", margin=0.10)))

    assert found.state == "unclear"
    assert found.ci90.high == pytest.approx(0.1192, abs=5e-5)
    assert found.needed_n > 100


def test_keys_that_never_repeat_leave_questions_alone(sheet, declare):
    made = sheet()
    for document in range(30):
        made.add(dict.fromkeys(SAME, 1), cluster=f"d{document}")

    assert primary(made.study(declare("upstream"))).clusters is None


def test_a_question_without_a_key_is_a_cluster_of_its_own(sheet, declare):
    made = sheet().add(dict.fromkeys(SAME, 1), times=4, cluster="a").add(dict.fromkeys(SAME, 1))

    assert primary(made.study(declare("upstream"))).clusters == 2


def test_the_primary_family_is_adjusted_by_holm_and_the_placebo_is_not_in_it(sheet, declare):
    made = sheet()
    rows = ((0, 1, 1, 14), (1, 0, 1, 3), (1, 1, 0, 4), (0, 0, 1, 12), (1, 1, 1, 67))
    for control, upstream, oracle, times in rows:
        made.add(
            {
                ("control", "correct"): control,
                ("upstream", "correct"): upstream,
                ("oracle", "correct"): oracle,
                ("placebo", "correct"): control,
            },
            times=times,
        )
    effects = compare(
        made.study(declare("upstream"), declare("oracle"), declare("placebo"))
    ).effects

    swap, oracle, placebo = effects[:3]
    assert swap.p == pytest.approx(0.012726, abs=1e-6)
    smaller, larger = sorted((swap.p, oracle.p))
    assert {swap.p_adjusted, oracle.p_adjusted} == {2 * smaller, max(larger, 2 * smaller)}
    assert placebo.p_adjusted == placebo.p == 1.0


def test_a_refused_contrast_stays_in_its_family(sheet, declare):
    from ragablate.records import Proof

    made = paired(sheet, 9, 1, 40)
    for qid in made.qids:
        made.scores.setdefault("oracle", {}).setdefault("correct", {})[qid] = (1.0,)
    contrasts = (declare("upstream"), declare("oracle"))
    broken = (Proof("INV-12", "fail", "refuse", "the oracle context holds other passages"),)
    study = made.study(*contrasts)
    refused = made.study(*contrasts, proofs={**study.proofs, contrasts[1].id: broken})

    assert primary(refused).p_adjusted == 2 * primary(refused).p


def test_needed_n_plans_for_the_declared_margin_and_not_for_the_observed_effect(sheet, declare):
    found = primary(paired(sheet, 12, 5, 100).study(declare("upstream")))

    share, margin, z, power = 0.17, 0.05, 1.959964, 0.841621
    root = z * math.sqrt(share) + power * math.sqrt(share - margin**2)
    assert found.needed_n == math.ceil(1.08 * (root / margin) ** 2)
    assert found.detectable == pytest.approx(0.12, abs=0.01)


def test_near_zero_the_needed_n_is_that_of_showing_flatness_as_in_ex_20(sheet, declare):
    found = primary(paired(sheet, 1, 2, 79).study(declare("upstream")))

    assert (found.state, found.needed_n) == ("unclear", 131)
    assert (found.ci90.low, found.ci90.high) == pytest.approx((-0.0629, 0.0327), abs=5e-5)


def test_a_decided_effect_needs_no_more_questions(sheet, declare):
    found = primary(paired(sheet, 14, 3, 100).study(declare("upstream")))

    assert (found.needed_n, found.detectable) == (None, None)


def test_a_score_that_is_no_fraction_of_its_replicates_is_tested_by_drawn_signs(sheet, declare):
    control, treatment = SAME
    made = sheet()
    for i in range(60):
        made.add({control: 0.5, treatment: 0.5 + math.sin(i * i) / 3})

    found = primary(made.study(declare("upstream")))

    assert not found.p_exact
    assert found.p == primary(made.study(declare("upstream"))).p
    assert 0 < found.p <= 1

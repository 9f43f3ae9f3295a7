from __future__ import annotations

import pytest

from ragablate.compare import compare


def row(arm, **values):
    return {(arm, name): value for name, value in values.items()}


def test_every_arm_shows_its_stages_control_first_in_pipeline_order(sheet, declare):
    made = sheet()
    values = {"correct": 1, "abstained": 0, "evidence_in_context": 1, "evidence_retrieved": 1}
    made.add(row("reader", **values) | row("control", **values), times=3)
    made.add(row("reader", correct=1) | row("control", correct=0), answerable=False)

    signals = compare(made.study(declare("reader"))).signals

    assert [(s.arm, s.measure) for s in signals if s.population == "answerable"] == [
        (arm, measure)
        for arm in ("control", "reader")
        for measure in ("evidence_retrieved", "evidence_in_context", "abstained", "correct")
    ]
    apart = {(s.arm, s.measure): s.mean for s in signals if s.population == "unanswerable"}
    assert apart == {
        ("control", "abstained"): None,
        ("control", "correct"): 0.0,
        ("reader", "abstained"): None,
        ("reader", "correct"): 1.0,
    }


def test_a_rate_of_zeros_and_ones_has_a_wilson_interval_and_others_none(sheet, declare):
    made = sheet()
    made.add(row("control", correct=1, faithfulness=0.5) | row("reader", correct=1), times=85)
    made.add(row("control", correct=0, faithfulness=None) | row("reader", correct=1), times=15)

    signals = {(s.arm, s.measure): s for s in compare(made.study(declare("reader"))).signals}

    correct = signals["control", "correct"]
    assert (correct.mean, correct.n, correct.unmeasured) == (0.85, 100, 0)
    assert (correct.ci95.low, correct.ci95.high) == pytest.approx((0.7672, 0.9069), abs=5e-5)
    faithful = signals["control", "faithfulness"]
    assert (faithful.mean, faithful.n, faithful.unmeasured) == (0.5, 85, 15)
    assert faithful.ci95 is None


def test_a_measure_without_a_value_is_unmeasured_and_not_zero(sheet, declare):
    made = sheet().add(
        row("control", correct=1, abstained=None) | row("reader", correct=1, abstained=0), times=4
    )
    signals = {(s.arm, s.measure): s for s in compare(made.study(declare("reader"))).signals}

    empty = signals["control", "abstained"]
    assert (empty.mean, empty.n, empty.unmeasured, empty.ci95) == (None, 0, 4, None)


def test_clusters_count_instead_of_questions_in_the_interval(sheet, declare):
    made = sheet()
    for document in range(10):
        made.add(
            row("control", correct=1) | row("reader", correct=1), times=5, cluster=f"{document}"
        )

    signal = compare(made.study(declare("reader"))).signals[0]

    assert signal.ci95.low == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)

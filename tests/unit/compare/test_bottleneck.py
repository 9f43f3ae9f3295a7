from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.compare import compare
from ragablate.compare.bottleneck import bottleneck
from ragablate.compare.comparison import cases
from ragablate.compare.verdicts import conclude
from ragablate.records import Interval

VERDICTS = {
    "gold suspect",
    "no material shortfall",
    "upstream is the bottleneck",
    "reader is the bottleneck",
    "reader is the larger loss",
    "both",
    "not enough evidence",
}


def row(evidence, control, oracle, closed=None):
    made = {
        ("control", "evidence_in_context"): evidence,
        ("oracle", "evidence_in_context"): 1,
        ("control", "correct"): control,
        ("oracle", "correct"): oracle,
    }
    return made if closed is None else {**made, ("closed_book", "correct"): closed}


def apart(control, oracle, closed):
    return {**row(None, control, oracle, closed), ("oracle", "evidence_in_context"): None}


def worked(sheet, *rows):
    made = sheet()
    for evidence, control, oracle, times in rows:
        made.add(row(evidence, control, oracle), times=times)
    return made


def oracle_of(study):
    comparison = compare(study)
    effects = {e.id: e for e in comparison.effects}
    weighing = effects["oracle/oracle:upstream minus reader:answerable"]
    return effects["oracle/oracle:correct:answerable"], weighing, comparison.conclusions[0]


def ex_1(sheet):
    made = sheet()
    for prompt, n, b, o in (
        (1, 0, 1, 1),
        (1, 1, 1, 1),
        (0, 0, 0, 1),
        (0, 0, 0, 1),
        (0, 0, 0, 1),
        (1, 0, 0, 1),
        (1, 0, 0, 1),
        (1, 0, 0, 0),
        (0, 0, 0, 0),
        (1, 0, 0, 0),
        (0, 1, 1, 1),
        (1, 0, 1, 1),
        (0, 0, 0, 1),
        (0, 0, 0, 1),
    ):
        made.add(row(prompt, b, o, n))
    made.add(apart(0, 1, 1), answerable=False)
    return made.add(apart(0, 0, 0), answerable=False)


def test_ex_1_loses_upstream_with_the_order_open(sheet, declare):
    gap, weighing, conclusion = oracle_of(ex_1(sheet).study(declare("oracle")))

    assert (gap.n, gap.effect, gap.better, gap.worse) == (14, 0.5, 7, 0)
    assert (gap.p, gap.state) == (0.015625, "up")
    assert weighing.effect == pytest.approx(5 / 14)
    assert weighing.p == pytest.approx(92 / 512)
    assert (weighing.better, weighing.worse) == (7, 2)
    assert conclusion.verdict == "both"
    assert conclusion.limits == ("pilot: only 14 questions",)
    assert conclusion.label == "causal with limits"


def test_ex_1_closed_book_tells_induced_from_unprompted_fabrication(sheet, declare):
    comparison = compare(ex_1(sheet).study(declare("closed_book")))

    said = " ".join(comparison.conclusions[0].sentences)
    assert "12 of 14 questions are never right without context" in said
    assert "the context made the reader invent an answer on 1, and it invents one without any" in (
        said
    )
    assert "without any context on 1;" in said


def test_ex_19_finds_upstream_to_be_the_bottleneck(sheet, declare):
    made = worked(sheet, (0, 0, 1, 32), (1, 1, 0, 2), (1, 0, 0, 8), (0, 0, 0, 5), (1, 1, 1, 53))
    gap, weighing, conclusion = oracle_of(made.study(declare("oracle")))

    assert gap.effect == pytest.approx(0.30)
    assert gap.p == pytest.approx(6.9e-8, rel=0.01)
    assert (gap.ci95.low, gap.ci95.high) == pytest.approx((0.2041, 0.4011), abs=5e-5)
    assert weighing.effect == pytest.approx(0.20)
    assert weighing.p == pytest.approx(0.0053, abs=5e-5)
    assert weighing.ci95.method == "augmented t"
    assert (weighing.ci95.low, weighing.ci95.high) == pytest.approx((0.0640, 0.3281), abs=5e-5)
    assert conclusion.verdict == "upstream is the bottleneck"
    assert conclusion.owner.startswith("everything before the reader")
    assert weighing.id in conclusion.effects


def test_ex_22_blames_neither_side_for_independent_failures(sheet, declare):
    made = worked(sheet, (1, 1, 1, 72), (0, 0, 1, 48), (1, 0, 0, 48), (0, 0, 0, 32))
    gap, weighing, conclusion = oracle_of(made.study(declare("oracle")))

    assert gap.effect == pytest.approx(0.24)
    assert (weighing.effect, weighing.p) == (0.0, 1.0)
    assert conclusion.verdict == "both"
    assert any(
        s.startswith("16 % of the questions need more than one fix") for s in (conclusion.sentences)
    )


def test_ex_23_fabrication_is_no_fault_of_retrieval(sheet, declare):
    made = sheet()
    made.add(row(1, 1, 1, 0), times=65).add(row(1, 0, 0, 0), times=5)
    made.add(apart(0, 1, 1), times=30, answerable=False)
    contrasts = declare("oracle"), declare("closed_book")

    gap, _, conclusion = oracle_of(made.study(*contrasts))

    assert (gap.n, gap.effect, gap.state) == (70, 0.0, "flat")
    assert conclusion.verdict != "upstream is the bottleneck"
    closed = compare(made.study(*contrasts)).conclusions[1]
    assert any("invent an answer on 30" in s for s in closed.sentences)


def test_a_reader_that_fails_with_the_gold_before_it_is_the_bottleneck(sheet, declare):
    made = worked(sheet, (1, 1, 1, 60), (1, 0, 0, 40))

    conclusion = oracle_of(made.study(declare("oracle")))[2]

    assert conclusion.verdict == "reader is the bottleneck"
    assert "falls short by 0.40 (95 % CI 0.31 to 0.50)" in conclusion.sentences[1]


def test_gold_that_serves_worse_than_the_context_is_suspect(sheet, declare):
    made = worked(sheet, (1, 1, 1, 60), (1, 1, 0, 40))

    assert oracle_of(made.study(declare("oracle")))[2].verdict == "gold suspect"


def test_a_gate_is_taken_out_of_the_comparison_and_reported_beside_it(sheet, declare):
    made = sheet()
    refused = {("gate", "correct"): 1, ("gate", "evidence_in_context"): 1}
    wrong = {("gate", "correct"): 0, ("gate", "evidence_in_context"): 0}
    made.add(row(0, 0, 1) | refused, times=20)
    made.add(row(0, 0, 1) | wrong, times=20)
    made.add(row(1, 1, 1) | refused, times=60)
    contrasts = declare("oracle"), declare("gate", control_level="floor")

    gap, weighing, conclusion = oracle_of(made.study(*contrasts))

    assert gap.arms == ("gate", "oracle")
    assert gap.effect == pytest.approx(0.20)
    assert weighing.control_mean == 0.0
    assert "the gate taken out of the control" in conclusion.sentences[0]
    assert any(
        s.startswith("The gate's own part, when it is taken out: correct rose from 0.60 to 0.80")
        for s in conclusion.sentences
    )


def test_without_evidence_judged_the_sides_are_not_weighed(sheet, declare):
    made = sheet()
    made.add({("control", "correct"): 0, ("oracle", "correct"): 1}, times=40)
    made.add({("control", "correct"): 1, ("oracle", "correct"): 1}, times=60)

    conclusion = compare(made.study(declare("oracle"))).conclusions[0]

    assert conclusion.verdict == "both"
    assert "cannot be weighed" in conclusion.sentences[1]


STATES = st.sampled_from(["up", "down", "flat", "unclear", "refused"])
RATES = st.floats(0, 1)


@given(STATES, STATES, st.tuples(RATES, RATES), st.tuples(RATES, RATES), st.floats(0.01, 0.5))
@settings(deadline=None, max_examples=300)
def test_every_combination_has_exactly_one_verdict(gap, weighing, control, oracle, margin):
    intervals = (Interval(*sorted(ends), 0.95, "wilson") for ends in (control, oracle))

    assert bottleneck(gap, weighing, *intervals, margin) in VERDICTS


@pytest.mark.parametrize(
    ("gap", "weighing", "verdict"),
    [
        ("up", "up", "upstream is the bottleneck"),
        ("up", "flat", "both"),
        ("up", "unclear", "both"),
        ("up", "down", "reader is the larger loss"),
        ("unclear", "down", "reader is the larger loss"),
        ("unclear", "up", "not enough evidence"),
        ("unclear", "unclear", "not enough evidence"),
        ("flat", "down", "reader is the bottleneck"),
        ("flat", "up", "reader is the bottleneck"),
        ("down", "up", "gold suspect"),
    ],
)
def test_the_first_row_that_applies_decides(gap, weighing, verdict):
    short = Interval(0.2, 0.4, 0.95, "wilson")

    assert bottleneck(gap, weighing, short, short, 0.05) == verdict


def test_a_shortfall_within_the_margin_is_none_unless_the_gold_does_worse():
    none, some, open_ = (
        Interval(low, high, 0.95, "wilson") for low, high in ((0, 0.04), (0.1, 0.2), (0.01, 0.2))
    )

    assert bottleneck("unclear", "down", none, none, 0.05) == "no material shortfall"
    assert bottleneck("flat", "flat", some, none, 0.05) == "no material shortfall"
    assert bottleneck("flat", "flat", some, open_, 0.05) == "not enough evidence"
    assert bottleneck("down", "flat", none, some, 0.05) == "gold suspect"


def test_every_combination_of_states_speaks(sheet, declare):
    study = worked(sheet, (1, 1, 1, 72), (0, 0, 1, 48), (1, 0, 0, 48)).study(declare("oracle"))
    case = cases(study)[0]
    key = ("upstream minus reader", "answerable")

    for gap, weighing in product(("up", "down", "flat", "unclear"), repeat=2):
        forged = replace(
            case,
            primary=replace(case.primary, state=gap),
            others={**case.others, key: replace(case.others[key], state=weighing)},
        )
        conclusion = conclude(forged)
        assert conclusion.verdict in VERDICTS
        assert all(s.strip() and s.endswith(".") for s in conclusion.sentences)


def test_a_control_that_lacks_next_to_nothing_has_no_material_shortfall(sheet, declare):
    made = worked(sheet, (1, 1, 1, 199), (1, 0, 1, 1))

    conclusion = oracle_of(made.study(declare("oracle")))[2]

    assert conclusion.verdict == "no material shortfall"
    assert "the control lacks at most 0.028 of correct (95 % limit)" in conclusion.sentences[1]


def test_gold_that_adds_little_and_leaves_little_lacking_has_no_material_shortfall(sheet, declare):
    made = worked(sheet, (1, 1, 1, 190), (1, 0, 1, 10))

    conclusion = oracle_of(made.study(declare("oracle", margin=0.087)))[2]

    assert conclusion.verdict == "no material shortfall"
    assert "with the gold alone at most 0.019 of correct is lacking" in conclusion.sentences[1]

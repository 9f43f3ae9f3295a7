from __future__ import annotations

from dataclasses import replace

import pytest

from ragablate.compare import compare
from ragablate.compare.comparison import cases
from ragablate.compare.necessity import necessity_reading, turned
from ragablate.compare.verdicts import conclude
from ragablate.records import Interval


def row(arm, evidence, control, treatment, placebo=None):
    decodes = len(evidence) if isinstance(evidence, tuple) else 1
    made = {
        ("control", "evidence_in_context"): evidence,
        (arm, "evidence_in_context"): (1 if arm == "context" else 0,) * decodes,
        ("control", "correct"): control,
        (arm, "correct"): treatment,
    }
    return made if placebo is None else {**made, ("placebo", "correct"): placebo}


def found(study, was_right):
    case = cases(study)[0]
    return turned(case.table, case.contrast, case.pairs, "control", was_right=was_right)


def test_necessity_is_two_thirds_in_ex_15(sheet, declare):
    made = sheet()
    for evidence, control, without in (
        (1, 1, 0),
        (1, 1, 1),
        (1, 1, 0),
        (0, 1, 1),
        (1, 0, 0),
        (0, 0, 0),
    ):
        made.add(row("necessity", evidence, control, without))

    share = found(made.study(declare("necessity")), was_right=True)

    assert (share.n, share.share, share.noise) == (3, pytest.approx(2 / 3), None)


def test_sufficiency_is_four_sixths_in_ex_1(sheet, declare):
    made = sheet()
    for evidence, control, supplied in (
        (0, 0, 1),
        (0, 0, 1),
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 1),
        (0, 0, 1),
        (0, 1, 0),
        (1, 0, 0),
        (1, 1, 1),
    ):
        made.add(row("context", evidence, control, supplied))
    study = made.study(declare("context"))

    share = found(study, was_right=False)

    assert (share.n, share.share) == (6, pytest.approx(4 / 6))
    said = compare(study).conclusions[0].sentences[-1]
    assert said.startswith("Of the 6 answered wrong without all the evidence in the context, 67 %")


def test_what_a_mere_repetition_turns_is_taken_off(sheet, declare):
    made = sheet()
    made.add(row("necessity", 1, 1, 0, placebo=0), times=3)
    made.add(row("necessity", 1, 1, 0, placebo=1), times=5)
    made.add(row("necessity", 1, 1, 1, placebo=1), times=2)
    study = made.study(declare("necessity"), declare("placebo"))

    assert found(study, was_right=True).noise == pytest.approx(0.3)
    assert any("50 % beyond the 30 %" in s for s in compare(study).conclusions[0].sentences)


def test_the_share_counts_the_decodes_that_turn(sheet, declare):
    made = sheet().add(row("necessity", (1, 1), (1, 1), (0, 1)), times=4)
    made.add(row("necessity", (1, 1), (1, 0), (0, 0)))

    share = found(made.study(declare("necessity")), was_right=True)

    assert (share.n, share.share) == (4, 0.5)


LOW, OPEN, HIGH = (
    Interval(low, high, 0.95, "wilson") for low, high in ((0.1, 0.4), (0.4, 0.7), (0.6, 0.9))
)


@pytest.mark.parametrize(
    ("state", "share", "verdict"),
    [
        ("down", HIGH, "answers need the evidence"),
        ("down", OPEN, "answers need the evidence"),
        ("down", LOW, "evidence is not what makes most answers right"),
        ("unclear", LOW, "evidence is not what makes most answers right"),
        ("unclear", OPEN, "not enough evidence"),
        ("unclear", None, "not enough evidence"),
        ("flat", HIGH, "evidence is not what makes these answers right"),
        ("flat", None, "evidence is not what makes these answers right"),
        ("up", HIGH, "gold suspect"),
    ],
)
def test_necessity_is_read_from_the_effect_and_the_share(state, share, verdict):
    assert necessity_reading(state, share) == verdict


@pytest.mark.parametrize("kind", ["necessity", "context"])
@pytest.mark.parametrize("state", ["up", "down", "flat", "unclear"])
def test_every_state_of_an_edited_context_speaks(sheet, declare, kind, state):
    case = cases(sheet().add(row(kind, 1, 1, 0), times=40).study(declare(kind)))[0]

    conclusion = conclude(replace(case, primary=replace(case.primary, state=state)))

    assert conclusion.verdict
    assert all(s.endswith(".") for s in conclusion.sentences)


def test_answers_that_do_not_need_the_evidence_limit_claims_about_retrieval(sheet, declare):
    made = sheet()
    upstream = {("upstream", "correct"): 1, ("upstream", "evidence_in_context"): 1}
    made.add(row("necessity", 1, 1, 1) | upstream, times=50)
    made.add(row("necessity", 1, 1, 0) | upstream, times=10)

    limits = compare(made.study(declare("necessity"), declare("upstream"))).conclusions[1].limits

    assert limits == (
        "only 17 % of the 60 answers that were right with all the evidence turn wrong without it",
    )

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from ragablate.compare import compare
from ragablate.compare.comparison import cases
from ragablate.compare.swaps import evidence_by_score
from ragablate.compare.verdicts import conclude

STATES = ("up", "down", "flat", "unclear")


def row(arm, evidence, score, control=(1, 1), refused=0):
    """Evidence and score of one arm beside those of control."""
    return {
        ("control", "evidence_retrieved"): control[0],
        ("control", "evidence_in_context"): control[0],
        ("control", "correct"): control[1],
        ("control", "abstained"): 0,
        (arm, "evidence_retrieved"): evidence,
        (arm, "evidence_in_context"): evidence,
        (arm, "correct"): score,
        (arm, "abstained"): refused,
    }


def forged(case, score, **states):
    """The case with other states of its effects, named by measure or ``unanswerable``."""
    others = dict(case.others)
    for name, state in states.items():
        measure = "correct" if name == "unanswerable" else name
        key = (measure, "unanswerable" if name == "unanswerable" else "answerable")
        others[key] = replace(others[key], state=state)
    return replace(case, primary=replace(case.primary, state=score), others=others)


@pytest.mark.parametrize(
    ("evidence", "score", "verdict"),
    [
        ("up", "up", "retriever improves answers"),
        ("up", "flat", "evidence improved, answers did not"),
        ("up", "down", "evidence improved, answers worse"),
        ("flat", "up", "effect not through evidence presence"),
        ("flat", "down", "effect not through evidence presence"),
        ("flat", "flat", "no material change for this reader"),
        ("down", "up", "less evidence, better answers"),
        ("down", "down", "retriever regressed"),
        ("down", "flat", "evidence lost without loss of answers"),
    ],
)
def test_evidence_and_score_are_read_together(evidence, score, verdict):
    assert evidence_by_score(evidence, score, "retriever").verdict == verdict


@pytest.mark.parametrize("open_", STATES)
def test_either_signal_unclear_is_not_enough_evidence(open_):
    assert evidence_by_score("unclear", open_, "retriever").verdict.startswith(
        "not enough evidence"
    )
    assert evidence_by_score(open_, "unclear", "retriever").verdict.startswith(
        "not enough evidence"
    )


def test_evidence_never_judged_is_not_enough_evidence_whatever_the_score():
    for score in STATES:
        reading = evidence_by_score("refused", score, "retriever")
        assert reading.verdict == "not enough evidence"
        assert "not measured" in reading.text


@pytest.mark.parametrize("kind", ["upstream", "assembler"])
def test_every_combination_of_a_swapped_stage_speaks(sheet, declare, kind):
    case = cases(sheet().add(row(kind, 1, 1), times=60).study(declare(kind)))[0]

    for evidence, score in product(STATES, repeat=2):
        conclusion = conclude(forged(case, score, evidence_in_context=evidence))
        assert conclusion.verdict
        assert all(s.endswith(".") for s in conclusion.sentences)
        assert bool(conclusion.settle) == ("unclear" in (evidence, score))


def test_a_retriever_that_brings_evidence_and_answers_improves_them(sheet, declare):
    made = sheet().add(row("upstream", 1, 1, control=(0, 0)), times=14)
    made.add(row("upstream", 1, 1), times=86)

    conclusion = compare(made.study(declare("upstream"))).conclusions[0]

    assert (conclusion.verdict, conclusion.label) == ("retriever improves answers", "causal")
    assert conclusion.owner.startswith("retrieval")
    assert conclusion.effects == (
        "upstream/minilm_run:correct:answerable",
        "upstream/minilm_run:evidence_in_context:answerable",
        "upstream/minilm_run:evidence_retrieved:answerable",
    )


def test_a_better_answer_without_more_evidence_points_to_the_context(sheet, declare):
    made = sheet().add(row("assembler", 1, 1, control=(1, 0)), times=14)
    made.add(row("assembler", 1, 1), times=86)

    conclusion = compare(made.study(declare("assembler"))).conclusions[0]

    assert conclusion.verdict == "effect not through evidence presence"
    assert conclusion.owner == "the context: distractors, order, length"


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ("up", "reader improved"),
        ("down", "reader regressed"),
        ("flat", "no material change"),
        ("unclear", "not enough evidence"),
    ],
)
def test_a_swapped_reader_is_never_headlined_without_its_cells(sheet, declare, state, verdict):
    made = sheet().add(row("reader", 1, 1), times=40)
    made.add(row("reader", 0, 0, control=(0, 0), refused=1), times=40)

    conclusion = conclude(forged(cases(made.study(declare("reader")))[0], state))

    assert conclusion.verdict == verdict
    said = " ".join(conclusion.sentences)
    assert "with every context held fixed byte for byte" in said
    assert "On 40 questions with all the evidence in the context, correct" in said
    assert (
        "On 40 questions without all the evidence in the context, a refusal is the right thing "
        "to do and is never held against the reader: abstention rose from 0.00 to 1.00" in said
    )


def test_a_reader_swap_without_evidence_judged_says_what_cannot_be_told(sheet, declare):
    made = sheet().add({("control", "correct"): 0, ("reader", "correct"): 1}, times=40)

    conclusion = compare(made.study(declare("reader"))).conclusions[0]

    assert "cannot be told from one that refuses less" in conclusion.sentences[1]


@pytest.mark.parametrize(("answers", "apart"), list(product(STATES, STATES)))
def test_every_combination_of_a_swapped_gate_speaks(sheet, declare, answers, apart):
    made = sheet().add(row("gate", 1, 1), times=40)
    made.add(row("gate", None, 1, control=(None, 1)), times=40, answerable=False)

    conclusion = conclude(
        forged(cases(made.study(declare("gate")))[0], answers, unanswerable=apart)
    )

    first, second = conclusion.verdict.split(", ")
    assert (
        first
        in {
            "up": "more right answers",
            "down": "fewer right answers",
            "flat": "as many right answers",
            "unclear": "right answers not decided",
        }[answers]
    )
    assert (
        second
        in {
            "up": "fewer fabrications",
            "down": "more fabrications",
            "flat": "as many fabrications",
            "unclear": "fabrications not decided",
        }[apart]
    )


def test_a_measure_without_a_better_direction_is_not_called_an_improvement(sheet, declare):
    made = sheet().add(row("reader", 1, 1, refused=1), times=60)

    conclusion = compare(made.study(declare("reader", measure="abstained"))).conclusions[0]

    assert conclusion.verdict == "abstained rose"
    assert "60 questions changed: 60 up, 0 down" in conclusion.sentences[0]


def test_a_measure_of_retrieval_says_nothing_about_answers(sheet, declare):
    made = sheet().add(row("upstream", 1, 1, control=(0, 0)), times=60)

    conclusion = compare(made.study(declare("upstream", measure="evidence_retrieved"))).conclusions[
        0
    ]

    assert conclusion.verdict == "evidence retrieved (top 10) rose"

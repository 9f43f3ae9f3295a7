from __future__ import annotations

from dataclasses import replace

import pytest

from ragablate.compare import compare
from ragablate.compare.comparison import cases
from ragablate.compare.verdicts import conclude


def row(closed, control, **others):
    return {("closed_book", "correct"): closed, ("control", "correct"): control} | {
        (arm, "correct"): value for arm, value in others.items()
    }


def test_a_closed_book_says_what_retrieval_adds_over_memory(sheet, declare):
    made = sheet().add(row(1, 1), times=10).add(row(0, 1), times=50).add(row(0, 0), times=40)

    comparison = compare(made.study(declare("closed_book")))

    assert comparison.effects[0].effect == -0.5
    conclusion = comparison.conclusions[0]
    assert conclusion.verdict == "context adds over memory"
    assert conclusion.sentences[1:3] == (
        "So retrieval adds +0.50 over what the reader knows by heart (correct 0.10 without "
        "passages, 0.60 with them).",
        "90 of 100 questions are never right without context: there alone can retrieval show "
        "what it is worth.",
    )


@pytest.mark.parametrize(
    ("state", "verdict", "said"),
    [
        ("down", "context adds over memory", "So retrieval adds"),
        ("flat", "context adds nothing over memory", "adds less than 0.05"),
        ("up", "context hurts", "makes this reader worse than no context"),
        ("unclear", "not enough evidence", "is not decided"),
    ],
)
def test_every_state_of_a_closed_book_speaks(sheet, declare, state, verdict, said):
    case = cases(sheet().add(row(0, 1), times=40).study(declare("closed_book")))[0]

    conclusion = conclude(replace(case, primary=replace(case.primary, state=state)))

    assert conclusion.verdict == verdict
    assert said in conclusion.sentences[-2]


def test_a_reader_that_knows_the_answers_limits_claims_about_retrieval(sheet, declare):
    made = sheet()
    made.add(row(1, 1, upstream=1, oracle=1, reader=1), times=40)
    made.add(row(0, 1, upstream=1, oracle=1, reader=1), times=20)
    made.add(row(0, 0, upstream=1, oracle=1, reader=1), times=20)
    contrasts = [declare(k) for k in ("closed_book", "upstream", "oracle", "reader")]

    conclusions = {c.contrast: c for c in compare(made.study(*contrasts)).conclusions}

    limit = (
        "67 % of right answers are also right with no context: effects of retrieval can only "
        "show on the 40 questions of 80 that the reader cannot answer without context"
    )
    assert conclusions["upstream/minilm_run"].limits == (limit,)
    assert conclusions["oracle/oracle"].limits == (limit,)
    assert conclusions["oracle/oracle"].label == "causal with limits"
    assert conclusions["reader/extractive_strict"].limits == ()


def test_memory_of_half_the_answers_is_no_limit_yet(sheet, declare):
    made = sheet()
    made.add(row(1, 1, upstream=1), times=40).add(row(0, 1, upstream=1), times=40)

    conclusions = compare(made.study(declare("closed_book"), declare("upstream"))).conclusions

    assert conclusions[1].limits == ()


def test_a_reader_that_never_invents_is_told_so(sheet, declare):
    made = sheet().add(row(0, 1), times=40).add(row(1, 1), times=9, answerable=False)

    conclusion = compare(made.study(declare("closed_book"))).conclusions[0]

    assert conclusion.sentences[-1] == (
        "On 9 unanswerable questions, where the right answer is to abstain and which count "
        "apart, the context made the reader invent an answer on none, and it invents one "
        "without any context on none."
    )


def test_retrieval_is_read_again_where_memory_does_not_answer(sheet, declare):
    made = sheet()
    made.add(row(1, 1, upstream=1), times=60)
    made.add(row(0, 0, upstream=1), times=12)
    made.add(row(0, 1, upstream=1), times=28)

    comparison = compare(made.study(declare("closed_book"), declare("upstream")))

    found = {(e.contrast, e.population): e for e in comparison.effects if e.measure == "correct"}
    stratum = found["upstream/minilm_run", "retrieval-dependent"]
    assert (stratum.n, stratum.better, stratum.role) == (40, 12, "cell")
    assert stratum.effect == pytest.approx(0.3)
    (conclusion,) = (c for c in comparison.conclusions if c.contrast.startswith("upstream"))
    assert stratum.id in conclusion.effects
    said = "On 40 questions the reader is never right on without context, correct rose"
    assert any(sentence.startswith(said) for sentence in conclusion.sentences)


def test_where_memory_reaches_nothing_there_is_no_stratum_apart(sheet, declare):
    made = sheet().add(row(0, 1, upstream=0), times=40)

    comparison = compare(made.study(declare("closed_book"), declare("upstream")))

    assert not any(e.population == "retrieval-dependent" for e in comparison.effects)


def test_the_part_of_the_oracle_that_control_realizes_has_an_interval(sheet, declare):
    made = sheet()
    made.add(row(0, 1, oracle=1), times=30)
    made.add(row(0, 0, oracle=1), times=30)
    made.add(row(1, 1, oracle=1), times=20)

    said = " ".join(
        compare(made.study(*map(declare, ("closed_book", "oracle")))).conclusions[0].sentences
    )

    assert "Of what the gold alone adds over memory (+0.75), the context of the control" in said
    assert "realizes 50 % (95 % CI " in said


def test_a_fraction_of_nothing_is_not_printed(sheet, declare):
    made = sheet().add(row(1, 1, oracle=1), times=30).add(row(0, 0, oracle=0), times=30)

    conclusions = compare(made.study(*map(declare, ("closed_book", "oracle")))).conclusions

    assert not any("realizes" in sentence for sentence in conclusions[0].sentences)

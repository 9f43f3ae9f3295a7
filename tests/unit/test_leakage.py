from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.leakage import leakage
from ragablate.records import Gold, Passage, Question

ASKED = "Who opened the Zorbat Bridge in 1931?"


def found(text, *asked, answers=("Ada Lind",), title=""):
    questions = [Question(f"q{i}", t) for i, t in enumerate(asked or (ASKED,))]
    gold = {q.qid: Gold(q.qid, answers=answers) for q in questions}
    return leakage(questions, gold, [Passage("p", text, title)])


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"id": "q1", "question": ASKED, "answers": ["Ada Lind"]}),
        "q: who opened the zorbat bridge in 1931 -- a: ada lind",
        "Ada Lind. WHO OPENED THE ＺＯＲＢＡＴ BRIDGE IN 1931?!",
    ],
    ids=["JSON line", "other punctuation", "other case and width"],
)
def test_a_question_with_its_answer_leaks_however_it_is_written(text):
    assert found(text).leaked == ("q0",)


@pytest.mark.parametrize(
    "text",
    [
        "The Zorbat Bridge was opened by Ada Lind in 1931.",
        ASKED,
        f"{ASKED} Nobody knows.",
        f"{ASKED} Adalind.",
    ],
    ids=["the fact itself", "no answer", "another answer", "a part of a word"],
)
def test_the_fact_or_the_question_alone_is_no_leak(text):
    assert found(text).leaked == ()


def test_the_answer_must_stand_outside_the_question():
    assert found(f"{ASKED} It rains.", answers=("Zorbat",)).leaked == ()
    assert found(f"{ASKED} It is Zorbat.", answers=("Zorbat",)).leaked == ("q0",)


def test_a_title_counts_as_text():
    assert found("Ada Lind", title=ASKED).leaked == ("q0",)


def test_a_list_of_questions_leaks_without_its_answers():
    asked = [f"What colour has the door of house {i}?" for i in range(3)]
    assert found(" ".join(asked[:2]), *asked).leaked == ()
    assert found(" ".join(asked), *asked).leaked == ("q0", "q1", "q2")


def test_one_question_asked_three_times_is_no_list():
    assert found(ASKED, ASKED, ASKED, ASKED, answers=("x",)).leaked == ()


def test_questions_of_fewer_than_four_words_are_counted_and_not_looked_for():
    result = found("Who is he? Ada Lind", "Who is he?", ASKED)
    assert (result.leaked, result.too_short) == ((), 1)


def test_scripts_without_spaces_are_compared_letter_by_letter():
    assert found(
        "问答集合：今天天气怎么样？答案：晴天。", "今天天气怎么样？", answers=("晴天",)
    ).leaked


def test_an_unanswerable_question_leaks_only_in_a_list():
    assert found(ASKED, answers=()).leaked == ()


WORDS = st.lists(
    st.sampled_from(["red", "blue", "tall", "old", "river", "bridge", "nine", "west"]), min_size=4
)
ANSWER = st.lists(st.sampled_from(["yes", "never", "Ada", "Lind", "214"]), min_size=1, max_size=3)


@settings(deadline=None, max_examples=60)
@given(WORDS, ANSWER, st.lists(WORDS, max_size=3))
def test_a_planted_question_is_always_found(question, answer, around):
    text = " ".join(w for words in (*around, question, ["so"], answer, *around) for w in words)
    assert found(text, " ".join(question), answers=(" ".join(answer),)).leaked == ("q0",)

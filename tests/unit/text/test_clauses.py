"""Sentences that say two things."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragablate.text.clauses import clauses


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "The bridge was built in 1931; it carries two tracks.",
            ["The bridge was built in 1931", "it carries two tracks."],
        ),
        (
            "The north tower is stone, while the south tower is steel.",
            ["The north tower is stone", "the south tower is steel."],
        ),
        (
            "The treaty was signed in Rome and it came into force a year later.",
            ["The treaty was signed in Rome", "it came into force a year later."],
        ),
        # One subject for both: alone the second would claim nothing of anybody.
        ("The bridge was opened in 1931 and closed in 1950.", None),
        ("Bread, butter, and the cheese are sold here.", None),
        (
            "Der Turm steht seit 1889, aber die Treppe ist neu.",
            ["Der Turm steht seit 1889", "die Treppe ist neu."],
        ),
        (
            "El puente abrió en 1931, pero la torre es nueva.",
            ["El puente abrió en 1931", "la torre es nueva."],
        ),
        ("巴黎是法国的首都，但伦敦是英国的首都。", ["巴黎是法国的首都", "伦敦是英国的首都。"]),
        ("この橋は古いですが、塔は新しいです。", ["この橋は古いですが", "塔は新しいです。"]),
        (
            "الجسر بني عام 1931، لكن البرج بني لاحقا.",
            ["الجسر بني عام 1931", "البرج بني لاحقا."],
        ),
        ("", [""]),
    ],
)
def test_a_sentence_is_cut_where_a_new_subject_begins(
    sentence: str, expected: list[str] | None
) -> None:
    assert list(clauses(sentence)) == (expected or [sentence])


@given(st.text(alphabet="ab ;,；，但而且 and but it 。", max_size=60))
def test_clauses_are_stretches_of_the_sentence_in_order(sentence: str) -> None:
    at = 0
    for clause in clauses(sentence):
        at = sentence.index(clause, at) + len(clause)

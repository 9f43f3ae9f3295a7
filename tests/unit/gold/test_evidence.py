"""Where evidence stands in a text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.gold.evidence import anchored, spot


@pytest.mark.parametrize(
    ("text", "answers", "expected"),
    [
        ("The capital is OSLO.", ["Oslo"], "OSLO"),
        ("In 1913 there were 3 of them.", ["3"], "3"),
        ("It was 1913.", ["3"], None),
        ("The straße is long.", ["STRASSE"], "straße"),
        ("New\n  York is big.", ["new york"], "New\n  York"),
        ("Denver Broncos won.", ["The Denver Broncos", "Denver Broncos", "Broncos"], "Broncos"),
        ("He said yes and no.", ["yes"], None),
        ("He said yes and no.", ["No "], None),
        ("Yes Minister ran for years.", ["Yes Minister"], "Yes Minister"),
        ("anything", ["", "  "], None),
        ("anything", [], None),
        ("首都是奥斯陆。", ["奥斯陆"], "奥斯陆"),
        ("서울에서 만나요", ["서울"], "서울"),
        ("เมืองหลวงคือออสโล", ["ออสโล"], "ออสโล"),
        ("भारती", ["भारत"], None),
        ("A 5% rise to $1,452.4 today", ["$1,452.4"], "$1,452.4"),
        ("It costs 5%.", ["5%"], "5%"),
        ("Sicherheitsrat", ["Sicherheit"], None),
    ],
)
def test_the_shortest_answer_that_occurs_as_words_is_found(
    text: str, answers: list[str], expected: str | None
) -> None:
    place = spot(text, answers)
    assert (text[slice(*place)] if place else None) == expected


def test_first_standing_occurrence_counts() -> None:
    text = "Osloers love Oslo, and Oslo loves them."
    assert spot(text, ["Oslo"]) == (13, 17)


def test_a_piece_that_stands_further_ahead_too_is_extended_to_the_left() -> None:
    text = "In 308 AD. They gave up just 308 points."
    at = text.rindex("308")
    assert anchored(text, at, at + 3) == "t 308"
    assert anchored(text, 3, 6) == "308"


def test_outer_white_space_is_no_part_of_a_piece() -> None:
    assert anchored("a  b c \n d", 1, 8) == "b c"


@settings(deadline=None, max_examples=300)
@given(st.text("ab ß中", max_size=30), st.data())
def test_a_cut_before_the_end_loses_the_piece_and_a_cut_behind_keeps_it(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if not text[start:end].strip():
        return
    piece = anchored(text, start, end)
    last = start + len(text[start:end].rstrip())
    for cut in range(len(text) + 1):
        assert (piece in text[:cut]) == (cut >= last)


@settings(deadline=None, max_examples=200)
@given(st.text("aB ß1", max_size=20), st.lists(st.text("Ab sS1", max_size=4), max_size=3))
def test_what_is_found_is_an_answer_but_for_case_and_space(text: str, answers: list[str]) -> None:
    place = spot(text, answers)
    if place is None:
        return
    found = " ".join(text[slice(*place)].casefold().split())
    assert found in {" ".join(answer.casefold().split()) for answer in answers}

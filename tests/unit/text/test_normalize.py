import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.text.normalize import (
    answer_tokens,
    holds_sequence,
    occurs,
    squad_normalize,
    strip_citations,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Eiffel Tower!", "eiffel tower"),
        ("well-known", "wellknown"),
        ("a", ""),
        ("U.S. $1,000", "us 1000"),
        ("théâtre", "théâtre"),
        ("“smart”", "“smart”"),
    ],
)
def test_squad_form_is_that_of_the_evaluation_script(text, expected):
    assert squad_normalize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The U.S. Army's 1,234.50 men [1]", ["us", "armys", "1234.50", "men"]),
        ("3,5 Millionen", ["3.5", "millionen"]),
        ("-5 °C", ["-5", "c"]),
        ("5-10", ["5", "10"]),
        ("1994–1996", ["1994", "1996"]),
        ("3.5km", ["3.5", "km"]),
        ("20th century", ["20th", "century"]),
        ("well-known", ["well", "known"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("서울은", ["서", "울", "은"]),
        ("٣٫٥ مليون", ["3.5", "مليون"]),
        ("مُحَمَّد", ["محمد"]),
        ("हिन्दी", ["हिन्दी"]),
        ("A", ["a"]),
        ("The The", ["the", "the"]),
        ("[1]", ["[1]"]),
        ("😀", ["😀"]),
        ("  ", []),
    ],
)
def test_answer_tokens_are_the_words_of_an_answer(text, expected):
    assert answer_tokens(text) == expected


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("1,000", "It cost 1000 dollars."),
        ("the Alps", "In Alps and beyond"),
        ("1996", "from 1994–1996"),
        ("東京", "それは東京です。"),
        ("서울", "서울은 수도이다."),
        ("United States", "the United\nStates [2]"),
        ("٥", "5 apples"),
        ("e\u0301te\u0301", "l'an: été"),
    ],
)
def test_a_reference_occurs_as_a_sequence_of_tokens(reference, answer):
    assert occurs(reference, answer)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("3", "in 1913"),
        ("5", "it was -5 degrees"),
        ("35", "3.5 million"),
        ("cat", "concatenate"),
        ("States United", "United States"),
        ("", "anything"),
        (" ", ""),
        ("1", "as shown [1]"),
    ],
)
def test_other_text_does_not_count_as_the_reference(reference, answer):
    assert not occurs(reference, answer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1] b [2, 3].", "A b ."),
        ("See [page 212]", "See"),
        ("x 【4†source】", "x"),
        ("keep [sic] and [a1]", "keep [sic] and [a1]"),
    ],
)
def test_citation_markers_go_and_other_brackets_stay(text, expected):
    assert strip_citations(text) == expected


def test_an_empty_sequence_is_held_by_nothing():
    assert not holds_sequence(["a"], [])
    assert not holds_sequence([], ["a"])
    assert holds_sequence(["a", "b"], ["a", "b"])


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=40))
def test_every_visible_text_occurs_in_itself(text):
    assert bool(answer_tokens(text)) == bool(text.strip())
    assert occurs(text, text) == bool(text.strip())

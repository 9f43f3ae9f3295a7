import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.errors import AdapterError
from ragablate.text.stems import stem, stem_problems
from ragablate.text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World-wide 3.5!", ["hello", "world", "wide", "3", "5"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("今天好", ["今", "天", "好"]),
        ("हिन्दी में।", ["हिन्दी", "में"]),
        ("don't", ["don", "t"]),
        ("😀 … \u0301", []),
    ],
)
def test_words_are_case_folded_without_punctuation(text, expected):
    assert words(text) == expected


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=40))
def test_words_never_hold_white_space(text):
    assert all(word.strip() == word != "" for word in words(text))


def test_words_of_one_root_share_a_stem():
    assert stem("surrendered", "english") == stem("surrendering", "english")
    assert stem("häuser", "german") == stem("haus", "german")
    assert stem("surrendered", None) == "surrendered"


def test_an_unknown_language_is_a_problem_and_an_error():
    assert stem_problems("klingon") != []
    assert stem_problems(None) == stem_problems("dutch_porter") == []
    with pytest.raises(AdapterError, match="klingon"):
        stem("word", "klingon")

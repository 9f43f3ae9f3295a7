import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragablate.embed.texts import field_problems, joined, knob_problems, well_formed
from ragablate.records import Passage


@pytest.mark.parametrize(
    ("title", "text", "fields", "expected"),
    [
        ("Mirr", "A river.", ["title", "text"], "Mirr | A river."),
        ("Mirr", "A river.", ["text", "title"], "A river. | Mirr"),
        ("Mirr", "A river.", ["text"], "A river."),
        ("", "A river.", ["title", "text"], "A river."),
        ("Mirr", "", ["title", "text"], "Mirr"),
        ("", "", ["title", "text"], ""),
    ],
)
def test_an_empty_field_leaves_no_separator(title, text, fields, expected):
    assert joined(Passage("p", text, title), fields, " | ") == expected


@pytest.mark.parametrize("fields", ["title", [], ["body"], ["title", "x"], None])
def test_fields_are_a_list_of_known_names(fields):
    assert len(field_problems(fields)) == 1
    assert field_problems(["text"]) == field_problems(["title", "text"]) == []


def test_lengths_and_strings_are_checked():
    assert knob_problems({"a": None, "b": 1}, {"c": ""}) == []
    problems = knob_problems({"a": 0, "b": "9", "c": True, "d": 1.0}, {"e": None, "f": 3})
    assert [problem.split(" ")[0] for problem in problems] == ["a", "b", "c", "d", "e", "f"]


@given(st.text())
def test_well_formed_text_is_kept(text):
    assert well_formed(text) == text


@given(st.lists(st.integers(0, 0x10FFFF).map(chr)).map("".join))
def test_any_text_can_be_encoded_afterwards(text):
    fixed = well_formed(text)
    fixed.encode("utf-8")
    if not any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        assert fixed == text

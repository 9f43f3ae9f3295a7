import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.judge.figures import bulleted, facts, figures, stated


def _all_stated(text, context):
    found = figures(text)
    assert found, f"no figure in {text!r}"
    return all(stated(figure, facts(context)) for figure in found)


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("1,000", "1000"),
        ("1.000 Stück", "1000 Stück"),
        ("1'000", "1 000"),
        ("10 000", "10,000"),
        ("1\u202f234,50", "1,234.5"),
        ("1.234.567", "1,234,567"),
        ("007", "7"),
        (".333", "0.333"),
        ("3.141", "3.1410"),
        ("14,5 Prozent", "14.5%"),
        ("14.5 per cent", "14,5 %"),
        ("14.5", "14.5 %"),
        ("百分之14.5", "14.5％"),
        ("٣٫٥", "3.5"),
        ("２０２０", "2020"),
        ("15 %", "Growth (%) | 15"),
        ("$1.5 million", "1,500,000 dollars"),
        ("1.5 million", "in millions: 1.5"),
        ("3 Milliarden", "3,000,000,000"),
        ("3 billion", "3,000,000,000"),
        ("5k", "5,000"),
        ("3亿", "300,000,000"),
        ("2 مليون", "2,000,000"),
        ("1.5万元", "单位：万元 1.5"),
        ("7 dwarfs", "the seven dwarfs"),
        ("3 Tage", "drei Tage"),
        ("3个", "三个"),
        ("12th", "12"),
        ("the 1990s", "in 1990"),
        ("-5 %", "fell by 5 %"),
        ("COVID-19", "19"),
        ("12 March 2020", "2020-03-12"),
        ("March 12th, 2020", "12.03.2020"),
        ("12. März 2020", "12 de marzo de 2020"),
        ("2020年3月12日", "March 12, 2020"),
        ("12 مارس 2020", "12 March 2020"),
        ("March 2020", "2020-03-12"),
        ("12 March", "March 12, 2020"),
        ("2020", "12/03/2020"),
        ("3/12/2020", "March 12, 2020"),
        ("3/12/2020", "3 December 2020"),
        ("12 March 2020", "In 2020 it opened, on 12 March."),
        ("1.2.3", "3 1 2"),
    ],
)
def test_equal_figures_are_found_however_they_are_written(text, context):
    assert _all_stated(text, context)


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("14.5 %", "15 %"),
        ("15 %", "15 people"),
        ("1.000", "1 item"),
        ("1,000", "1"),
        ("1.5 million", "1.5"),
        ("1.5", "1.5 million"),
        ("1.5 million", "1.5 billion"),
        ("3 million", "3 Milliarden"),
        ("19", "B19 and hp19"),
        ("12 March 2020", "12 April 2020"),
        ("12 March 2020", "13 March 2020"),
        ("12 March 2020", "March 2020"),
        ("March 2020", "12 March"),
        ("2020", "2019"),
        ("0.5", "5"),
        ("100", "1000"),
        ("1", "one"),
        ("2", "二十"),
        ("7", ""),
    ],
)
def test_other_figures_are_not(text, context):
    assert not _all_stated(text, context)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 2010-2015", ["2010", "2015"]),
        ("B2, x86 and MP3", []),
        ("no figure, seven words, März", []),
        ("up 14.5 % to $3.2 bn", ["14.5 %", "3.2 bn"]),
        ("may 20 people", ["20"]),
        ("on 5 May 2020 at 10:30", ["5 May 2020", "10", "30"]),
        ("5m long", ["5"]),
        ("1.2.3.4", ["1", "2", "3", "4"]),
    ],
)
def test_figures_are_listed_verbatim(text, expected):
    assert [figure.text for figure in figures(text)] == expected


def test_the_numbers_of_a_numbered_list_are_no_figures():
    assert bulleted("1. ten\n2) two") == "- ten\n- two"
    assert bulleted("Two:\n  1. ten\n  2. two") == "Two:\n  - ten\n  - two"
    assert bulleted("5. Mai 2020\n6. Mai 2020") == "5. Mai 2020\n6. Mai 2020"
    assert bulleted("1. FC Köln") == "1. FC Köln"


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="0123456789.,' %٣百分之万kKMſıİ年月日/-Mayten \u00a0", max_size=30))
def test_a_text_states_its_own_figures(text):
    said = facts(text)
    for figure in figures(text):
        assert figure.text.strip()
        assert stated(figure, said), figure


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_two_whole_numbers_match_only_when_equal(a, b):
    assert stated(figures(f"{a:,}")[0], facts(f"{b}")) == (a == b)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_never_states_less(text, more):
    assert facts(text) <= facts(f"{text}\n\n{more}")


def test_long_texts_take_no_time():
    assert len(figures("7 and 12 March 2020, " * 5_000)) == 10_000
    assert len(figures("9" * 200_000)) == 1
    assert len(figures("1," * 50_000)) == 50_000

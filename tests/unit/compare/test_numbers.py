from __future__ import annotations

import pytest

from ragablate.compare import numbers
from ragablate.records import Interval


@pytest.mark.parametrize(
    ("value", "text"), [(0.114, "+0.11"), (-0.114, "-0.11"), (0.0, "0.00"), (-0.001, "0.00")]
)
def test_differences_are_signed_and_zero_is_not(value, text):
    assert numbers.signed(value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(0.0127, "0.013"), (1.0, "1.000"), (0.001, "0.001"), (0.0000114, "1.1e-05")]
)
def test_small_p_values_keep_two_digits(p, text):
    assert numbers.p_text(p) == text


@pytest.mark.parametrize(
    ("n", "text"), [(52, "52"), (131, "131"), (574, "570"), (1269, "1,300"), (12_345, "12,000")]
)
def test_planned_sizes_are_rounded_where_they_are_large(n, text):
    assert numbers.about(n) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50 %"), (0.075, "7.5 %"), (0.02, "2 %"), (0.0, "0 %"), (0.999, "100 %")],
)
def test_shares_are_whole_per_cents_from_ten_on(share, text):
    assert numbers.percent(share) == text


def test_a_limit_close_to_zero_shows_its_sign():
    assert numbers.between(Interval(0.003, 0.2, 0.95, "tango")) == "+0.003 to +0.200"
    assert numbers.between(Interval(0.0, 0.2, 0.95, "tango")) == "0.00 to +0.20"


@pytest.mark.parametrize(
    ("n", "margin", "places"), [(100, 0.05, 2), (1000, 0.05, 3), (100, 0.01, 3)]
)
def test_large_sets_and_fine_margins_are_written_to_three_places(n, margin, places):
    assert numbers.decimals(n, margin) == places


@pytest.mark.parametrize(("margin", "text"), [(0.05, "0.05"), (0.1, "0.10"), (0.025, "0.025")])
def test_a_margin_is_written_as_declared(margin, text):
    assert numbers.margin_text(margin) == text


def test_long_lists_name_the_first_and_count_the_rest():
    assert numbers.listed(["a", "b"]) == "a, b"
    assert numbers.listed(list("abcdefgh")) == "a, b, c, d, e and 3 more"


def test_one_question_is_not_plural():
    assert numbers.count(1, "question") == "1 question"
    assert numbers.count(1200, "question") == "1,200 questions"

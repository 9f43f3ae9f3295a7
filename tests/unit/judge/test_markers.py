import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.judge.markers import (
    cited_pids,
    find_markers,
    known_pids,
    resolve,
    statements,
    without_markers,
)
from ragablate.records import Answer

PIDS = ("hp00005", "https://a.b/c#d", "9", "doc one")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("x [1].", ["1"]),
        ("x [1][2]", ["1", "2"]),
        ("x [1, 2; 3]", ["1", "2", "3"]),
        ("x [2-4]", ["2", "3", "4"]),
        ("x 【4†source】", ["4"]),
        ("x ［２］", ["２"]),
        ("x [Source 3] [page 212] [Quelle: 1, 2]", ["3", "212", "1", "2"]),
        ("x [hp00005, https://a.b/c#d]", ["hp00005", "https://a.b/c#d"]),
        ("x [doc one]", ["doc one"]),
        ("x [hp99999]", ["hp99999"]),
        ("x [sic] [CH3] [maybe, 1] [1990s] []", []),
        ("x [5-2] [1-4000]", []),
        ("x (1) {2} 3", []),
        ("[[1]]", ["1"]),
    ],
)
def test_markers_are_numbers_and_pids_in_brackets(text, items):
    assert [marker.item for marker in find_markers(text, PIDS)] == items


@pytest.mark.parametrize(
    ("item", "pid"),
    [("1", "7"), ("2", "b"), ("3", None), ("0", None), ("7", "7"), ("b", "b"), ("c", None)],
)
def test_a_number_is_a_position_before_it_is_a_pid(item, pid):
    assert resolve(item, ["7", "b"]) == pid


def test_no_number_is_too_large_to_resolve():
    assert resolve("9" * 5000, ["a"]) is None


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("It rose [1], then fell [2].", "It rose, then fell."),
        ("It rose. [1] Then it fell.", "It rose. Then it fell."),
        ("升了[1]。", "升了。"),
        ("[1]", "[1]"),
        ("no marker", "no marker"),
    ],
)
def test_markers_are_cut_out_unless_nothing_else_is_there(text, bare):
    assert without_markers(text) == bare


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It rose [1]. Then it fell [2][3].",
            [("It rose.", ("1",)), ("Then it fell.", ("2", "3"))],
        ),
        ("It rose. [1] Then it fell.", [("It rose.", ("1",)), ("Then it fell.", ())]),
        ("It rose.[1] Then it fell.[2]", [("It rose.", ("1",)), ("Then it fell.", ("2",))]),
        ("It rose. [1]Then it fell.", [("It rose.", ("1",)), ("Then it fell.", ())]),
        ("[1] It rose. Then it fell.", [("It rose.", ("1",)), ("Then it fell.", ())]),
        ("It rose.\n\n[1] Then it fell.", [("It rose.", ()), ("Then it fell.", ("1",))]),
        ("甲是乙。[1]丙是丁。", [("甲是乙。", ("1",)), ("丙是丁。", ())]),
        ("[1]", []),
        ("", []),
    ],
)
def test_a_marker_belongs_to_the_sentence_it_follows(text, expected):
    assert [(s.text, s.items) for s in statements(text)] == expected


def test_cited_pids_are_those_of_the_context_in_the_order_of_the_answer(request_of):
    request = request_of("b [2], a [a], x [x], no [9], b [2]", passages=[("a", ""), ("b", "")])
    assert cited_pids(request.trace) == ("b", "a")
    assert cited_pids(request_of(None).trace) == ()
    assert cited_pids(request_of(Answer("")).trace) == ()


def test_pids_of_both_rankings_and_the_context_are_known(request_of):
    request = request_of(passages=[("a", "")], retrieved=["b"], candidates=["c"])
    assert known_pids(request.trace) == {"a", "b", "c"}


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="ab. \n[]1,2-。【】؟", max_size=40))
def test_no_marker_is_lost_between_sentences(text):
    bare = without_markers(text)
    if find_markers(text) and statements(text):
        assert sum(len(s.items) for s in statements(text)) == len(find_markers(text))
    assert bare == text.strip() or len(bare) < len(text)


def test_long_runs_of_blanks_and_brackets_take_no_time():
    text = " " * 200_000 + "[" * 200_000 + " [1]" + "9" * 200_000
    assert [marker.item for marker in find_markers(text, PIDS)] == ["1"]

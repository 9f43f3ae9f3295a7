"""Spans and quotes as the passages that cover them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.gold.spans import by_quotes, by_span
from ragablate.records import Passage

TEXT = "Oslo lies on a fjord. It has trams. Its opera is white."
#       0         1         2         3         4         5


def cut(*bounds: tuple[int, int], text: str = TEXT) -> list[Passage]:
    return [
        Passage(f"p{i}", text[start:end], doc_id="d", start=start)
        for i, (start, end) in enumerate(bounds)
    ]


def pids(covers: tuple[tuple[object, ...], ...]) -> list[list[str]]:
    return [[piece.passage.pid for piece in cover] for cover in covers]  # type: ignore[attr-defined]


SENTENCES = cut((0, 21), (22, 35), (36, 55))


def test_a_span_in_one_passage_needs_that_passage() -> None:
    (cover,) = by_span(SENTENCES, TEXT, (22, 35), 1.0)
    assert [(p.passage.pid, p.texts) for p in cover] == [("p1", ("It has trams.",))]


def test_a_straddling_span_needs_both_passages() -> None:
    (cover,) = by_span(SENTENCES, TEXT, (15, 28), 1.0)
    assert [(p.passage.pid, p.texts) for p in cover] == [("p0", ("fjord.",)), ("p1", ("It has",))]


def test_white_space_between_passages_is_not_missed_where_the_document_is_known() -> None:
    assert pids(by_span(SENTENCES, TEXT, (0, 55), 1.0)) == [["p0", "p1", "p2"]]


def test_a_character_in_no_passage_is_missed() -> None:
    passages = cut((0, 21), (25, 35))
    assert by_span(passages, TEXT, (15, 30), 1.0) == ()
    assert pids(by_span(passages, TEXT, (15, 30), 0.5)) == [["p0"]]
    assert pids(by_span(passages, TEXT, (15, 30), 0.8)) == [["p0", "p1"]]


def test_each_passage_that_covers_alone_is_a_cover() -> None:
    passages = cut((0, 30), (15, 55), (0, 55))
    assert pids(by_span(passages, TEXT, (16, 20), 1.0)) == [["p0"], ["p1"], ["p2"]]


def test_overlapping_passages_give_every_cover_without_a_superfluous_passage() -> None:
    passages = cut((0, 20), (15, 40), (18, 45), (35, 55))
    assert pids(by_span(passages, TEXT, (10, 44), 1.0)) == [["p0", "p2"], ["p0", "p1", "p3"]]


def test_a_passage_with_little_of_the_span_is_not_needed_below_full_coverage() -> None:
    passages = cut((0, 34), (34, 55))
    assert pids(by_span(passages, TEXT, (0, 35), 1.0)) == [["p0", "p1"]]
    assert pids(by_span(passages, TEXT, (0, 35), 0.95)) == [["p0"]]


@pytest.mark.parametrize("span", [(-1, 3), (3, 3), (5, 3), (40, 56), (21, 22), (9, 10**9)])
def test_a_span_that_is_no_text_has_no_cover(span: tuple[int, int]) -> None:
    assert by_span(SENTENCES, TEXT, span, 1.0) == ()
    assert by_span(SENTENCES, None, span, 1.0) == ()


def test_passages_that_do_not_stand_in_the_document_are_not_used() -> None:
    moved = [Passage("p0", TEXT[0:21], doc_id="d", start=1), *SENTENCES[1:]]
    assert by_span(moved, TEXT, (0, 4), 1.0) == ()


def test_without_the_document_offsets_are_those_of_the_passages() -> None:
    touching = cut((0, 22), (22, 55))
    assert pids(by_span(touching, None, (15, 28), 1.0)) == [["p0", "p1"]]
    assert pids(by_span(SENTENCES, None, (22, 28), 1.0)) == [["p1"]]
    assert by_span(SENTENCES, None, (15, 28), 1.0) == ()


def test_passages_that_disagree_about_the_text_say_nothing_about_offsets() -> None:
    clash = [Passage("a", "one two", doc_id="d"), Passage("b", "six ten", doc_id="d")]
    assert by_span(clash, None, (0, 3), 1.0) == ()


@pytest.mark.parametrize("coverage", [0.0, -1.0, 1.1, float("nan")])
def test_coverage_must_be_a_share(coverage: float) -> None:
    with pytest.raises(ValueError, match="coverage"):
        by_span(SENTENCES, TEXT, (0, 3), coverage)


def test_a_quote_is_found_in_any_passage_that_holds_it() -> None:
    passages = cut((0, 21), (10, 35))
    assert pids(by_quotes(passages, TEXT, ["a fjord."], 1.0)) == [["p0"], ["p1"]]


@pytest.mark.parametrize("text", [TEXT, None])
def test_a_quote_that_straddles_needs_both_passages(text: str | None) -> None:
    passages = cut((0, 18), (18, 55))
    (cover,) = by_quotes(passages, text, ["a fjord. It"], 1.0)
    assert [p.texts for p in cover] == [("a fjo",), ("rd. It",)]


def test_all_quotes_are_needed_and_pieces_of_one_passage_stay_together() -> None:
    (cover,) = by_quotes(SENTENCES, TEXT, ["It has trams.", "Oslo", "trams"], 1.0)
    assert [(p.passage.pid, p.texts) for p in cover] == [
        ("p0", ("Oslo",)),
        ("p1", ("It has trams.", "trams")),
    ]
    assert by_quotes(SENTENCES, TEXT, ["It has trams.", "no such words"], 1.0) == ()
    assert by_quotes(SENTENCES, TEXT, ["Oslo", " "], 1.0) == ()


def test_quotes_in_overlapping_passages_have_no_superfluous_cover() -> None:
    passages = cut((0, 30), (15, 55))
    assert pids(by_quotes(passages, TEXT, ["fjord.", "opera"], 1.0)) == [["p1"]]


def test_a_very_long_span_over_many_passages_is_one_cover() -> None:
    text = "x" * 6000
    passages = cut(*((i, i + 5) for i in range(0, 6000, 5)), text=text)
    (cover,) = by_span(passages, text, (0, 6000), 1.0)
    assert len(cover) == 1200


@settings(deadline=None, max_examples=200)
@given(
    st.text("ab c", min_size=1, max_size=25),
    st.lists(st.tuples(st.integers(0, 25), st.integers(1, 12)), max_size=6),
    st.integers(0, 24),
    st.integers(1, 25),
    st.sampled_from([0.3, 0.8, 1.0]),
    st.booleans(),
)
def test_covers_cover_and_hold_nothing_superfluous(
    text: str,
    windows: list[tuple[int, int]],
    start: int,
    length: int,
    coverage: float,
    known: bool,
) -> None:
    bounds = sorted((a, min(a + n, len(text))) for a, n in windows if a < len(text))
    passages = cut(*bounds, text=text)
    end = start + length
    covers = by_span(passages, text if known else None, (start, end), coverage)
    wanted = {i for i in range(start, min(end, len(text))) if not text[i].isspace()}

    def share(chosen: list[Passage]) -> float:
        held = {i for p in chosen for i in range(p.start, p.start + len(p.text))}
        return len(held & wanted) / len(wanted)

    for cover in covers:
        chosen = [piece.passage for piece in cover]
        assert share(chosen) >= coverage - 1e-9
        for piece in cover:
            rest = [p for p in chosen if p is not piece.passage]
            if known:
                assert not rest or share(rest) < coverage
            assert all(
                t.strip() and t == t.rstrip() and t in piece.passage.text for t in piece.texts
            )
    if known and wanted and end <= len(text):
        assert bool(covers) == (share(passages) >= coverage - 1e-9)

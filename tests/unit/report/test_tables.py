"""Tables in Markdown and on narrow screens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.report.tables import Column, Table, broken, fit, pipes

TABLE = Table(
    (
        Column("arm"),
        Column("evidence retrieved (top 10)", right=True, expendable=2),
        Column("n", right=True, expendable=3),
        Column("state"),
    ),
    (("context=oracle", "0.88", "160", "? unclear"), ("one two", "1.00", "40", "▲ up")),
)


def test_a_table_in_markdown_aligns_numbers_to_the_right() -> None:
    assert pipes(TABLE).splitlines()[:3] == [
        "| arm | evidence retrieved (top 10) | n | state |",
        "| --- | ---: | ---: | --- |",
        "| context=oracle | 0.88 | 160 | ? unclear |",
    ]


def test_columns_without_any_value_are_left_out_but_never_the_first() -> None:
    table = Table((Column("a"), Column("b"), Column("c")), (("–", "–", "1"), ("", "", "–")))
    assert [column.header for column in table.without_empty().columns] == ["a", "c"]


def test_everything_is_kept_where_there_is_room() -> None:
    fitted = fit(TABLE, 100, 2, len)
    assert fitted is not None
    assert fitted[0] == TABLE
    assert fitted[1][0] == len("context=oracle")


def test_the_most_expendable_column_goes_first() -> None:
    fitted = fit(TABLE, 40, 2, len)
    assert fitted is not None
    assert [c.header for c in fitted[0].columns] == ["arm", "evidence retrieved (top 10)", "state"]


def test_nothing_fits_where_what_must_stay_does_not() -> None:
    assert fit(TABLE, 24, 2, len) is None
    assert fit(TABLE, 25, 2, len) is not None


def test_text_is_broken_between_words_and_long_words_stand_alone() -> None:
    assert broken("evidence in context", 11, len) == ["evidence in", "context"]
    assert broken("a longerword b", 4, len) == ["a", "longerword", "b"]
    assert broken("", 4, len) == []


@settings(deadline=None, max_examples=200)
@given(
    st.integers(1, 120),
    st.lists(
        st.tuples(
            st.text("ab ", max_size=20), st.text("01", max_size=12), st.text("x", max_size=9)
        ),
        max_size=4,
    ),
)
def test_a_fitted_table_never_exceeds_the_width(
    width: int, rows: list[tuple[str, str, str]]
) -> None:
    columns = (Column("name"), Column("two words", expendable=1), Column("last"))
    fitted = fit(Table(columns, tuple(rows)), width, 2, len)
    if fitted is None:
        return
    table, widths = fitted
    assert sum(widths) + 2 * (len(widths) - 1) <= width
    for row in table.rows:
        assert all(len(cell) <= w for cell, w in zip(row[1:], widths[1:], strict=True))
        assert all(len(line) <= widths[0] for line in broken(row[0], widths[0], len))

"""Plots as elements of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.bundle.read import Bundle
from ragablate.records import AnalysisResult, Comparison, Interval, Term
from ragablate.report import panels, plots
from ragablate.report.drawing import Frame, Sheet, settled, shortened
from ragablate.report.findings import compared, findings
from ragablate.report.svg import INKS, themed, token
from ragablate.report.waterfall import fall, waterfall

pytest.importorskip("matplotlib")

Study = tuple[Bundle, Comparison]


@pytest.fixture(autouse=True)
def _settled() -> Iterator[None]:
    with settled():
        yield


def _texts(plot: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(plot).iter("text")]


def _result(kind: str = "ladder", **fields: object) -> AnalysisResult:
    terms = (
        Term("assembly", 0.25, 8, 2, 0, Interval(0.1, 0.4, 0.95, "tango"), 0.5, 1.0, "up"),
        Term("reader", -0.125, 8, 0, 1, None, None, None, "unclear"),
    )
    usual = AnalysisResult("l", kind, "", "answerable", 0.125, terms, {"B": 0.5})  # type: ignore[arg-type]
    return replace(usual, **fields)  # type: ignore[arg-type]


def test_the_forest_shows_every_effect_with_interval_and_state(study: Study) -> None:
    found = compared(findings(*study))
    for drawn in (plots.forest(found).wide, plots.forest(found).narrow):
        texts = _texts(drawn)
        assert "swap_retriever" in texts
        assert "▲ up" in texts
        assert any("+0.17 to +0.33" in text for text in texts)
        assert 'class="s-up"' in drawn


def test_a_refused_effect_has_a_row_and_no_estimate(study: Study) -> None:
    bundle, comparison = study
    refused = replace(
        comparison.effects[0], effect=None, control_mean=None, treatment_mean=None, ci95=None,
        state="refused",
    )  # fmt: skip
    effects = (refused, *comparison.effects[1:])
    drawn = plots.forest(compared(findings(bundle, replace(comparison, effects=effects))))
    assert "✗ refused" in _texts(drawn.wide)
    assert "s-up" not in drawn.wide


def test_a_ladders_losses_lead_from_every_answer_right_down_to_control() -> None:
    chain = fall(_result())
    assert chain is not None
    assert (chain.start, chain.end) == (("every answer right", 0.625), ("control", 0.5))
    assert [(b, a) for _, b, a in chain.steps()] == [(0.625, 0.375), (0.375, 0.5)]


def test_the_terms_of_other_designs_lead_from_control_to_the_treatment() -> None:
    chain = fall(_result("attribution", cells={"00": 0.5, "11": 0.625}))
    assert chain is not None
    assert (chain.start, chain.end) == (("control", 0.5), ("treatment", 0.625))
    assert [(b, a) for _, b, a in chain.steps()] == [(0.5, 0.75), (0.75, 0.625)]


@pytest.mark.parametrize("fields", [{"total": 0.5}, {"cells": {}}, {"terms": ()}])
def test_terms_that_do_not_add_up_are_not_drawn_as_if_they_did(fields: dict[str, object]) -> None:
    assert fall(_result(**fields)) is None


def test_the_waterfall_shows_every_term_with_its_numbers() -> None:
    chain = fall(_result())
    assert chain is not None
    texts = _texts(waterfall(chain, "fall").wide)
    for text in ("every answer right", "0.625", "assembly", "+0.250", "+0.100 to +0.400", "2 / 0",
                 "-0.125", "control", "0.500"):  # fmt: skip
        assert text in texts


def test_a_scale_that_does_not_begin_at_zero_has_no_bars_for_whole_scores() -> None:
    def whole(result: AnalysisResult) -> int:
        chain = fall(result)
        assert chain is not None
        return len(re.findall(r'<path[^>]*class="[^"]*f-line', waterfall(chain, "fall").wide))

    near = tuple(replace(t, value=t.value / 100, ci95=None) for t in _result().terms)
    assert whole(_result()) == 2
    # What is left is the one shape of a point, used twice.
    assert whole(_result(terms=near, total=0.00125)) == 0


def test_signals_have_one_panel_each_with_every_arm(study: Study) -> None:
    drawn = panels.signals(study[1], "answerable", 10)
    assert drawn is not None
    texts = _texts(drawn.wide)
    assert {"evidence retrieved (top 10)", "faithful", "control", "retriever=dense"} <= set(texts)
    assert texts.count("0.98") == 2
    assert panels.signals(replace(study[1], signals=()), "answerable", 10) is None


def test_the_same_plot_is_the_same_bytes(study: Study) -> None:
    found = compared(findings(*study))
    assert plots.forest(found) == plots.forest(found)


def test_two_plots_of_a_page_share_no_id() -> None:
    chain = fall(_result())
    assert chain is not None
    one, other = waterfall(chain, "one"), waterfall(chain, "other")
    ids = re.findall(r' id="([^"]*)"', one.wide + one.narrow + other.wide + other.narrow)
    assert ids
    assert len(set(ids)) == len(ids)


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(st.text(st.characters(exclude_categories=())), min_size=30, max_size=40))
def test_any_text_is_the_text_of_a_plot(texts: list[str]) -> None:
    source = "".join(f"<text>{token(i)}</text>" for i in range(len(texts)))
    drawn = themed(f'<svg viewBox="0 0 1 1">{source}</svg>', texts, "p", texts[0])
    nodes = list(ElementTree.fromstring(drawn).iter())
    assert {"svg", "text"} == {node.tag for node in nodes}
    assert len(nodes) == len(texts) + 1


@pytest.mark.filterwarnings("error")
def test_a_text_needs_no_font_and_is_no_formula() -> None:
    sheet = Sheet(100, 40)
    sheet.text(0, 10, "検索 $x^2$ 🙂 </text><script>")
    sheet.axis(Frame(0, 100, 20, 30), 0, 1)
    assert "検索 $x^2$ 🙂 </text><script>" in _texts(sheet.svg("p", "label"))


def test_colours_become_classes_and_unknown_ones_stay() -> None:
    source = (
        f'<svg viewBox="0 0 1 1"><path d="M 0 0" style="fill: {INKS["up"]}; stroke: #123456"/>'
        '<text style="font: 11px Arial; text-anchor: end">@0@</text></svg>'
    )
    drawn = themed(source, ["x"], "p", "label")
    assert 'class="f-up"' in drawn
    assert 'stroke="#123456"' in drawn
    assert 'font-size="11px" text-anchor="end"' in drawn or (
        'text-anchor="end" font-size="11px"' in drawn
    )


def test_a_long_name_is_cut_where_it_is_seen() -> None:
    assert shortened("retriever", 9) == "retriever"
    assert shortened("retrievers", 9) == "retrieve…"

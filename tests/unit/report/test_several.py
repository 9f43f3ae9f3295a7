"""Designs of several arms in both reports."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ragablate.bundle.read import Bundle
from ragablate.records import Comparison
from ragablate.report.markdown import render_markdown
from ragablate.report.terminal import Screen
from ragablate.session import Outcome

Study = tuple[Bundle, Comparison]


def _markdown(study: Study) -> str:
    return render_markdown(*study, "c" * 64).replace("\u00a0", " ")


def _terminal(study: Study) -> list[str]:
    stream = io.StringIO()
    screen = Screen(quiet=False, as_json=False, stream=stream)
    screen.outcome(Outcome(Path("outputs/toy/x"), *study, "c" * 64, 1, 1))
    return [" ".join(line.split()) for line in stream.getvalue().splitlines()]


@pytest.fixture
def ladder(study: Study, add_ladder: Callable[..., Study]) -> Study:
    return add_ladder(study)


def test_terms_are_shown_with_what_they_add_up_to(ladder: Study) -> None:
    report = _markdown(ladder)
    part = report[report.index("## localize: what adds up") :].splitlines()
    assert "ladder B&gt;D&gt;O, mean per question of `correct` over answerable questions." in part
    assert (
        "| retrieval | **+0.300** | +0.250 to +0.350 | 0.002 | 20 / 4 | 160 | ▲ loss | "
        "cut 0.100<br>not_in_candidates 0.200 |"
    ) in part
    assert "| together | **0.500** | – | – | – | – | – | – |" in part


def test_what_stands_beside_the_terms_is_collapsed(ladder: Study) -> None:
    report = _markdown(ladder)
    for text in (
        "<summary>The same on <code>retrieval-dependent</code></summary>",
        "| `O` | `context=oracle` | 0.800 |",
        "| retrieval | D | 30 |",
        "| PS | 12 of 40 | 0.010 |",
        "| PN | 3 of 80 | – |",
        "| `localize` | B to D: 160/160 prompt frames byte-identical |",
    ):
        assert text in report


def test_the_verdict_of_an_analysis_stands_among_the_others(ladder: Study) -> None:
    report = _markdown(ladder)
    assert "### retrieval loses most (claim: causal)" in report
    assert (
        "| Which stage loses the answers? | ladder B &gt; D &gt; O | **retrieval loses most** | – "
        "| its terms stand below | causal |"
    ) in report


def test_a_refused_analysis_shows_no_terms(study: Study, add_ladder: Callable[..., Study]) -> None:
    refused = add_ladder(study, refused=True)
    assert "No number: retrieval loses most." in _markdown(refused)
    assert not [line for line in _terminal(refused) if line.startswith("localize: ladder")]


def test_the_terminal_shows_terms_and_verdict(ladder: Study) -> None:
    lines = _terminal(ladder)
    assert "retrieval +0.300 +0.250 to +0.350 0.002 20 / 4 ▲ loss" in lines
    assert "together 0.500 – – – –" in lines
    assert "localize: Which stage loses the answers?" in lines
    assert "retrieval loses most (claim: causal)" in lines


def test_names_of_an_analysis_are_shown_literally(
    study: Study, add_ladder: Callable[..., Study]
) -> None:
    report = _markdown(add_ladder(study, name="<b>|x"))
    assert "<b>" not in report
    assert "## &lt;b&gt;&#124;x: what adds up" in report


def test_contrasts_that_do_not_add_up_stand_beside_and_a_difference_has_a_sign(
    ladder: Study,
) -> None:
    bundle, comparison = ladder
    (result,) = comparison.analyses
    term = replace(result.terms[0], name="retriever | reader=<wide>")
    crossed = replace(result, kind="factorial", total=-0.1, beside={"each change alone": (term,)})
    report = _markdown((bundle, replace(comparison, analyses=(crossed,))))
    assert "| together | **-0.100** |" in report
    assert "<summary>Beside them: each change alone</summary>" in report
    assert "| retriever &#124; reader=&lt;wide&gt; | **+0.300** |" in report

"""The report for pull requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.bundle.read import Bundle
from ragablate.records import Claim, Comparison, Verdict
from ragablate.report.markdown import render_markdown

Study = tuple[Bundle, Comparison]
ID = "0123456789ab" + "c" * 52

_ALLOWED = {
    "h1", "h2", "h3", "p", "ul", "li", "em", "strong", "code", "pre", "blockquote", "br", "sub",
    "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
}  # fmt: skip
_WORDS = (
    "data", "level", "question", "sentence", "attribution", "qid", "slice", "measure_label",
    "proof", "note",
)  # fmt: skip
_ATTACK = "</details><script>alert(1)</script>|[x](javascript:a)`\n\n# h\x1b[31m\u202e@me #1 $x$"


class _Page(HTMLParser):
    """Elements of a page, its links, and the cells of each table row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.open: list[str] = []
        self.rows: list[int] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        assert {name for name, _ in attrs} <= {"align", "lang", "class"}, (tag, attrs)
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def _rendered(markdown: str) -> _Page:
    return _Page(
        cmarkgfm.cmark.markdown_to_html_with_extensions(
            markdown,
            options=Options.CMARK_OPT_UNSAFE,
            extensions=["table", "autolink", "strikethrough", "tasklist"],
        )
    )


def _render(study: Study) -> str:
    """The report, its firm spaces as ordinary ones."""
    return render_markdown(*study, ID).replace("\u00a0", " ")


def test_what_was_asked_and_decided_stands_before_any_number_of_an_arm(study: Study) -> None:
    report = _render(study)
    order = [
        "# toy: which stage loses the answers",
        "## In one minute",
        "**Decided before scoring.**",
        "## Verdicts",
        "## Stage signals, arm by arm",
        "## Effects",
        "## What would settle what is open",
        "## By slice",
        "## All other effects",
        "## Proofs",
        "## Limits",
        "## Plan",
        "## Reproduce and check",
        "## Data",
    ]
    assert sorted(order, key=report.index) == order


def test_abstentions_by_evidence_are_counted_arm_by_arm(study: Study) -> None:
    bundle, comparison = study
    assert "## Abstentions by evidence" not in _render(study)
    first, *others = bundle.arms
    cells = [("abstained_with_evidence", (0.0, 1.0, None)), ("abstained_without_evidence", (1.0,))]
    judged = tuple(
        Verdict(f"q{i}", 1, measure, value)
        for measure, values in cells
        for i, value in enumerate(values)
    )
    verdicts = {first: judged, **dict.fromkeys(others, ())}
    report = _render((replace(bundle, verdicts=verdicts), comparison))
    table = report.partition("## Abstentions by evidence")[2].partition("\n## ")[0]
    header = "| arm | answerable, evidence in context | answerable, evidence missing |"
    assert header in table
    assert f"| `{first}` | 1 of 2 | 1 of 1 |" in table
    assert f"| `{others[0]}` | – | – |" in table


def test_the_passages_that_misled_most_are_named(study: Study) -> None:
    bundle, comparison = study
    assert "## Grounded in the wrong passage" not in _render(study)
    first, *others = bundle.arms

    def taken(qid: str, value: float | None, *pids: str) -> Verdict:
        claims = tuple(Claim("It.", "supported", pid) for pid in pids)
        return Verdict(qid, 1, "wrong_passage", value, "", claims)

    judged = (
        taken("q0", 1.0, "p2", "p2"), taken("q1", 1.0, "p9", "p2"), taken("q2", 1.0, "p1"),
        taken("q3", 1.0, "p4|x"), taken("q4", 0.0), taken("q5", None),
    )  # fmt: skip
    verdicts = {first: judged, **dict.fromkeys(others, ())}
    report = _render((replace(bundle, verdicts=verdicts), comparison))
    table = report.partition("## Grounded in the wrong passage")[2].partition("\n## ")[0]
    assert (
        f"| `{first}` | 4 of 5 | `p2` (2), `p1` (1), <code>p4&#124;x</code> (1), 1 more |" in table
    )
    assert f"| `{others[0]}` | – | – |" in table


def test_the_overview_says_asked_changed_came_out_and_how_sure(study: Study) -> None:
    assert (
        "| Would another retriever give better answers? | retriever: bm25 → dense | "
        "**retriever improves answers** | `correct`<br>0.50 → 0.75 | "
        "**+0.25** ▲ up<br>+0.17 to +0.33 | causal with limits |"
    ) in _render(study)


def test_an_effect_row_has_every_number(study: Study) -> None:
    assert (
        "| `swap_retriever` | 160 | **+0.25** | +0.17 to +0.33 | – | 1.0e-05 | 2.0e-05 | "
        "45 / 5 / 110 | ▲ up |"
    ) in _render(study)
    assert "correct, answerable questions, margin 0.05\n\n| experiment | n |" in _render(study)


def test_measures_and_margins_that_differ_stand_in_every_row(study: Study) -> None:
    bundle, comparison = study
    other = replace(comparison.effects[1], measure="token_f1", margin=0.1)
    effects = (comparison.effects[0], other, *comparison.effects[2:])
    report = _render((bundle, replace(comparison, effects=effects)))
    assert "| `swap_retriever` | `correct`, answerable | 0.05 | 160 |" in report
    assert "| `placebo` | `token_f1`, answerable | 0.1 | 160 |" in report


def test_a_placebo_has_no_adjusted_p(study: Study) -> None:
    assert "| 1.000 | – | 0 / 0 / 160 | ≈ flat |" in _render(study)


def test_signals_show_n_where_it_is_not_that_of_the_population(study: Study) -> None:
    report = _render(study)
    assert "0.98<br><sub>0.88 to 1.08, n = 152</sub>" in report
    assert "0.74<br><sub>0.64 to 0.84</sub>" in report


def test_unanswerable_questions_stand_apart_without_columns_of_evidence(study: Study) -> None:
    part = _render(study).split("**40 unanswerable questions**")[1]
    assert part.split("\n")[2] == "| arm | abstained | correct |"


def test_proofs_are_counted_per_contrast(study: Study) -> None:
    report = _render(study)
    assert "| `placebo` | 8/8 contexts byte-identical | – | 1 of 1 checks passed" in report
    assert "2 of 3 checks passed" in report
    assert "- `swap_retriever`: ! INV-7: 1 error in retriever=dense (warn)" in report


def test_negative_controls_that_stayed_are_counted(study: Study) -> None:
    assert "1 of 1 upstream measures unmoved" in _render(study)


def test_slices_that_do_not_differ_are_not_read(study: Study) -> None:
    report = _render(study)
    row = next(line for line in report.splitlines() if line.startswith("| `hops=1` |"))
    assert row.endswith("| – | 45 / 5 / 110 | – |")
    assert "By `hops` the effect does not differ detectably" in report
    assert "By `type` the effect does not differ detectably" not in report


def test_what_was_not_measured_is_named(study: Study) -> None:
    assert "Not measured in both arms: `cites_gold`." in _render(study)


def test_eval_gaps_are_listed(study: Study) -> None:
    assert (
        "Eval gaps (1): answerable, without usable gold, in no number</summary>\n\n`q1`"
        in _render(study)
    )


def test_paths_and_what_cannot_change_a_result_are_not_in_the_command(study: Study) -> None:
    report = _render(study)
    assert "```sh\nragablate run retriever=dense\n```" in report
    assert "sha256sum --check MANIFEST" in report
    assert "`retriever.index`: `…/old.idx` → `…/dense`" in report
    assert "/home/" not in report
    assert "/tmp/" not in report


def test_wall_clock_place_and_looks_do_not_change_a_byte(
    make_study: Callable[..., Study], study: Study
) -> None:
    bundle, comparison = make_study(folder=Path("/elsewhere/y"))
    plan = {
        **bundle.plan,
        "started": "1999-01-01",
        "git": None,
        "looks": 77,
        "versions": {"python": "9"},
        "command": ["ragablate", "run", "json=true", "outputs=there", "retriever=dense"],
    }
    other = type(bundle)(
        bundle.folder, plan, bundle.questions, bundle.contexts, bundle.traces, bundle.verdicts
    )
    object.__setattr__(other, "proofs", bundle.proofs)
    assert _render((other, comparison)) == _render(study)


def test_a_refused_contrast_has_no_number(study: Study) -> None:
    bundle, comparison = study
    primary = replace(
        comparison.effects[0],
        **{
            f: None for f in ("effect", "control_mean", "treatment_mean", "ci95", "p", "p_adjusted")
        },
        state="refused",
        n=0,
    )
    conclusion = replace(comparison.conclusions[0], label="refused", verdict="refused")
    refused = replace(
        comparison,
        effects=(primary, *comparison.effects[1:]),
        conclusions=(conclusion, comparison.conclusions[1]),
    )
    report = _render((bundle, refused))
    assert "| `swap_retriever` | 0 | **–** | – | – | – | – | – | ✗ refused |" in report


def test_intervals_are_named_by_their_own_coverage(study: Study) -> None:
    bundle, comparison = study
    effects = tuple(
        replace(e, ci95=e.ci95 and replace(e.ci95, confidence=0.99)) for e in comparison.effects
    )
    report = _render((bundle, replace(comparison, effects=effects)))
    assert "99 % interval" in report
    assert "| 95 % interval" not in report


def test_levels_of_one_experiment_are_told_apart(study: Study) -> None:
    bundle, comparison = study
    contrasts = bundle.plan["contrasts"]
    second = {**contrasts[0], "id": "swap_retriever/other", "level": "other"}
    other = type(bundle)(
        bundle.folder,
        {**bundle.plan, "contrasts": [*contrasts, second]},
        bundle.questions,
        {},
        bundle.traces,
        {},
    )
    object.__setattr__(other, "proofs", bundle.proofs)
    report = _render((other, comparison))
    assert "`swap_retriever/dense`: *Would" in report


def test_a_report_too_long_for_a_pull_request_leaves_out_what_effects_json_holds(
    study: Study,
) -> None:
    bundle, comparison = study
    many = tuple(
        replace(comparison.effects[2], id=f"x{i}", measure=f"measure_{i}") for i in range(2000)
    )
    report = _render((bundle, replace(comparison, effects=(*comparison.effects, *many))))
    assert len(report) < 60_000
    assert "## All other effects\n\nLeft out" in report
    assert "## By slice\n\nExploratory." in report


def test_a_long_list_of_eval_gaps_is_cut(study: Study) -> None:
    bundle, comparison = study
    gap = bundle.questions["q1"]
    gaps = {f"g{i}": replace(gap, qid=f"g{i}") for i in range(250)}
    other = type(bundle)(bundle.folder, bundle.plan, gaps, {}, bundle.traces, {})
    object.__setattr__(other, "proofs", bundle.proofs)
    report = _render((other, comparison))
    assert "`g199` and 50 more, in `questions.jsonl`" in report


def test_the_report_renders_as_the_elements_it_is_made_of(study: Study) -> None:
    page = _rendered(_render(study))
    assert set(page.elements) <= _ALLOWED
    assert page.elements.count("table") == 11
    assert page.open == []


@pytest.mark.parametrize("word", _WORDS)
def test_an_attack_shows_as_text_wherever_it_stands(
    make_study: Callable[..., Study], study: Study, word: str
) -> None:
    usual = _rendered(_render(study))
    page = _rendered(_render(make_study(**{word: f"a{_ATTACK}"})))
    spans = {"span", "code"}
    assert [e for e in page.elements if e not in spans] == [
        e for e in usual.elements if e not in spans
    ]
    assert page.rows == usual.rows
    assert page.open == []
    assert "<script>alert(1)</script>" in page.text


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(_WORDS),
        st.text(alphabet="<>&|`*_[]()!#~\\:@$-+=.\n\t\r\x1b\u202e\u2028\ud800/ a1é漢", max_size=14),
        min_size=1,
        max_size=4,
    )
)
def test_no_text_changes_what_the_report_is_made_of(
    make_study: Callable[..., Study], words: dict[str, str]
) -> None:
    named = {word: f"{text}w" for word, text in words.items()}
    page = _rendered(_render(make_study(**named)))
    assert set(page.elements) <= _ALLOWED
    assert page.open == []
    tables = page.elements.count("table")
    assert tables == 11

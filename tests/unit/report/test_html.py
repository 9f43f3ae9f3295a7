"""The page that needs nothing but a browser."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ragablate.bundle.read import Bundle
from ragablate.records import Claim, Comparison, Verdict
from ragablate.report import drawing
from ragablate.report.html import render_html

Study = tuple[Bundle, Comparison]
ID = "0123456789ab" + "c" * 52

_VOID = {"meta", "br", "input", "path", "use"}
_FORMS = {"form", "button", "noscript", "svg", "g", "text", "defs"}
_ALLOWED = _VOID | _FORMS | {
    "html", "head", "title", "style", "body", "script", "a", "header", "nav", "main", "footer",
    "section", "article", "div", "h1", "h2", "h3", "h4", "p", "ul", "li", "dl", "dt", "dd",
    "table", "caption", "thead", "tbody", "tr", "th", "td", "code", "pre", "strong", "small",
    "em", "span", "details", "summary",
}  # fmt: skip
_WORDS = (
    "data", "level", "question", "sentence", "attribution", "qid", "slice", "measure_label",
    "proof", "note",
)  # fmt: skip
_ATTACK = (
    "</style></script><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e{{7}}"
)
_PIECES = (
    "<", ">", '"', "'", "&", "&amp;", "</script>", "<!--", "-->", "]]>", "javascript:", "{{", "}}",
    "{%", "\x1b[2J", "\x9b31m", "\u202e", "\u2066", "\x00", "\ud800", "\ufffe", "\r\n", "@0@",
    "$x$", "onload=", "\u2028",
)  # fmt: skip
# A file of a bundle holds no lone surrogate; a config may.
_WRITABLE = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from([p for p in _PIECES if p != "\ud800"]), max_size=6).map("".join),
)
_TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.lists(st.sampled_from(_PIECES), max_size=6).map("".join),
)


class _Page(HTMLParser):
    """Elements, attributes, ids and visible text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.scripts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += " "
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.scripts.append(data)
        else:
            self.text += data

    def values(self, name: str) -> list[str]:
        return [a[name] or "" for _, a in self.elements if name in a]


def _render(study: Study) -> str:
    return render_html(*study, ID)


def _words(page: str) -> str:
    return " ".join(_Page(page).text.split())


@pytest.fixture(scope="session")
def whole(
    add_ladder: Callable[..., Study],
    add_questions: Callable[..., Study],
    study: Study,
    tmp_path_factory: pytest.TempPathFactory,
) -> Study:
    return add_ladder(add_questions(study, "Who built it?", tmp_path_factory.mktemp("whole")))


@pytest.fixture(scope="session")
def page(whole: Study) -> str:
    return _render(whole)


@pytest.fixture(scope="session")
def bare(whole: Study) -> str:
    """The page where matplotlib is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "available", lambda: False)
        return _render(whole)


def test_what_was_asked_and_decided_stands_first_and_single_questions_last(page: str) -> None:
    parts = (
        "minute", "verdicts", "losses", "chain-1", "chain-1-logs", "effects", "signals", "slices",
        "moves", "proofs", "limits", "reproduce", "questions",
    )  # fmt: skip
    ids = _Page(page).values("id")
    assert list(parts) == [i for i in ids if i in parts]
    text = _words(page)
    rule = "Decided before scoring. Up when p <= 0.05. Margin of this plan: 0.05."
    assert text.index(rule) < text.index("retriever improves answers")


def test_the_overview_says_asked_changed_came_out_and_how_sure(page: str) -> None:
    assert (
        "Would another retriever give better answers? retriever: bm25 → dense "
        "retriever improves answers +0.25 ▲ up 0.50 → 0.75 correct, answerable "
        "Claim: causal with limits +0.17 to +0.33 45 better, 5 worse, 110 same"
    ) in _words(page)


def test_how_to_get_it_again_and_to_verify_it_is_one_command_each(page: str) -> None:
    text = _words(page)
    assert "ragablate run retriever=dense" in text
    assert "ragablate verify ." in text


def test_proofs_are_counted_and_what_failed_is_said(page: str) -> None:
    text = _words(page)
    assert "2 of 3 checks passed" in text
    assert "warn: INV-7: 1 error in retriever=dense (warn)" in text
    assert "Asked again with nothing changed, 0 of 160 questions moved." in text


def test_a_plan_without_a_placebo_says_what_is_not_known(whole: Study) -> None:
    bundle, comparison = whole
    plan = {**bundle.plan, "contrasts": bundle.plan["contrasts"][:1]}
    other = type(bundle)(
        bundle.folder, plan, bundle.questions, bundle.contexts, bundle.traces, bundle.verdicts
    )
    object.__setattr__(other, "proofs", bundle.proofs)
    assert "add experiment=placebo" in _words(_render((other, comparison)))


def test_a_refused_design_has_no_number_and_says_why(
    study: Study, add_questions: Callable[..., Study], add_ladder: Callable[..., Study],
    tmp_path: Path,
) -> None:  # fmt: skip
    filled = add_questions(study, "Who?", tmp_path)
    text = _words(_render(add_ladder(filled, refused=True)))
    assert "No number: retrieval loses most." in text


# ── plots ───────────────────────────────────────────────────────────────────────────────


def test_every_number_of_a_plot_stands_in_a_table_too(page: str) -> None:
    drawn = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", page))
    tables = " ".join(re.findall(r"<td[^>]*>(.*?)</td>", page, re.S))
    numbers = set(re.findall(r"[+-]\d\.\d+", drawn))
    assert "+0.25" in numbers
    scale = set(re.findall(r"tick|(?<![\d.])-?\d(?:\.\d+)?(?![\d.])", drawn))
    assert numbers - scale <= set(re.findall(r"[+-]\d\.\d+", tables))


def test_a_plot_has_no_colour_of_its_own(page: str) -> None:
    plots = re.findall(r"<svg.*?</svg>", page, re.S)
    assert len(plots) == 8
    assert not re.findall(r'(?:fill|stroke)="#', "".join(plots))
    assert "style=" not in "".join(plots)


def test_without_matplotlib_the_page_names_the_extra_and_keeps_every_number(
    page: str, bare: str
) -> None:
    assert "<svg" not in bare
    assert "pip install 'ragablate[plots]'" in _words(bare)
    cells = re.compile(r"<td[^>]*>(.*?)</td>", re.S)
    assert cells.findall(page) == cells.findall(bare)


def test_ids_are_unique_and_every_link_stays_on_the_page(page: str) -> None:
    parsed = _Page(page)
    ids = parsed.values("id")
    assert len(set(ids)) == len(ids)
    links = parsed.values("href")
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= set(ids)
    named = [i for value in parsed.values("aria-labelledby") for i in value.split()]
    assert set(named) <= set(ids)


# ── trust ───────────────────────────────────────────────────────────────────────────────


def test_only_the_script_and_the_style_of_the_page_may_run(page: str) -> None:
    parsed = _Page(page)
    policy = next(
        a["content"] for t, a in parsed.elements if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        source = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        assert source is not None
        value = base64.b64encode(hashlib.sha256(source[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{value}'" in policy


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    parsed = _Page(page)
    assert parsed.values("src") == []
    assert {tag for tag, _ in parsed.elements} <= _ALLOWED
    assert not re.search(r"https?:|url\(|@import|innerHTML|\beval\(", page)


def _hold_to_text(page: str, like: str) -> None:
    """The page has the elements and attributes of an honest one."""
    parsed, honest = _Page(page), _Page(like)
    assert parsed.scripts[-1] == honest.scripts[-1]
    names = {(tag, tuple(sorted(attributes))) for tag, attributes in parsed.elements}
    assert names <= {(tag, tuple(sorted(attributes))) for tag, attributes in honest.elements}
    assert not re.search("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def test_hostile_words_are_text_everywhere(
    make_study: Callable[..., Study], add_ladder: Callable[..., Study],
    add_questions: Callable[..., Study], tmp_path: Path, page: str,
) -> None:  # fmt: skip
    words = {name: f"{name} {_ATTACK}" for name in _WORDS}
    words["slice"] = f"type={_ATTACK}"
    hostile = add_questions(make_study(tmp_path, **words), _ATTACK, tmp_path)
    rendered = _render(add_ladder(hostile, name=f"ladder{_ATTACK}"))
    _hold_to_text(rendered, page)
    assert "<img src=x onerror=alert(1)>" in _Page(rendered).text


@settings(
    deadline=None,
    max_examples=60,
    # Rendering a page is too slow to search for the smallest failure.
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_words_are_text_everywhere(
    data: st.DataObject, make_study: Callable[..., Study], add_questions: Callable[..., Study],
    tmp_path: Path, bare: str, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    # Many pages are made; the texts of plots have a test of their own.
    monkeypatch.setattr(drawing, "available", lambda: False)
    words = {name: data.draw(_TEXTS) for name in _WORDS if name not in ("level", "qid")}
    words["slice"] = f"type={words['slice']}"
    hostile = make_study(tmp_path, **words)
    bundle, comparison = add_questions(hostile, data.draw(_WRITABLE), tmp_path)
    notes = tuple(data.draw(st.lists(_TEXTS, min_size=40, max_size=50)))
    _hold_to_text(_render((bundle, replace(comparison, notes=notes))), bare)


# ── the same bytes ──────────────────────────────────────────────────────────────────────


def test_neither_the_place_nor_the_time_nor_the_looks_change_the_page(
    make_study: Callable[..., Study], page: str, add_ladder: Callable[..., Study],
    add_questions: Callable[..., Study], tmp_path: Path,
) -> None:  # fmt: skip
    bundle, comparison = add_questions(make_study(tmp_path), "Who built it?", tmp_path)
    later = {
        **bundle.plan,
        "started": "2031-01-01T00:00:00.000+00:00",
        "looks": 9,
        "git": None,
        "command": ["ragablate", "run", "outputs=/else/where", "retriever=dense"],
    }
    traces = {
        arm: tuple(replace(t, latency_s=9.0, timestamp="2031", usage={"n": 1}) for t in lines)
        for arm, lines in bundle.traces.items()
    }
    other = type(bundle)(
        bundle.folder, later, bundle.questions, bundle.contexts, traces, bundle.verdicts
    )
    object.__setattr__(other, "proofs", bundle.proofs)
    assert page == _render(add_ladder((other, comparison)))
    assert "/somewhere" not in page
    assert "/home/somebody" not in page


def test_a_users_own_matplotlib_settings_change_nothing(page: str, whole: Study) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"lines.linewidth": 9, "svg.fonttype": "path", "font.size": 30}):
        assert page == _render(whole)


def test_abstentions_by_evidence_and_misled_answers_are_counted_arm_by_arm(
    whole: Study, page: str
) -> None:
    bundle, comparison = whole
    assert "Abstentions by evidence" not in page
    first, *others = bundle.arms
    judged = (
        Verdict("q0", 1, "wrong_passage", 1.0, "", (Claim("It.", "supported", "p<7"),)),
        Verdict("q1", 1, "wrong_passage", 0.0),
        Verdict("q0", 1, "abstained_with_evidence", 0.0),
        Verdict("q1", 1, "abstained_without_evidence", 1.0),
    )
    verdicts = {first: judged, **dict.fromkeys(others, ())}
    words = _words(_render((replace(bundle, verdicts=verdicts), comparison)))
    table = words.partition("Abstentions by evidence arm ")[2]
    assert table.startswith(
        f"answerable, evidence in context answerable, evidence missing {first} 0 of 1 1 of 1 "
    )
    misled = words.partition("Grounded in the wrong passage arm ")[2]
    assert misled.startswith(f"taken from another passage passages {first} 1 of 2 p<7 (1) ")
    assert "without the evidence, refusing is its success" in words

"""Untrusted text is shown literally, and shows nothing else."""

from __future__ import annotations

from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragablate.report.escape import clean, code, fenced, html_text, inline

_NASTY = [
    "<script>alert(1)</script>",
    "</script>",
    "</details>",
    "<!-- ",
    "](javascript:alert(1))",
    "[x](javascript:alert(1))",
    "![x](http://e.vil/p.png)",
    "[!WARNING]",
    "[^1]:",
    "|",
    "\\|",
    "\n",
    "\r\n\r\n",
    "\u2028",
    "`",
    "```",
    "~~~",
    "~~",
    "**",
    "__",
    "_",
    "# ",
    "- ",
    "+ ",
    "1. ",
    "> ",
    "---",
    "===",
    "&lt;",
    "&#60;",
    "\\",
    "$",
    "$$",
    ":tada:",
    "@somebody",
    "#12",
    "GH-12",
    "http://e.vil/",
    "www.e.vil",
    "a@e.vil",
    "mailto:a@e.vil",
    "\x1b[31m",
    "\x1b]8;;http://e.vil\x07",
    "\x9b2J",
    "\x1b",
    "\x00",
    "\x08",
    "\u202e",
    "\u2066",
    "\ud800",
    "=1+1",
    "الجواب",
    "答案",
    "é",
    " ",
    "a",
    "1",
]
texts = st.lists(
    st.sampled_from(_NASTY) | st.text(max_size=6) | st.text(alphabet="<>&|`*_[]()!#~\\:@. a1"),
    max_size=8,
).map("".join)


class _Shown(HTMLParser):
    """What a reader would see of a page, and the elements it is made of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: set[str] = set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        assert not attrs or tag in ("th", "td"), (tag, attrs)

    def handle_comment(self, data: str) -> None:
        self.elements.add("comment")

    def handle_data(self, data: str) -> None:
        self.text += data


def _github(markdown: str) -> _Shown:
    page = cmarkgfm.cmark.markdown_to_html_with_extensions(
        markdown,
        options=Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES,
        extensions=["table", "autolink", "strikethrough", "tasklist"],
    )
    return _Shown(page)


@settings(deadline=None, max_examples=150)
@given(texts)
@example("\x1b\x1b[31m[31mred")
@example("\u202eevil\u202c")
def test_clean_text_has_no_control_or_direction_characters_and_one_line(text: str) -> None:
    shown = clean(text)
    assert not [c for c in shown if ord(c) < 32 or 0x7F <= ord(c) <= 0x9F]
    assert not set(shown) & set(
        "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )
    assert shown == " ".join(shown.split())
    shown.encode("utf-8")


@settings(deadline=None, max_examples=150)
@given(texts)
def test_clean_text_stays_as_it_is_when_cleaned_again(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://e.vil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]never ended", "never ended"),
        ("\x9b31mred", "red"),
        ("a\tb\r\nc\u2028d\x0be", "a b c d e"),
        ("\u202egold\u202c", "gold"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("می‌خواهم 👩‍🔬", "می‌خواهم 👩‍🔬"),
        ("[red]bold[/red]", "[red]bold[/red]"),
    ],
)
def test_clean_text_keeps_what_can_be_read(given_text: str, shown: str) -> None:
    assert clean(given_text) == shown


@settings(deadline=None, max_examples=250)
@given(texts)
@example("1. # - +")
@example("- [x] done")
@example("a:b:c:d:")
def test_a_paragraph_shows_any_text_literally(text: str) -> None:
    shown = _github(inline(text))
    assert shown.elements <= {"p", "span"}
    assert shown.text.strip("\n") == clean(text)


@settings(deadline=None, max_examples=150)
@given(texts)
def test_a_list_item_shows_any_text_literally(text: str) -> None:
    shown = _github(f"- {inline(text)}")
    assert shown.elements <= {"ul", "li", "span"}
    assert shown.text.strip("\n") == clean(text)


@settings(deadline=None, max_examples=150)
@given(texts)
def test_a_heading_shows_any_text_literally(text: str) -> None:
    shown = _github(f"### Verdict: {inline(text)} end")
    assert shown.elements <= {"h3", "span"}
    assert " ".join(shown.text.split()) == " ".join(f"Verdict: {clean(text)} end".split())


@settings(deadline=None, max_examples=150)
@given(texts, texts)
def test_table_cells_hold_any_text_and_stay_two(left: str, right: str) -> None:
    shown = _github(f"| a | b |\n|---|---|\n| ^{inline(left)}^ | ^{code(right)}^ |\n")
    assert shown.elements <= {"table", "thead", "tbody", "tr", "th", "td", "span", "code"}
    cells = [line for line in shown.text.split("\n") if line]
    assert cells == ["a", "b", f"^{clean(left)}^", f"^{clean(right)}^"]


@settings(deadline=None, max_examples=150)
@given(texts)
def test_code_shows_any_text_literally(text: str) -> None:
    shown = _github(f"see {code(text)} there")
    assert shown.elements <= {"p", "span", "code"}
    assert " ".join(shown.text.split()) == " ".join(f"see {clean(text)} there".split())


@settings(deadline=None, max_examples=150)
@given(texts)
def test_a_summary_shows_any_text_literally(text: str) -> None:
    shown = _github(f"<details>\n<summary>{html_text(text)}</summary>\n\nbody\n\n</details>\n")
    assert shown.elements <= {"details", "summary", "p", "span"}
    assert " ".join(shown.text.split()) == " ".join(f"{clean(text)} body".split())


@settings(deadline=None, max_examples=150)
@given(texts)
def test_a_fence_cannot_be_closed_from_within(text: str) -> None:
    shown = _github(f"{fenced(text)}\n\nafter")
    assert shown.elements <= {"pre", "code", "p"}
    assert " ".join(shown.text.split()) == " ".join(f"{clean(text)} after".split())


@pytest.mark.parametrize(
    "text",
    ["@somebody", "see #12", "GH-12", "http://e.vil", "WWW.e.vil", "a@e.vil", ":tada:", "$x$"],
)
def test_nothing_is_linked_mentioned_or_drawn(text: str) -> None:
    assert "<span>" in inline(text)
    assert "a" not in _github(inline(text)).elements


@pytest.mark.parametrize(
    "text",
    ["ndcg@10", "evidence_in_context", "-0.06 to +0.04", "bm25 -> minilm_run", "p = 4.0e-10"],
)
def test_ordinary_text_stays_readable_in_the_source(text: str) -> None:
    assert inline(text) == text.replace(">", "&gt;")

"""The report in a real browser: what a reader sees, finds, prints and cannot be tricked by."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests_support import PASSAGES, QUESTIONS, write_dataset

import ragablate
from ragablate.bundle.read import Bundle
from ragablate.records import Claim, ContextPassage, Verdict
from ragablate.report.html import render_html
from ragablate.traces import ContextLine

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the package playwright is not installed (extra dev)"
)

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATH = next((path for path in map(shutil.which, _NAMES) if path), None)
pytestmark = pytest.mark.skipif(
    _PATH is None, reason=f"no browser: none of {', '.join(_NAMES)} is installed"
)

_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
ATTACK = (
    "</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=2>"
    "[x](javascript:window.hacked=3)\x1b[31m\u202etxet"
)
_PAPER = 703
"""Width of what A4 holds between the margins, in pixels."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as p:
        opened = p.chromium.launch(executable_path=_PATH, args=_ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> ragablate.Outcome:
    """A bundle of the toy data set in which every text ends in an attack."""
    folder = tmp_path_factory.mktemp("browser")
    passages = [(f"{pid}<b>", title, f"{text} {ATTACK}") for pid, title, text in PASSAGES]
    questions = [
        {
            **q,
            "question": f"{q['question']} {ATTACK}",
            "gold_ids": [f"{pid}<b>" for pid in q.get("gold_ids", ())],
            "slices": {"half": "first" if n < 4 else f"second {ATTACK}"},
        }
        for n, q in enumerate(QUESTIONS)
    ]
    data = write_dataset(folder / "toy", passages, questions)
    return ragablate.run(
        "dataset=jsonl", f"dataset.path={data}", f"outputs={folder}", "name=toy",
        "experiment=[closed_book,oracle_context,swap_reader,placebo,localize]",
        "assembler.budget_tokens=40",
    )  # fmt: skip


class Reader:
    """One page, and everything that went wrong on it."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)

    def ready(self) -> Reader:
        self.page.wait_for_selector("#list tr[data-place]")
        return self

    def status(self) -> str:
        return str(self.page.inner_text("#status"))

    def choose(self, name: str, value: str) -> None:
        self.page.select_option(f"#filters [name={name}]", value)


@pytest.fixture
def read(browser: Any, outcome: ragablate.Outcome) -> Iterator[Callable[..., Reader]]:
    """Opens the report; nothing may have gone wrong in the end."""
    opened: list[tuple[Any, Reader]] = []

    def open_(fragment: str = "", **options: Any) -> Reader:
        context = browser.new_context(**options)
        address = (outcome.folder / "report.html").as_uri() + fragment
        reader = Reader(context.new_page(), address)
        opened.append((context, reader))
        return reader

    yield open_
    for context, reader in opened:
        assert reader.wrong == []
        context.close()


def test_the_page_opens_without_an_error_and_asks_for_nothing_else(
    read: Callable[..., Reader], outcome: ragablate.Outcome
) -> None:
    reader = read().ready()
    assert "toy: which stage loses the answers" in reader.page.inner_text("h1")
    assert reader.asked == [(outcome.folder / "report.html").as_uri()]
    assert reader.status() == "8 of 8 questions"


def test_search_finds_words_and_ids(read: Callable[..., Reader]) -> None:
    reader = read().ready()
    reader.page.fill("#filters [name=find]", "zorbat bridge")
    assert reader.status() == "2 of 8 questions"
    reader.page.fill("#filters [name=find]", "Q7")
    assert reader.status() == "1 of 8 questions"
    reader.page.fill("#filters [name=find]", "nowhere to be found")
    assert "No question is like that" in reader.status()
    reader.page.click("#filters button[type=reset]")
    playwright.expect(reader.page.locator("#status")).to_have_text("8 of 8 questions")


def test_filters_narrow_by_kind_slice_change_and_bucket(
    read: Callable[..., Reader], outcome: ragablate.Outcome
) -> None:
    reader = read().ready()
    reader.choose("kind", "1")
    assert reader.status() == "2 of 8 questions"
    reader.choose("kind", "")
    reader.page.select_option("#filters [name=slice]", label="half = first")
    assert reader.status() == "4 of 8 questions"
    reader.choose("slice", "")
    primary = {e.contrast: e for e in outcome.comparison.effects if e.role == "primary"}
    for place, contrast in enumerate(outcome.bundle.contrasts):
        reader.choose("contrast", str(place))
        reader.choose("kind", "0")
        for moved in ("better", "worse", "same"):
            reader.choose("moved", moved)
            expected = getattr(primary[contrast.id], moved)
            found = reader.status()
            assert found.startswith(f"{expected} of") or (not expected and "No question" in found)
    reader.page.click("#filters button[type=reset]")
    buckets = outcome.bundle.study().buckets
    for value, text in reader.page.eval_on_selector_all(
        "#filters [name=bucket] option[value]:not([value=''])",
        "options => options.map(o => [o.value, o.textContent])",
    ):
        reader.choose("bucket", value)
        name = "ok" if text.startswith("nowhere") else text
        expected = sum(bucket == name for bucket in buckets.values())
        found = reader.status()
        assert found.startswith(f"{expected} of") or (not expected and "No question" in found)


def test_a_question_opens_with_all_arms_gold_prompt_and_verdicts(
    read: Callable[..., Reader], outcome: ragablate.Outcome
) -> None:
    reader = read().ready()
    page = reader.page
    page.click("#list tr[data-place='3'] button")
    page.wait_for_selector("#question .arm")
    assert page.url.endswith("#q=q4")
    assert "Where was the engineer" in page.inner_text("#question h3")
    assert page.locator("#question .arm").count() == len(outcome.bundle.arms)
    assert page.locator("#question .fates tbody tr").count() == len(outcome.bundle.arms)
    control = page.locator("#question .arm.control")
    assert control.locator(".gold-tag").count() > 0
    line = next(t for t in outcome.bundle.traces["control"] if t.qid == "q4")
    assert control.locator("details[data-pid]").count() == len(line.prompt_pids)
    control.get_by_text("The exact prompt").click()
    rows = map(json.loads, (outcome.folder / "prompts.jsonl").read_text().splitlines())
    prompt = next(row for row in rows if row["digest"] == line.prompt_digest)
    exact = "".join(s["text"] for s in prompt["segments"])
    shown = control.locator(".prompt pre").inner_text()
    assert shown == exact.replace("\x1b", "U+001B").replace("\u202e", "U+202E")
    control.get_by_text("Verdicts, with their reasons").click()
    assert "evidence_in_context" in control.inner_text()


def test_a_citation_leads_to_its_passage(read: Callable[..., Reader]) -> None:
    page = read("#q=q1").ready().page
    page.wait_for_selector("#question .arm .cited")
    cited = page.locator("#question .arm.control .cited").first
    pid = cited.get_attribute("title").removeprefix("passage ")
    cited.click()
    opened = page.locator("#question .arm.control details[data-pid][open]")
    assert [e.get_attribute("data-pid") for e in opened.all()] == [pid]
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_claims_say_which_passage_supports_contradicts_or_misleads(
    browser: Any, outcome: ragablate.Outcome, tmp_path: Path
) -> None:
    lines = (t for traces in outcome.bundle.traces.values() for t in traces)
    line = next(t for t in lines if len(t.prompt_pids) > 1 and t.answer and not t.abstained)
    held, other = line.prompt_pids[:2]
    claims = (
        Claim("It holds.", "supported", held, "as it stands"),
        Claim("It does not.", "contradicted", other),
        Claim("Nobody says so.", "unsupported"),
        Claim("Perhaps.", "unclear"),
    )
    verdicts = (
        Verdict(line.qid, 1, "faithfulness", None, "", claims),
        Verdict(line.qid, 1, "wrong_passage", 1.0, "", (claims[0],)),
        Verdict(line.qid, 1, "abstention_fits", 1.0, "answerable: rightly attempted"),
    )
    bundle = replace(outcome.bundle, verdicts={**outcome.bundle.verdicts, line.arm: verdicts})
    path = tmp_path / "report.html"
    path.write_text(render_html(bundle, outcome.comparison, "0" * 64), encoding="utf-8")
    page = browser.new_page()
    reader = Reader(page, f"{path.as_uri()}#q={line.qid}").ready()
    page.wait_for_selector("#question .arm .against")
    place = list(bundle.arms).index(line.arm)
    card = page.locator(f"#question .arm[data-arm='{place}']")
    shown = " ".join(card.inner_text().split())
    assert (
        "✓ by [1] ✗ “It does not.” contradicted by [2] ✗ “Nobody says so.” supported by no passage "
        "? “Perhaps.” the judge gave no usable answer"
    ) in shown
    assert f"Grounded in the wrong passage: [1] {held}" in shown
    assert "answerable: rightly attempted" in shown
    title = card.locator(".support").first.get_attribute("title")
    assert title == f"passage {held}: “as it stands”"
    card.locator(".against").first.click()
    opened = card.locator("details[data-pid][open]")
    assert [e.get_attribute("data-pid") for e in opened.all()] == [other]
    assert reader.wrong == []
    page.close()


def test_arms_can_be_left_out_and_stay_out(read: Callable[..., Reader]) -> None:
    page = read("#q=q1").ready().page
    page.wait_for_selector("#question .arm")
    before = page.locator("#question .arm").count()
    page.locator("#question fieldset input").nth(1).uncheck()
    assert page.locator("#question .arm").count() == before - 1
    page.get_by_role("button", name="Next").click()
    playwright.expect(page.locator("#question h3")).to_contain_text("How long is the river")
    assert page.url.endswith("#q=q2")
    assert page.locator("#question .arm").count() == before - 1


def test_the_keyboard_suffices(read: Callable[..., Reader]) -> None:
    page = read().ready().page
    page.focus("#list tr[data-place='0'] button")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_selector("#question .arm")
    assert page.url.endswith("#q=q2")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Previous"


# ── trust ───────────────────────────────────────────────────────────────────────────────


def test_hostile_texts_are_seen_as_text_and_do_nothing(read: Callable[..., Reader]) -> None:
    reader = read("#q=q1").ready()
    page = reader.page
    page.wait_for_selector("#question .arm")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") is None
    seen = page.inner_text("#question")
    assert "<script>window.hacked = 1</script><img src=x onerror=window.hacked=2>" in seen
    assert "U+202E" in seen
    assert "U+001B" in seen
    assert page.locator("main img, main script, main a[href^=javascript]").count() == 0
    assert "\u202e" not in page.content()


def test_thousands_of_texts_stay_text(read: Callable[..., Reader]) -> None:
    random_ = random.Random(0)
    pieces = ["<", "</", ">", "script", "img src=x onerror=window.hacked=1", "'", '"', "&lt;",
              "&#60;",
              "javascript:", "\u202e", "\u2066", "\x1b[2J", "\x00", "\ud83d", "é", "\n", "\t", "`",
              "<!--", "-->", "]]>", "{{x}}", "\u2028", "\U0001f642", "a"]  # fmt: skip
    texts = ["".join(random_.choices(pieces, k=random_.randint(0, 12))) for _ in range(4000)]
    escaped = [json.dumps(text) for text in texts]
    page = read().ready().page
    page.evaluate("texts => { window.texts = texts.map((t) => JSON.parse(t)); }", escaped)
    wrong = page.evaluate(
        """() => window.texts.filter((text) => {
          const element = make("p", {}, text);
          const alien = [...element.querySelectorAll("*")].some((e) => e.className !== "unseen");
          for (const mark of element.querySelectorAll(".unseen")) {
            mark.replaceWith(String.fromCodePoint(parseInt(mark.textContent.slice(2), 16)));
          }
          document.body.append(element);
          const back = element.textContent !== text;
          const marks = marked(text, [text.slice(1, 4), text.slice(2, 6)]).textContent
            .replace(/U\\+([0-9A-F]{4,5})/g, (_, c) => String.fromCodePoint(parseInt(c, 16)));
          return alien || back || marks !== text;
        }).map((text) => JSON.stringify(text))"""
    )
    assert wrong == []
    assert page.evaluate("window.hacked") is None


def test_a_script_that_got_in_would_not_run(browser: Any, outcome: ragablate.Outcome) -> None:
    page = browser.new_page()
    reader = Reader(page, (outcome.folder / "report.html").as_uri()).ready()
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          document.body.append(script);
          const image = document.createElement("img");
          image.src = "https://example.invalid/x.png";
          document.body.append(image);
        }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in reader.wrong)
    page.close()


# ── paper, phones, the dark, and browsers that lack something ───────────────────────────

_CUT = """() => {
  const width = document.documentElement.clientWidth;
  const cut = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".said, .skip, svg") || !element.checkVisibility()) continue;
    const box = element.getBoundingClientRect();
    const scrolls = element.closest(".scroll, nav ul, .prompt pre");
    if (box.width && box.right > width + 1 && (!scrolls || scrolls === element)) {
      cut.push(`${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`);
    }
  }
  return cut;
}"""


def test_paper_holds_everything(
    read: Callable[..., Reader], outcome: ragablate.Outcome, tmp_path: Path
) -> None:
    pypdf = pytest.importorskip("pypdf")
    page = read("#q=q1").ready().page
    page.wait_for_selector("#question .arm")
    page.pdf(path=tmp_path / "report.pdf", format="A4", prefer_css_page_size=True)
    printed = pypdf.PdfReader(tmp_path / "report.pdf")
    assert len(printed.pages) > 3
    text = " ".join(" ".join(p.extract_text() for p in printed.pages).split())
    for conclusion in outcome.comparison.conclusions:
        assert conclusion.verdict in text
    # What is folded on the screen is unfolded on paper.
    for part in (
        "INV-1",
        "treatment minus control",
        "ragablate verify .",
        "Right answers: Ada Lind",
    ):
        assert part in text or part.replace("treatment", "Treatment") in text
    assert "Compare control with" not in text
    page.emulate_media(media="print")
    page.set_viewport_size({"width": _PAPER, "height": 1000})
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(_CUT.replace(".scroll, nav ul, .prompt pre", "nothing")) == []
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every((e) => e.scrollWidth <= e.clientWidth + 1)"
    )


def test_what_was_folded_is_folded_again_after_printing(read: Callable[..., Reader]) -> None:
    page = read().ready().page
    opened = "document.querySelectorAll('details[open]').length"
    before = page.evaluate(opened)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(opened) > before
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(opened) == before


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_no_width_needs_sideways_scrolling(read: Callable[..., Reader], width: int) -> None:
    page = read("#q=q4", viewport={"width": width, "height": 844}).ready().page
    page.wait_for_selector("#question .arm")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(_CUT) == []


def test_dark_and_light_follow_the_reader(read: Callable[..., Reader]) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = read(color_scheme="light").ready().page.evaluate(colour)
    dark = read(color_scheme="dark").ready().page.evaluate(colour)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(18, 22, 27)")


def test_without_scripts_everything_but_single_questions_is_there(
    read: Callable[..., Reader], outcome: ragablate.Outcome
) -> None:
    page = read(java_script_enabled=False).page
    text = page.inner_text("body")
    assert "Searching single questions needs JavaScript" in text
    for conclusion in outcome.comparison.conclusions:
        assert conclusion.verdict in text


def test_an_old_browser_is_told_what_it_lacks(browser: Any, outcome: ragablate.Outcome) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto((outcome.folder / "report.html").as_uri())
    page.wait_for_selector("#trouble:not([hidden])")
    assert "this browser cannot unpack the questions" in page.inner_text("#trouble")
    page.close()


# ── size ────────────────────────────────────────────────────────────────────────────────


def _large(bundle: Bundle, count: int, arms: int) -> Bundle:
    """Many questions and arms, each question with seven passages of its own in two contexts."""
    random_ = random.Random(0)
    words = ["".join(random_.choices("aeinorstlu", k=random_.randint(2, 9))) for _ in range(4000)]
    names = list(bundle.arms)
    control = bundle.plan["arms"][0]
    rows = [*bundle.plan["arms"], *({**control, "name": f"arm{n}"} for n in range(arms))][:arms]
    first = bundle.questions["q1"]
    line = next(t for t in bundle.traces["control"] if t.qid == "q1")
    verdicts = [v for v in bundle.verdicts["control"] if v.qid == "q1"]
    questions = {f"n{i}": replace(first, qid=f"n{i}") for i in range(count)}
    contexts: dict[str, ContextLine] = {}
    for qid in questions:
        texts = [" ".join(random_.choices(words, k=110)) for _ in range(7)]
        shown = tuple(ContextPassage(f"{qid}p{k}", t, t, tokens=110) for k, t in enumerate(texts))
        contexts |= {f"{qid}-{n}": ContextLine(f"{qid}-{n}", shown[n:]) for n in range(2)}
    named = [row["name"] for row in rows]
    traces = {
        arm: tuple(
            replace(line, qid=qid, context_digest=f"{qid}-{n % 2}", prompt_digest="")
            for qid in questions
        )
        for n, arm in enumerate(named)
    }
    all_verdicts = {
        arm: tuple(replace(v, qid=qid) for qid in questions for v in verdicts) for arm in named
    }
    contrasts = [c for c in bundle.plan["contrasts"] if c["treatment"] in names[:arms]]
    plan = {**bundle.plan, "arms": rows, "analyses": [], "contrasts": contrasts}
    return Bundle(bundle.folder, plan, questions, contexts, traces, all_verdicts)


@pytest.mark.slow
def test_two_thousand_questions_in_eight_arms_open_and_filter_without_a_pause(
    browser: Any, outcome: ragablate.Outcome, tmp_path: Path
) -> None:
    large = _large(outcome.bundle, 2000, 8)
    page_text = render_html(large, outcome.comparison, outcome.bundle_id)
    assert len(page_text) < 25_000_000
    path = tmp_path / "large.html"
    path.write_text(page_text, encoding="utf-8")
    page = browser.new_page()
    reader = Reader(page, path.as_uri()).ready()
    assert page.evaluate("performance.now()") < 4000
    assert reader.status() == "2,000 of 2,000 questions"
    spent = page.evaluate(
        """() => {
          const form = document.querySelector("#filters");
          return ["bridge", "n1", "n19", ""].map((words) => {
            const start = performance.now();
            form.elements.namedItem("find").value = words;
            form.dispatchEvent(new Event("input", { bubbles: true }));
            document.body.offsetHeight;
            return performance.now() - start;
          });
        }"""
    )
    assert max(spent) < 300
    page.click("#list tr[data-place='40'] button")
    page.wait_for_selector("#question .arm", timeout=4000)
    assert page.locator("#question .arm").count() == 8
    assert reader.wrong == []
    page.close()

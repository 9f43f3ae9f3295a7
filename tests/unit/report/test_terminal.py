"""The screen: readable at any width, literal about any text, silent where asked."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from ragablate.bundle.read import Bundle
from ragablate.checked import Checked
from ragablate.config import composing
from ragablate.records import Comparison
from ragablate.report.terminal import Screen
from ragablate.session import Outcome, check

Study = tuple[Bundle, Comparison]
ID = "0123456789ab" + "c" * 52
WIDTHS = (40, 60, 80, 100, 120, 200)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def checked() -> Checked:
    with composing():
        return check(["experiment=[oracle_context,swap_retriever,placebo]", "limit=20"])


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def _outcome(study: Study, looks: int = 1) -> Outcome:
    bundle, comparison = study
    return Outcome(Path("outputs/toy/x"), bundle, comparison, ID, 1, looks)


def _printed(
    outcome: Outcome | None = None,
    checked: Checked | None = None,
    stream: io.StringIO | None = None,
    final: bool = False,
) -> str:
    stream = io.StringIO() if stream is None else stream
    screen = Screen(quiet=False, as_json=False, stream=stream)
    if checked is not None:
        screen.plan(checked, final)
    if outcome is not None:
        screen.outcome(outcome)
    return stream.getvalue()


def _flat(text: str) -> str:
    return " ".join(text.split())


# ── width ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_screen_or_ends_in_blanks(
    width: int, study: Study, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = _printed(_outcome(study), checked)
    lines = [line for line in text.splitlines() if not line.startswith("id ")]
    assert max(map(cell_len, lines)) <= min(width, 110)
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_effect_interval_and_state_are_shown_at_any_width(
    width: int, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = _printed(_outcome(study)).split("In one minute")[1]
    for text in ("+0.25", "+0.17 to +0.33", "▲ up", "swap_retriever"):
        assert text in shown
    assert ("retriever improves answers (claim: causal with limits)") in _flat(shown)


def test_wide_screens_show_p_counts_means_and_n(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    shown = _printed(_outcome(study)).split("In one minute")[1]
    row = next(line for line in shown.splitlines() if line.startswith("swap_retriever"))
    assert _flat(row) == (
        "swap_retriever 0.50 → 0.75 +0.25 +0.17 to +0.33 2.0e-05 45 / 5 / 110 160 ▲ up"
    )


def test_signals_stand_side_by_side_or_stacked(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    row = "control 0.88 0.74 0.98 (n 152) 0.05 0.50"
    assert row in map(_flat, _printed(_outcome(study)).splitlines())
    monkeypatch.setenv("COLUMNS", "40")
    stacked = _printed(_outcome(study)).splitlines()
    at = stacked.index("control")
    assert stacked[at + 1] == "  evidence retrieved (top 10) 0.88"
    assert stacked[at + 2] == "  evidence in context 0.74"


# ── content ─────────────────────────────────────────────────────────────────────────────


def test_the_plan_says_what_is_asked_changed_spent_and_decided(checked: Checked) -> None:
    plan = _flat(_printed(checked=checked))
    for text in (
        "quickstart, 20 questions (16 answerable, 4 unanswerable), 1,200 passages",
        "question → bm25 → none (top 10) → ranked → actual → extractive",
        "swap_retriever: With the same reader, would another retriever give better answers?",
        "retriever: bm25 → minilm_run (at most 20 reader calls)",
        "context._target_: intervene.actual.Actual → intervene.oracle.Oracle",
        "more leaves (ragablate check lists all)",
        "exact p (Holm over 2 contrasts) is at most 0.05",
        "at most 80 for 4 arms",
    ):
        assert text in plan


def test_every_leaf_is_listed_where_nothing_follows(checked: Checked) -> None:
    plan = _printed(checked=checked, final=True)
    arm = next(a for a in checked.plan.arms if a.name == "retriever=minilm_run")
    assert len(arm.changes) > 5
    for change in arm.changes:
        assert f"{change.key}: " in plan
    assert "more leaves" not in plan


def test_the_outcome_says_how_it_is_proved_and_where_it_lies(study: Study) -> None:
    text = _flat(_printed(_outcome(study)))
    for part in (
        "On 8 answerable questions, replacing bm25 by dense changed correct by +0.25.",
        "Limits: 1 error in retriever=dense.",
        "To settle it: about 300 answerable questions to decide correct.",
        "Look next at retrieval: depth.",
        "! swap_retriever: 8/8 prompt frames byte-identical",
        "! INV-7: 1 error in retriever=dense",
        "✓ placebo: 8/8 contexts byte-identical · 1 of 1 upstream measures unmoved",
        "outputs/toy/x",
        f"id {ID}",
        "4 answers: 1 read now, 2 stored before, 1 shared between arms",
    ):
        assert part in text
    assert "Exploratory" not in text


def test_of_answers_judged_again_none_is_called_read(study: Study) -> None:
    bundle, comparison = study
    again = replace(bundle, plan={**bundle.plan, "judged_again": [{"bundle": ID, "judges": {}}]})
    text = _flat(_printed(_outcome((again, comparison))))
    assert "4 answers, none read again; models that judge were asked now: 1 call" in text
    assert "read now" not in text


def test_unanswerable_questions_stand_apart(study: Study) -> None:
    text = _printed(_outcome(study))
    part = text.split("Stage signals on 40 unanswerable questions")[1].splitlines()
    assert part[1].split() == ["arm", "abstained", "correct"]


def test_looks_are_counted_from_the_second(study: Study) -> None:
    assert "different plans" not in _printed(_outcome(study))
    assert "3 different plans have scored this question set" in _flat(_printed(_outcome(study, 3)))


def test_measures_that_differ_are_named_with_each_effect(study: Study) -> None:
    bundle, comparison = study
    other = replace(comparison.effects[1], measure="token_f1")
    effects = (comparison.effects[0], other, *comparison.effects[2:])
    outcome = _outcome((bundle, replace(comparison, effects=effects)))
    shown = _flat(_printed(outcome).split("In one minute")[1])
    assert "nothing: control asked again · token_f1, answerable" in shown


# ── untrusted text ──────────────────────────────────────────────────────────────────────


def test_markup_is_printed_literally(make_study: Callable[..., Study]) -> None:
    hostile = make_study(
        level="[red]dense[/red]", sentence="see [link=http://e.vil]this[/link] :x:"
    )
    text = _flat(_printed(_outcome(hostile), stream=_Terminal()))
    assert "see [link=http://e.vil]this[/link] :x:" in text
    assert "[red]dense[/red]" in text


@settings(deadline=None, max_examples=40)
@given(
    st.text(
        alphabet=st.sampled_from(
            "[]/\\red:=@\x1b\x9b;2J\x07\x08\r\n\t\u202e\u2066\u2028\ud800é漢🙂 "
        ),
        max_size=30,
    )
)
def test_no_text_moves_the_cursor_or_turns_a_line(
    make_study: Callable[..., Study], text: str
) -> None:
    words = ("level", "question", "sentence", "qid", "slice", "proof", "note")
    shown = _printed(_outcome(make_study(**{word: f"{text}w" for word in words})))
    assert not set(shown) & set("\x1b\x9b\x07\x08\r\t\u202e\u2066\u2028\ud800")
    shown.encode("utf-8")


def test_a_stream_that_knows_only_ascii_gets_ascii(study: Study, checked: Checked) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    screen = Screen(quiet=False, as_json=False, stream=stream)
    screen.plan(checked)
    screen.outcome(_outcome(study))
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert "question -> bm25" in text
    assert "^ up" in text


# ── colour, silence, JSON ───────────────────────────────────────────────────────────────


def test_colour_is_for_terminals_only(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in _printed(_outcome(study), stream=_Terminal())
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in _printed(_outcome(study))


def test_no_color_is_heeded(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in _printed(_outcome(study), stream=_Terminal())


@pytest.mark.parametrize("as_json", [False, True])
def test_quiet_prints_nothing(study: Study, checked: Checked, as_json: bool) -> None:
    stream = _Terminal()
    screen = Screen(quiet=True, as_json=as_json, stream=stream)
    screen.plan(checked)
    with screen.progress() as progress:
        progress("read", 1, 2)
    screen.outcome(_outcome(study))
    assert stream.getvalue() == ""


def test_json_is_exactly_one_object(make_study: Callable[..., Study], checked: Checked) -> None:
    stream = _Terminal()
    screen = Screen(quiet=False, as_json=True, stream=stream)
    screen.plan(checked)
    with screen.progress() as progress:
        progress("read", 1, 2)
    screen.outcome(_outcome(make_study(level="\x1b[31m\u202e漢")))
    text = stream.getvalue()
    assert text.isascii()
    assert "\x1b" not in text
    content = json.loads(text)
    assert content["id"] == ID
    assert content["folder"] == str(Path("outputs/toy/x"))
    assert content["effects"][0]["effect"] == 0.25
    assert content["conclusions"][0]["contrast"] == "swap_retriever/\x1b[31m\u202e漢"
    assert {s["arm"] for s in content["signals"]} == {"control", "retriever=\x1b[31m\u202e漢"}


def test_a_plan_that_nothing_follows_is_one_object_too(checked: Checked) -> None:
    stream = io.StringIO()
    Screen(quiet=False, as_json=True, stream=stream).plan(checked, final=True)
    content = json.loads(stream.getvalue())
    assert content["dataset"] == {"name": "quickstart", "questions": 20, "answerable": 16}
    assert content["calls"]["placebo"] == 20
    assert content["choices"]["retriever"] == "bm25"


def test_progress_is_shown_on_terminals_only() -> None:
    for stream, shown in ((_Terminal(), True), (io.StringIO(), False)):
        with Screen(quiet=False, as_json=False, stream=stream).progress() as progress:
            progress("read", 1, 2)
        assert bool(stream.getvalue()) is shown


def test_a_plan_is_printed_without_loading_the_comparator() -> None:
    code = (
        "import sys; from ragablate.config import composing; from ragablate.session import check; "
        "from ragablate.report.terminal import Screen\n"
        "with composing(): Screen(False, False).plan(check(['limit=4']))\n"
        "print('ragablate.compare' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_design_of_several_arms_lists_them_by_role() -> None:
    with composing():
        several = check(["experiment=[localize,retriever_x_reader]", "limit=20"])
    plan = _printed(checked=several).splitlines()
    assert "  ladder B > A > D > S > O > N (at most 120 reader calls)" in plan
    assert "    O: context=oracle" in plan
    assert "    11: retriever=minilm_run,reader=extractive_wide" in plan
    leaves = _flat(_printed(checked=several, final=True))
    assert "11: retriever=minilm_run,reader=extractive_wide reader.sentences: 2 → 4" in leaves
    assert (
        "factorial of retriever: bm25 → minilm_run, reader: extractive → extractive_wide (at most "
        "80 reader calls)"
    ) in leaves

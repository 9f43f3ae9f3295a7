"""A gate that asks for a broader search: once, by the rewriter, and shown in the trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragablate import session
from ragablate.cli import main
from ragablate.config import composing
from ragablate.errors import DesignError
from ragablate.session import Outcome

CORPUS = [
    {"id": "fee", "text": "The harbour of Bergen charges boats a mooring fee of 40 euro a night."},
    {"id": "bus", "text": "A night bus runs from the airport to the city every hour in summer."},
    {"id": "zoo", "text": "The zoo keeps seals, otters and forty penguins on the north shore."},
]
TURNS = [
    {"speaker": "user", "text": "Tell me about mooring a boat in the harbour of Bergen."},
    {"speaker": "agent", "text": "Gladly."},
    {"speaker": "user", "text": "I arrive soon."},
    {"speaker": "agent", "text": "Good."},
]
QUESTIONS = [
    # Only the first turn names what it is about: the last two are not enough to search.
    {"id": "late", "question": "What is the fee?", "answers": ["40 euro"], "gold_ids": ["fee"],
     "history": TURNS},
    {"id": "near", "question": "How often does the night bus run from the airport in summer?",
     "answers": ["every hour"], "gold_ids": ["bus"]},
    # Found at once, by words that its conversation does not have.
    {"id": "talk", "question": "How many penguins does the zoo keep?", "answers": ["forty"],
     "gold_ids": ["zoo"], "history": TURNS},
    {"id": "none", "question": "Who won the regatta?", "answerable": False},
]  # fmt: skip
GATE = ("gate=floor", "gate.floor=1.5")
REWRITER = ("rewriter=last_turn_concat", "rewriter.turns=1")
SWAP = ("experiment=swap_gate", "~experiment.swap_gate.treatments.gap",
        "+experiment.swap_gate.treatments.broad=['gate.below=broaden']")  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conversation")
    for name, rows in (("corpus", CORPUS), ("questions", QUESTIONS)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def run(data: Path, out: Path, *overrides: str) -> Outcome:
    with composing():
        return session.run(["dataset=jsonl", f"dataset.path={data}", f"outputs={out}", *overrides])


@pytest.fixture(scope="module")
def broadened(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    out = tmp_path_factory.mktemp("broadened")
    return run(data, out, *GATE, *REWRITER, *SWAP)


def test_the_broader_search_finds_what_the_gate_would_have_refused(broadened: Outcome) -> None:
    control, broad = (
        {t.qid: t for t in broadened.bundle.traces[arm]} for arm in ("control", "gate=broad")
    )
    gate = control["late"].gate
    assert gate is not None
    assert gate.outcome == "refuse"
    found = broad["late"]
    assert found.gate is not None
    assert found.gate.outcome == "go"
    assert found.gate.signals["first_top"] == gate.signals["top"] < 1.5 <= found.gate.signals["top"]
    assert found.searches[: len(control["late"].searches)] == control["late"].searches
    assert len(found.searches) == 2
    assert TURNS[0]["text"] in found.searches[1]
    assert found.prompt_pids[0] == "fee"


def test_nothing_broader_is_a_refusal_that_says_so(broadened: Outcome) -> None:
    traces = {t.qid: t for t in broadened.bundle.traces["gate=broad"]}
    gate = traces["none"].gate
    assert gate is not None
    assert gate.outcome == "refuse"
    assert gate.reason.endswith("A broader search is not to be had.")
    assert len(traces["none"].searches) == 1
    assert traces["none"].prompt_pids == ()


def test_a_question_that_passes_is_searched_once(broadened: Outcome) -> None:
    traces = {arm: {t.qid: t for t in lines} for arm, lines in broadened.bundle.traces.items()}
    assert traces["gate=broad"]["near"].searches == traces["control"]["near"].searches
    assert len(traces["control"]["near"].searches) == 1


def test_its_bundle_holds_and_comes_again_byte_for_byte(
    broadened: Outcome, data: Path, tmp_path: Path
) -> None:
    assert main(["verify", str(broadened.folder)]) == 0
    again = run(data, tmp_path, *GATE, *REWRITER, *SWAP)
    for name in ("effects.json", "contexts.jsonl"):
        assert (again.folder / name).read_bytes() == (broadened.folder / name).read_bytes()


def test_an_intervention_starts_from_the_broadened_context(data: Path, tmp_path: Path) -> None:
    outcome = run(data, tmp_path, *GATE, *REWRITER, "gate.below=broaden", "experiment=necessity")
    (contrast,) = outcome.bundle.contrasts
    treated = {t.qid: t for t in outcome.bundle.traces[contrast.treatment]}
    control = {t.qid: t for t in outcome.bundle.traces["control"]}
    assert treated["late"].retrieved == control["late"].retrieved
    assert treated["late"].gate is None
    assert "fee" not in treated["late"].prompt_pids


@pytest.mark.parametrize(
    ("rewriter", "sentence"),
    [("none", "NoRewriter has none"), ("iterative", "Iterative has none")],
)
def test_a_rewriter_without_a_broader_search_is_refused_before_anything_runs(
    data: Path, tmp_path: Path, rewriter: str, sentence: str
) -> None:
    with pytest.raises(DesignError, match=sentence):
        run(
            data, tmp_path, *GATE, f"rewriter={rewriter}", "gate.below=broaden",
            "experiment=oracle_context",
        )  # fmt: skip


def test_gates_that_ask_for_different_questions_each_get_their_own_search(
    data: Path, tmp_path: Path
) -> None:
    """A stricter gate asks about more: nothing that a laxer one had searched stands for it."""
    levels = [
        f"+experiment.swap_gate.treatments.{name}="
        f"['gate=floor','gate.floor={floor}','gate.below=broaden']"
        for name, floor in (("lax", 1.5), ("strict", 100))
    ]
    outcome = run(data, tmp_path, *REWRITER, *SWAP[:2], *levels)
    alone = run(
        data, tmp_path / "alone", *REWRITER, "gate=floor", "gate.floor=100", "gate.below=broaden",
        "experiment=closed_book",
    )  # fmt: skip
    both = {t.qid: t.gate for t in outcome.bundle.traces["gate=strict"]}
    assert both == {t.qid: t.gate for t in alone.bundle.traces["control"]}
    near = next(t for t in outcome.bundle.traces["gate=strict"] if t.qid == "talk")
    assert len(near.searches) == 2


def test_a_rewriter_that_cannot_be_reached_for_it_leaves_the_question_unmeasured(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lost_line.py").write_text(
        "def rewrite(question, history, broaden):\n"
        "    if broaden:\n        raise ConnectionError('planted')\n    return question\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    outcome = run(
        data, tmp_path / "out", *GATE, "rewriter=function", "rewriter.function=lost_line:rewrite",
        "gate.below=broaden", "experiment=oracle_context",
    )  # fmt: skip
    (late,) = (t for t in outcome.bundle.traces["control"] if t.qid == "late")
    assert late.error is not None
    assert late.error.kind == "infrastructure"
    assert late.gate is None
    scores = [v for v in outcome.bundle.verdicts["control"] if v.qid == "late"]
    assert {v.value for v in scores if v.measure == "correct"} == {None}

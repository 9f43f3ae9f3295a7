"""A stage that asks a reader of its own, through the runner: store, budget, failures, sharing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate

import ragablate as api
from ragablate import protocols
from ragablate.adapters import Workshop, fingerprint
from ragablate.config import compose_plain
from ragablate.errors import BudgetError, DesignError
from ragablate.own_reader import OwnReader, own_readers

pytestmark = pytest.mark.usefixtures("hydra")

PROMPTS: list[str] = []
DOWN: set[str] = set()

TALKS = [
    ("c1", "Who opened it?", "Tell me of the Zorbat Bridge.", "Ada Lind", "p1"),
    ("c2", "How long is it?", "Tell me of the river Mirr.", "214 kilometres", "p2"),
    ("c3", "Who is its mayor?", "Tell me of the town Tollow.", "Jon Brandt", "p3"),
    ("c4", "Which currency does it have?", "Tell me of Ostland.", "krall", "p6"),
    ("c5", "What does it export?", "Tell me of the port Sund.", "timber", "p9"),
    ("c6", "When was it introduced?", "Tell me of the krall.", "1922", "p7"),
]


def rewrite(question: str, passages: list[str], prompt: str) -> str:
    PROMPTS.append(question)
    if question in DOWN:
        raise ConnectionError("planted")
    told = prompt.split("user: Tell me of ")[1].split("\n")[0]
    return f'Standalone question: "{question.replace("it", told)}"'


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    PROMPTS.clear()
    DOWN.clear()


@pytest.fixture
def talks(toy: Path) -> Path:
    rows = [
        {
            "id": qid,
            "question": text,
            "answers": [answer],
            "gold_ids": [gold],
            "history": [{"speaker": "user", "text": before}, {"speaker": "agent", "text": "Yes?"}],
        }
        for qid, text, before, answer, gold in TALKS
    ]
    (toy / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return toy


def line(talks: Path, outputs: Path, *more: str) -> list[str]:
    return [
        "dataset=jsonl",
        f"dataset.path={talks}",
        f"outputs={outputs}",
        "rewriter=standalone",
        "reader@rewriter.reader=function",
        f"rewriter.reader.function={__name__}:rewrite",
        "experiment=closed_book",
        *more,
    ]


def searches(outcome: Any) -> dict[str, tuple[str, ...]]:
    return {t.qid: tuple(t.searches) for t in outcome.bundle.traces["control"]}


def test_what_a_reader_writes_is_searched_and_asked_once(talks: Path, tmp_path: Path) -> None:
    outcome = api.run(*line(talks, tmp_path / "o"))
    assert searches(outcome)["c1"] == ("Who opened the Zorbat Bridge.?",)
    assert sorted(PROMPTS) == sorted(text for _, text, *_ in TALKS)
    PROMPTS.clear()
    again = api.run(*line(talks, tmp_path / "o"))
    assert (PROMPTS, again.calls, again.bundle_id) == ([], 0, outcome.bundle_id)
    # Another stage's fingerprint, the same questions to the same reader: still nothing to ask.
    kept = api.run(*line(talks, tmp_path / "o", "rewriter.keep_question=true"))
    assert PROMPTS == []
    assert searches(kept)["c1"] == ("Who opened it?", "Who opened the Zorbat Bridge.?")


def test_a_reader_that_cannot_be_reached_leaves_a_question_unmeasured_and_is_asked_again(
    talks: Path, tmp_path: Path
) -> None:
    DOWN.add("Who opened it?")
    outcome = api.run(*line(talks, tmp_path / "o"))
    failed = [t for t in outcome.bundle.traces["control"] if t.error is not None]
    assert [t.qid for t in failed] == ["c1"]
    assert failed[0].error is not None
    assert failed[0].error.kind == "infrastructure"
    assert "rewriter.reader" in failed[0].error.message
    values = {v.qid: v.value for v in outcome.bundle.verdicts["control"] if v.measure == "correct"}
    assert values["c1"] is None
    assert None not in (values["c2"], values["c3"])
    DOWN.clear()
    PROMPTS.clear()
    again = api.run(*line(talks, tmp_path / "o"))
    assert PROMPTS == ["Who opened it?"]
    assert all(t.error is None for t in again.bundle.traces["control"])


def test_its_calls_count_in_the_budget_and_finished_ones_are_kept(
    talks: Path, tmp_path: Path
) -> None:
    with pytest.raises(BudgetError, match=r"max_calls=4"):
        api.run(*line(talks, tmp_path / "o", "budget.max_calls=4"))
    assert len(PROMPTS) == 4
    with pytest.raises(BudgetError):
        api.run(*line(talks, tmp_path / "o", "budget.max_calls=3"))
    assert len(PROMPTS) == 6
    api.run(*line(talks, tmp_path / "o"))
    assert len(PROMPTS) == 6


def test_its_problems_are_told_under_its_place(talks: Path, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match=r"rewriter\.reader: reader\.function is 'no_such:f'"):
        api.check(*line(talks, tmp_path / "o", "rewriter.reader.function=no_such:f"))


def test_a_level_of_the_variable_may_choose_it_and_stays_one_change(
    talks: Path, tmp_path: Path
) -> None:
    chosen = ["rewriter=standalone", "reader@rewriter.reader=function"]
    level = [*chosen, f'rewriter.reader.function="{__name__}:rewrite"']
    given = [a for a in line(talks, tmp_path / "o") if "rewriter" not in a]
    outcome = api.run(
        *[a for a in given if not a.startswith("experiment")],
        "experiment=swap_rewriter",
        f"experiment.swap_rewriter.treatments=[{{full: {level}}}]",
    )
    assert outcome.bundle.proofs
    with pytest.raises(DesignError, match="outside its variable rewriter"):
        api.check(
            *[a for a in given if not a.startswith("experiment")],
            "experiment=swap_rewriter",
            "experiment.swap_rewriter.treatments="
            "[{full: ['rewriter=standalone','reader=function']}]",
        )


def test_it_counts_in_the_fingerprint_and_a_model_named_twice_is_built_once() -> None:
    composed = [
        "reader@rewriter.reader=extractive_wide", "reader=extractive_wide", "rewriter=standalone",
    ]  # fmt: skip
    config = compose_plain(composed).values
    workshop = Workshop()
    pipeline = workshop.pipeline(config)
    assert pipeline is not None
    (own,) = own_readers(pipeline.stages.values())
    assert isinstance(own, OwnReader)
    assert isinstance(own, protocols.Reader)
    assert own.reader is pipeline["reader"]
    node = config["rewriter"]
    assert pipeline.fingerprints["rewriter"] == fingerprint(node, instantiate(node))
    moved = {**node, "reader": {**node["reader"], "sentences": 7}}
    assert fingerprint(moved, instantiate(moved)) != pipeline.fingerprints["rewriter"]


def test_a_reader_within_an_adapter_within_a_stage_is_asked_through_the_store_too() -> None:
    composed = [
        "chunker=parent",
        "chunker@chunker.large=contextual_written",
        "reader@chunker.large.reader=function",
        f"chunker.large.reader.function={__name__}:rewrite",
    ]
    config = compose_plain(composed).values
    workshop = Workshop()
    pipeline = workshop.pipeline(config)
    assert pipeline is not None, workshop.problems
    (own,) = own_readers([pipeline["chunker"]])
    assert pipeline["chunker"].large.reader is own
    node = config["chunker"]
    assert pipeline.fingerprints["chunker"] == fingerprint(node, instantiate(node))
    wrong = [*composed[:-1], "chunker.large.reader.function=no_such:f"]
    workshop.pipeline(compose_plain(wrong).values)
    assert workshop.problems[0].startswith("chunker.large.reader: reader.function is 'no_such:f'")

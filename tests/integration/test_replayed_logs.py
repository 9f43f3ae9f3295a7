"""A log becomes a data set, and what it holds is read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragablate import session
from ragablate.cli import main
from ragablate.errors import DesignError

pytestmark = pytest.mark.usefixtures("hydra")


@pytest.fixture
def bundle(toy: Path, tmp_path: Path) -> Any:
    return session.run(
        ["dataset=jsonl", f"dataset.path={toy}", f"outputs={tmp_path / 'first'}",
         "experiment=closed_book"]
    ).bundle  # fmt: skip


def again(bundle: Any, tmp_path: Path, *overrides: str) -> Any:
    (log,) = (tmp_path / "first").glob("*/[0-9]*/arms/control/traces.jsonl")
    return session.run(
        ["dataset=traces", f"dataset.path={log}", f"outputs={tmp_path / 'second'}",
         "experiment=swap_reader", *overrides]
    ).bundle  # fmt: skip


def test_a_log_of_ours_is_read_again_byte_for_byte(bundle: Any, tmp_path: Path) -> None:
    replayed = again(bundle, tmp_path)
    for arm in replayed.traces:
        assert [t.context_digest for t in replayed.traces[arm]] == [
            t.context_digest for t in bundle.traces["control"]
        ]
    before, after = (b.study().scores["control"] for b in (bundle, replayed))
    assert before == after, "gold, references and verdicts survive too"


def test_control_decoded_anew_passes_and_the_logged_answers_do_not(
    bundle: Any, tmp_path: Path
) -> None:
    def chosen(replayed: Any) -> str:
        return next(
            p.status for p in replayed.proofs["swap_reader/extractive_wide"]
            if p.invariant == "INV-22"
        )  # fmt: skip

    assert chosen(again(bundle, tmp_path)) == "pass"
    assert chosen(again(bundle, tmp_path, "reader=logged")) == "fail"


def test_a_replay_prints_what_became_of_the_incidents(
    bundle: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (log,) = (tmp_path / "first").glob("*/[0-9]*/arms/control/traces.jsonl")
    outputs = f"outputs={tmp_path / 'second'}"
    assert main(["run", "dataset=traces", f"dataset.path={log}", outputs,
                 "experiment=swap_reader"]) == 0  # fmt: skip
    said = capsys.readouterr().out
    title, _, rest = said.partition("The log's questions, control to ")[2].partition("\n")
    assert title.startswith("reader=")
    assert "Failure rate" in rest
    assert "before \\ after" in rest


def test_stored_rankings_go_through_another_assembler(
    bundle: Any, toy: Path, tmp_path: Path
) -> None:
    corpus = f"dataset.corpus={toy / 'corpus.jsonl'}"
    knobs = ["assembler=ranked", "assembler.max_passages=1", corpus]
    replayed = again(bundle, tmp_path, *knobs)
    was = {t.qid: [r.pid for r in t.retrieved] for t in bundle.traces["control"]}
    for line in replayed.traces["control"]:
        assert [r.pid for r in line.retrieved] == was[line.qid]
        assert line.error is None
        assert list(line.prompt_pids) == was[line.qid][:1], "what fits of the logged ranking"


def test_a_foreign_log_keeps_its_contexts(tmp_path: Path) -> None:
    rows = [
        {"user_input": f"What is the {name}?", "response": "A river.", "reference": "river",
         "retrieved_contexts": [f"The {name} is a river of Ostland.", "Timber is exported."]}
        for name in ("Mirr", "Vell", "Zorb", "Tarn")
    ]  # fmt: skip
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    replayed = session.run(
        ["dataset=traces", f"dataset.path={path}", f"outputs={tmp_path / 'out'}",
         "dataset.gold_from_references=true", "experiment=swap_reader"]
    ).bundle  # fmt: skip
    shown = [c.passages for c in replayed.contexts.values()]
    assert sorted(tuple(p.text for p in passages) for passages in shown) == sorted(
        tuple(r["retrieved_contexts"]) for r in rows
    )


def test_a_log_without_gold_or_without_a_path_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"user_input": "a?", "retrieved_contexts": ["b"], "response": "b"}\n')
    with pytest.raises(DesignError, match="gold_from_references=true"):
        session.check(["dataset=traces", f"dataset.path={path}"])
    with pytest.raises(DesignError, match="path has no value: give it"):
        session.check(["dataset=traces"])

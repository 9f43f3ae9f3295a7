"""What an arm showed its reader, frozen to a file and shown again without retriever or corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragablate import session
from ragablate.bundle.read import load
from ragablate.cli import main
from ragablate.config import composing
from ragablate.errors import BundleError, DesignError
from ragablate.session import Outcome
from ragablate.versus.freeze import freeze


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("freezing")
    with composing():
        asked = ["experiment=[oracle_context,closed_book]", "limit=50", f"outputs={root}"]
        return session.run(asked).folder


def thawed(file: Path, *overrides: str) -> Outcome:
    with composing():
        return session.run(
            [
                "dataset=traces",
                f"dataset.path={file}",
                f"outputs={file.parent / 'outputs'}",
                "experiment=swap_reader",
                *overrides,
            ]
        )


@pytest.mark.parametrize("arm", ["", "oracle_context", "context=oracle", "closed_book"])
def test_the_same_bytes_are_shown_and_the_same_answers_come_back(
    bundle: Path, tmp_path: Path, arm: str
) -> None:
    assert freeze(bundle, arm, tmp_path / "frozen.jsonl") == 50
    again = thawed(tmp_path / "frozen.jsonl").bundle.traces["control"]

    names = {
        "": "control",
        "oracle_context": "context=oracle",
        "closed_book": "context=closed_book",
    }
    before = {t.qid: t for t in load(bundle).traces[names.get(arm, arm)]}
    for line in again:
        assert line.context_digest == before[line.qid].context_digest
        assert line.prompt_digest == before[line.qid].prompt_digest
        assert line.answer == before[line.qid].answer


def test_evidence_is_what_it_was(bundle: Path, tmp_path: Path) -> None:
    freeze(bundle, "", tmp_path / "frozen.jsonl")
    scores = thawed(tmp_path / "frozen.jsonl").bundle.study().scores["control"]
    before = load(bundle).study().scores["control"]
    for measure in ("evidence_in_context", "correct", "faithfulness"):
        assert scores[measure] == before[measure]


def test_a_context_that_was_changed_is_refused(bundle: Path, tmp_path: Path) -> None:
    file = tmp_path / "frozen.jsonl"
    freeze(bundle, "oracle_context", file)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows[3]["context"][0]["text"] += " And more."
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(DesignError, match=r"line 4: the context of .* was changed"):
        thawed(file)


def test_what_cannot_be_frozen_is_refused(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="names no arm"):
        freeze(bundle, "nowhere", tmp_path / "frozen.jsonl")
    (tmp_path / "there.jsonl").write_text("")
    with pytest.raises(BundleError, match="exists"):
        freeze(bundle, "", tmp_path / "there.jsonl")


def test_the_command_says_how_to_read_it_again(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "frozen.jsonl"
    assert main(["freeze", str(bundle), "--arm", "oracle_context", "--out", str(file)]) == 0
    said = capsys.readouterr().out
    assert "50 contexts" in said
    assert f"dataset.path={file} experiment=swap_reader" in said

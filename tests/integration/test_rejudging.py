"""A bundle's answers judged again: nothing is searched or read, and what comes of it holds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests_support import write_dataset

import ragablate
from ragablate.cli import main
from ragablate.records import Verdict
from ragablate.rejudging import ask

PLAN = ("experiment=[oracle_context,closed_book]", "judge=[correct,evidence,abstention]")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> ragablate.Outcome:
    folder = tmp_path_factory.mktemp("first")
    data = write_dataset(folder / "toy")
    return ragablate.run(
        "dataset=jsonl", f"dataset.path={data}", f"outputs={folder / 'outputs'}", *PLAN
    )


def again(bundle: Path, out: Path, *overrides: str) -> ragablate.Bundle:
    assert main(["judge", str(bundle), *overrides, f"outputs={out}", "quiet=true"]) == 0
    (folder,) = out.glob("*/2*")
    return ragablate.load(folder)


def scored(bundle: ragablate.Bundle, measure: str) -> list[Verdict]:
    return [v for vs in bundle.verdicts.values() for v in vs if v.measure == measure]


def test_the_same_judges_say_the_same_and_the_proofs_stay(
    first: ragablate.Outcome, tmp_path: Path
) -> None:
    found = again(first.folder, tmp_path)
    assert found.verdicts == first.bundle.verdicts
    assert found.traces == first.bundle.traces
    assert found.proofs == first.bundle.proofs
    assert found.plan["judges"] == first.bundle.plan["judges"]
    assert ragablate.verify(found.folder).wrong == ""
    for name in ("questions.jsonl", "contexts.jsonl", "prompts.jsonl"):
        assert (found.folder / name).read_bytes() == (first.folder / name).read_bytes()


def test_another_judge_is_pinned_and_its_verdicts_stand_in_a_bundle_that_holds(
    first: ragablate.Outcome, tmp_path: Path
) -> None:
    found = again(
        first.folder, tmp_path, "judge=[correct,answer_match]", "judge.correct.exact=[stone]"
    )
    assert found.plan["judges"]["correct"] != first.bundle.plan["judges"]["correct"]
    assert found.plan["config"]["judge"]["correct"]["exact"] == ["stone"]
    assert [(v.qid, v.measure) for v in scored(found, "correct")] == [
        (v.qid, v.measure) for v in scored(first.bundle, "correct")
    ]
    assert scored(found, "contains")
    assert not scored(found, "evidence_in_context")
    (before,) = found.plan["judged_again"]
    assert before == {"bundle": first.bundle_id, "judges": first.bundle.plan["judges"]}
    effects = json.loads((found.folder / "effects.json").read_text())
    assert any(f"those of bundle {first.bundle_id[:12]}" in note for note in effects["notes"])
    assert {c["label"] for c in effects["conclusions"]} == {"exploratory"}
    oracle = next(c for c in effects["conclusions"] if c["contrast"] == "oracle_context/oracle")
    assert oracle["verdict"] == "exploratory"
    assert "chosen after results were seen" in oracle["sentences"][0]
    assert "whose results nobody has seen" in oracle["settle"]
    texts = {p.invariant: p.text for p in found.proofs["oracle_context/oracle"]}
    for proof in first.bundle.proofs["oracle_context/oracle"]:
        if proof.invariant not in ("INV-8", "INV-17"):
            assert texts[proof.invariant] == proof.text
    assert ragablate.verify(found.folder).wrong == ""


def test_nothing_is_searched_or_read(
    first: ragablate.Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragablate.adapters import Workshop

    built: list[str] = []
    real = Workshop.adapter

    def watched(self: Workshop, where: str, node: object, protocol: type) -> object:
        built.append(where)
        return real(self, where, node, protocol)

    monkeypatch.setattr(Workshop, "adapter", watched)
    monkeypatch.delitem(sys.modules, "ragablate.retrieve.bm25", raising=False)
    again(first.folder, tmp_path)
    assert built == ["judge.correct", "judge.evidence", "judge.abstention"]
    assert "ragablate.retrieve.bm25" not in sys.modules


def test_a_redacted_bundle_refuses_in_a_sentence(
    first: ragablate.Outcome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "redacted.zip"
    assert main(["pack", str(first.folder), "--redact", "--out", str(out)]) == 0
    assert main(["judge", str(out), f"outputs={tmp_path / 'o'}"]) == 2
    said = capsys.readouterr().err
    assert "is redacted" in said
    assert "Traceback" not in said
    assert not (tmp_path / "o").exists()


def test_a_packed_bundle_can_be_judged(first: ragablate.Outcome, tmp_path: Path) -> None:
    out = tmp_path / "one.zip"
    assert main(["pack", str(first.folder), "--out", str(out)]) == 0
    found = again(out, tmp_path / "o")
    assert found.verdicts == first.bundle.verdicts


def test_everything_that_is_wrong_is_said_at_once(first: ragablate.Outcome) -> None:
    from ragablate.config import composing

    with composing(), pytest.raises(ragablate.errors.DesignError) as caught:
        ask(first.folder, ["judge=[answer_match]", "budget.max_calls=0"])
    said = "\n".join(caught.value.problems)
    assert "budget.max_calls" in said
    assert "'oracle_context/oracle' was declared on correct" in said
    with composing(), pytest.raises(ragablate.errors.DesignError, match="answers of a bundle stay"):
        ask(first.folder, ["retriever=dense"])


def test_an_older_bundle_without_the_reader_s_own_word_takes_the_judge_s(
    first: ragablate.Outcome,
) -> None:
    from dataclasses import replace

    from ragablate.traces import trace_of

    line = next(iter(first.bundle.traces["control"]))
    for abstained, declined, expected in [
        (True, None, True), (None, None, False), (True, False, False), (False, True, True),
    ]:  # fmt: skip
        old = replace(line, abstained=abstained, declined=declined, answer="x")
        answer = trace_of(old, first.bundle.contexts).answer
        assert answer is not None
        assert answer.abstained is expected

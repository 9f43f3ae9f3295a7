from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ragablate.cli import main
from ragablate.diagnose import BUCKETS
from ragablate.elsewhere.buckets import UNSEPARATED
from ragablate.elsewhere.sorting import ADVICE, UNJUDGED, diagnose
from ragablate.logs import read_log

PHRASES = ("i do not know",)


def row(qid, retrieved, shown, answer, gold=("g",), **more):
    """One line of a production log."""
    line = {
        "qid": qid,
        "question": f"What of {qid}?",
        "retrieved": [{"pid": pid, "text": f"Text of {pid}."} for pid in retrieved],
        "answer": answer,
        "model": "m",
        "prompt_version": "1",
        "timestamp": "2026-01-01T00:00:00Z",
        "gold_pids": list(gold),
        **more,
    }
    return line if shown is None else {**line, "prompt_pids": list(shown)}


def write(tmp_path: Path, *rows: dict[str, object], name: str = "log.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def sorted_(path: Path):
    return diagnose(read_log(str(path)), PHRASES)


EX_21 = (
    row("q1", ["a", "b"], ["a", "b"], "Something.", verdicts={"correct": 0}),
    row("q2", ["a", "g"], ["a"], "Something.", verdicts={"correct": 0}),
    row("q3", ["a", "g"], ["a", "g"], "I do not know.", verdicts={"correct": 0}),
    row("q4", ["a", "g"], ["a", "g"], "Text of g.", verdicts={"correct": 0}),
)


def test_ex_21_four_logs_come_to_four_places(tmp_path: Path) -> None:
    found = sorted_(write(tmp_path, *EX_21))
    assert found.buckets == {
        "q1": "retrieval",
        "q2": "assembly",
        "q3": "generation: refusal",
        "q4": "source-or-label",
    }
    assert [len(one.qids) for one in found.failures] == [1, 1, 1, 1]


def test_ex_21_without_prompt_ids_assembly_is_not_told_from_retrieval(tmp_path: Path) -> None:
    found = sorted_(write(tmp_path, row("q1", ["a"], None, "No.", verdicts={"correct": 0})))
    assert found.buckets == {"q1": UNSEPARATED}
    assert any("cannot separate assembly from retrieval" in note for note in found.notes)


def test_with_verdicts_only_failures_are_sorted(tmp_path: Path) -> None:
    right = [row(f"r{i}", ["a"], ["a"], "Yes.", verdicts={"correct": 1}) for i in range(3)]
    found = sorted_(write(tmp_path, *EX_21, *right))
    assert (found.questions, found.ok, found.judged) == (7, 3, True)


def test_without_verdicts_the_last_bucket_accuses_nobody(tmp_path: Path) -> None:
    rows = [{k: v for k, v in r.items() if k != "verdicts"} for r in EX_21]
    found = sorted_(write(tmp_path, *rows))
    assert found.buckets["q4"] == UNJUDGED
    (last,) = (one for one in found.failures if one.bucket == UNJUDGED)
    assert (last.severity, last.experiment) == ("", "")
    assert any("accuses nobody" in note for note in found.notes)


def test_counts_come_largest_first_and_few_name_no_dominant_one(tmp_path: Path) -> None:
    lost = [row(f"l{i}", ["a"], ["a"], "No.", verdicts={"correct": 0}) for i in range(5)]
    found = sorted_(write(tmp_path, *EX_21, *lost))
    assert found.failures[0].bucket == "retrieval"
    assert len(found.failures[0].qids) == 6
    assert any("fewer than 50" in note for note in found.notes)


def test_an_unanswerable_question_is_rightly_refused_or_made_up(tmp_path: Path) -> None:
    refused = row("u1", ["a"], ["a"], "I do not know.", (), answerable=False)
    made_up = row("u2", ["a"], ["a"], "Surely.", (), answerable=False, verdicts={"correct": 0})
    gap = row("e1", ["a"], ["a"], "Hm.", (), verdicts={"correct": 0})
    found = sorted_(write(tmp_path, refused, made_up, gap))
    assert found.buckets == {"u1": "ok", "u2": "fabrication", "e1": "eval gap"}
    severities = {one.bucket: one.severity for one in found.failures}
    assert severities == {"fabrication": "critical", "eval gap": ""}


def test_every_bucket_of_the_traversal_has_its_advice() -> None:
    assert set(BUCKETS) - {"ok"} <= set(ADVICE)


CAUSAL = re.compile(r"\b(cause[sd]?|because|due to|owing to|responsible|led to|root cause)\b", re.I)


def test_no_word_of_the_output_says_what_brought_a_failure_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(write(tmp_path, *EX_21))]) == 0
    said = capsys.readouterr().out
    assert CAUSAL.findall(said) == []
    assert "suspected, not proven" in said
    assert "ragablate run 'experiment=[localize,swap_assembler]'" in " ".join(said.split())


def test_before_and_after_a_change_that_renames_the_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ok = [row(f"k{i:03d}", ["g"], ["g"], "Yes.", verdicts={"correct": 1}) for i in range(60)]
    lost = [row(f"m{i:02d}", ["a"], ["a"], "No.", verdicts={"correct": 0}) for i in range(10)]
    cut = [row(f"m{i:02d}", ["g", "a"], ["a"], "No.", verdicts={"correct": 0}) for i in range(10)]
    before = write(tmp_path, *ok, *lost, name="before.jsonl")
    after = write(tmp_path, *ok, *cut, name="after.jsonl")
    assert main(["diagnose", str(before), "--after", str(after)]) == 0
    assert "renamed the problem" in capsys.readouterr().out
    assert main(["diagnose", str(before), "--after", str(after), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["moves"]["verdict"] == "renamed the problem"
    assert ["retrieval", "assembly", 10] in said["moves"]["counts"]


def test_a_csv_has_a_row_a_failed_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(write(tmp_path, *EX_21)), "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert any(line.startswith("q2,assembly,critical,") for line in lines)


def test_a_broken_line_is_named_with_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, *EX_21)
    path.write_text(path.read_text() + "{broken\n")
    assert main(["diagnose", str(path)]) == 2
    assert "line 5" in capsys.readouterr().err
    assert main(["diagnose", str(tmp_path / "nowhere.jsonl")]) == 2


def test_broken_lines_are_left_out_on_request_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, *EX_21)
    path.write_text("{broken\n" + path.read_text() + "[1, 2]\n")
    assert main(["diagnose", str(path), "--keep-going"]) == 0
    said = capsys.readouterr().out
    assert "4 questions: 0 OK, 4 failed." in said
    assert "2 broken lines were left out" in said
    assert "line 1" in said

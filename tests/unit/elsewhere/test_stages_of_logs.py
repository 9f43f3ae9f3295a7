"""Evidence against faithfulness, stage signals, and shapes of logs of an insurer's assistant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragablate.cli import main

REFUSAL = "I do not know."
GOLD, OLD = "policy-2026:4", "policy-2019:4"
SAID = "The deductible is 500 dollars [1]."


def asked(qid: str, *, ranked: bool = True, shown: bool | None = None, answer: str = SAID,
          **more: Any) -> dict[str, Any]:  # fmt: skip
    """One request: whether the gold came back, whether it was shown, and what was said."""
    shown = ranked if shown is None else shown
    return {
        "qid": qid,
        "question": f"What is the deductible of contract {qid}?",
        "retrieved": [{"pid": OLD}, *([{"pid": GOLD}] if ranked else [])],
        "prompt_pids": [OLD, GOLD] if shown else [OLD],
        "answer": answer,
        "gold_pids": [GOLD],
        **more,
    }


def verdicts(correct: float, faithfulness: float) -> dict[str, Any]:
    return {"verdicts": {"correct": correct, "faithfulness": faithfulness}}


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def stages(tmp_path: Path, capsys: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    assert main(["diagnose", written(tmp_path / "log.jsonl", rows), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["stages"]


def cells(found: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(c["evidence"], c["answer"]): c for c in found["grid"]["cells"]}


def test_four_cells_and_whose_they_are(tmp_path: Path, capsys: Any) -> None:
    rows = [
        asked("missed", ranked=False, **verdicts(0, 0.0)),
        asked("declined", ranked=False, answer=REFUSAL, **verdicts(0, 1.0)),
        asked("supported", ranked=False, **verdicts(0, 1.0)),
        asked("invented", **verdicts(0, 0.5)),
        asked("refused", answer=REFUSAL, **verdicts(0, 1.0)),
        asked("stale", **verdicts(0, 0.9)),
        asked("right", **verdicts(1, 1.0)),
    ]
    found = cells(stages(tmp_path, capsys, rows))
    assert {key: cell["qids"] for key, cell in found.items()} == {
        ("evidence absent", "not grounded"): ["missed"],
        ("evidence absent", "faithful"): ["declined", "supported"],
        ("evidence present", "not grounded"): ["invented", "refused"],
        ("evidence present", "faithful"): ["stale"],
    }
    assert "reader's success" in found["evidence absent", "faithful"]["reading"]
    assert "never counted against the reader" in found["evidence absent", "faithful"]["look"]
    assert "reader's failure" in found["evidence present", "not grounded"]["reading"]
    assert found["evidence present", "faithful"]["answers"] == 2
    assert found["evidence present", "faithful"]["failed"] == 1


def test_every_gold_chunk_was_there_and_a_deductible_was_invented(
    tmp_path: Path, capsys: Any
) -> None:
    row = asked("q", **verdicts(0, 0.0))
    row["claims"] = [{"text": "500 dollars", "status": "unsupported"}]
    path = written(tmp_path / "log.jsonl", [row])
    found = stages(tmp_path, capsys, [row])
    assert cells(found)["evidence present", "not grounded"]["qids"] == ["q"]
    assert found["grid"]["distractors"] == {"traced": {}, "untraced": ["q"], "unknown": 0}
    assert main(["diagnose", path]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "trace to no passage: the reader" in said
    assert "evidence present, not grounded: the reader's failure" in said


def test_part_of_the_evidence_is_not_the_evidence(tmp_path: Path, capsys: Any) -> None:
    row = asked("q", **verdicts(0, 0.0)) | {"gold_pids": [GOLD, "annex:1"]}
    assert cells(stages(tmp_path, capsys, [row]))["evidence absent", "not grounded"]["answers"] == 1


def test_what_nobody_judged_is_in_no_cell(tmp_path: Path, capsys: Any) -> None:
    rows = [asked("a", verdicts={"correct": 0}), asked("b", ranked=False, **verdicts(0, 0.1))]
    rows[1].pop("prompt_pids")
    grid = stages(tmp_path, capsys, rows)["grid"]
    assert grid["unmeasured"] == 2
    assert sum(cell["answers"] for cell in grid["cells"]) == 0


def test_a_wrong_answer_that_traces_to_an_older_version_is_told_apart(
    tmp_path: Path, capsys: Any
) -> None:
    older = asked("older", **verdicts(0, 1.0))
    older["claims"] = [{"claim": "The deductible is 500 dollars", "supported": True, "pid": OLD}]
    nothing = asked("nothing", **verdicts(0, 0.0), claims=[{"claim": "500", "supported": False}])
    silent = asked("silent", **verdicts(0, 0.0))
    right = asked("right", **verdicts(1, 1.0), claims=older["claims"])
    rows = [older, nothing, silent, right]
    assert stages(tmp_path, capsys, rows)["grid"]["distractors"] == {
        "traced": {"older": OLD}, "untraced": ["nothing"], "unknown": 1,
    }  # fmt: skip
    assert main(["diagnose", str(tmp_path / "log.jsonl")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"trace to another passage (older: {OLD})" in said
    assert "usually mended upstream, by reranking, tighter filters" in said


def test_stage_signals_stand_side_by_side_with_what_is_unmeasured(
    tmp_path: Path, capsys: Any
) -> None:
    rows = [
        asked("a", **verdicts(1, 1.0)),
        asked("b", shown=False, **verdicts(0, 0.0)),
        asked("c", answer=REFUSAL, **verdicts(0, 1.0)),
        asked("d", verdicts={"correct": 1}),
    ]
    found = {s["name"]: s for s in stages(tmp_path, capsys, rows)["signals"]}
    assert found["evidence in the ranking"]["mean"] == 1.0
    assert found["evidence in the prompt"]["mean"] == 0.75
    faithful = found["faithful, evidence in the prompt"]
    assert (faithful["mean"], faithful["n"], faithful["unmeasured"]) == (0.5, 2, 2)
    assert found["declined"]["mean"] == 0.25


def patterns(tmp_path: Path, capsys: Any, rows: list[dict[str, Any]]) -> str:
    return " ".join(stages(tmp_path, capsys, rows)["patterns"])


def test_high_recall_and_low_faithfulness_is_the_reader(tmp_path: Path, capsys: Any) -> None:
    drifting = [asked(f"q{n}", **verdicts(n % 2, float(n % 2))) for n in range(100)]
    said = patterns(tmp_path, capsys, drifting)
    assert "High recall, low faithfulness" in said
    assert "re-chunking changes the half that works and is wasted here" in said
    keeping = [asked(f"q{n}", **verdicts(1, 1.0)) for n in range(100)]
    assert patterns(tmp_path, capsys, keeping) == ""


def test_low_recall_on_the_german_pages_alone(tmp_path: Path, capsys: Any) -> None:
    rows = [
        asked(f"q{n}", ranked=n % 4 > 0 or n % 3 > 0, **verdicts(1, 1.0),
              slices={"language": "de" if n % 3 == 0 else "en"})
        for n in range(300)
    ]  # fmt: skip
    for row in rows:
        if row["slices"]["language"] == "de" and int(row["qid"][1:]) % 2:
            row |= asked(row["qid"], ranked=False)
    said = patterns(tmp_path, capsys, rows)
    assert "Low recall on language=de alone" in said
    assert "vocabulary and parsing there; change nothing for all" in said
    everywhere = [asked(r["qid"], ranked=False, slices=r["slices"], **verdicts(0, 1)) for r in rows]
    assert "alone" not in patterns(tmp_path, capsys, everywhere)


def test_few_examples_name_no_dominant_stage(tmp_path: Path, capsys: Any) -> None:
    said = patterns(tmp_path, capsys, [asked(f"q{n}", **verdicts(0, 0.0)) for n in range(49)])
    assert "fewer than 50" in said
    assert "no dominant stage is named" in said


def test_failures_over_several_stages_have_no_single_knob(tmp_path: Path, capsys: Any) -> None:
    wrong = {"verdicts": {"correct": 0}}
    rows = [asked(f"a{n}", ranked=False, **wrong) for n in range(20)]
    rows += [asked(f"b{n}", shown=False, **wrong) for n in range(20)]
    rows += [asked(f"c{n}", answer=REFUSAL, **wrong) for n in range(20)]
    assert main(["diagnose", written(tmp_path / "log.jsonl", rows)]) == 0
    assert "no single knob ends them" in " ".join(capsys.readouterr().out.split())


def ex_20() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """120 questions; evidence 100 to 80 (21 lost, 1 gained); of 79 kept, 1 better and 2 worse."""
    before, after = [], []
    for n in range(120):
        had, has = n < 100, 21 <= n <= 100
        kept, keeps = float(n != 30), float(n not in (31, 32))
        more = {"slices": {"kind": "claims" if n % 2 else "cover"}}
        before.append(asked(f"q{n:03d}", ranked=had, **verdicts(had and kept, kept), **more))
        after.append(asked(f"q{n:03d}", ranked=has, **verdicts(has and keeps, keeps), **more))
    return before, after


def shapes(tmp_path: Path, capsys: Any, margin: str, before: Any, after: Any) -> dict[str, Any]:
    paths = [written(tmp_path / f"{n}.jsonl", rows) for n, rows in (("b", before), ("a", after))]
    assert main(["diagnose", paths[0], "--after", paths[1], "--json", "--margin", margin]) == 0
    return json.loads(capsys.readouterr().out)["shapes"]


def test_ex_20_evidence_fell_and_faithfulness_did_not(tmp_path: Path, capsys: Any) -> None:
    found = shapes(tmp_path, capsys, "0.10", *ex_20())
    assert (found["overall"]["evidence"], found["overall"]["faithfulness"]) == ("down", "flat")
    assert found["overall"]["name"] == "retrieval regressed"
    assert set(found["slices"]) == {"kind=claims", "kind=cover"}
    assert {one["evidence"] for one in found["slices"].values()} == {"down"}
    tight = shapes(tmp_path, capsys, "0.05", *ex_20())["overall"]
    assert tight["text"].startswith("Evidence fell; faithfulness is not decided")
    assert "about 131 kept present questions" in tight["settle"]


def test_gold_that_is_ranked_and_no_longer_shown_is_assembly(tmp_path: Path, capsys: Any) -> None:
    before = [asked(f"q{n}", **verdicts(1, 1.0)) for n in range(120)]
    after = [asked(f"q{n}", shown=n > 30, **verdicts(n > 30, 1.0)) for n in range(120)]
    found = shapes(tmp_path, capsys, "0.10", before, after)["overall"]
    assert found["name"] == "assembly regressed"


def test_a_reader_that_begins_to_refuse_regresses(tmp_path: Path, capsys: Any) -> None:
    before = [asked(f"q{n}", **verdicts(1, 1.0)) for n in range(120)]
    after = [asked(f"q{n}", answer=REFUSAL if n < 30 else SAID, **verdicts(n >= 30, 1.0))
             for n in range(120)]  # fmt: skip
    found = shapes(tmp_path, capsys, "0.10", before, after)["overall"]
    assert (found["evidence"], found["faithfulness"]) == ("flat", "down")
    assert found["name"] == "reader regressed"


def test_both_down_is_something_shared(tmp_path: Path, capsys: Any) -> None:
    before = [asked(f"q{n}", **verdicts(1, 1.0)) for n in range(120)]
    after = [asked(f"q{n}", ranked=n >= 40, **verdicts(n >= 80, float(n >= 80)))
             for n in range(120)]  # fmt: skip
    assert shapes(tmp_path, capsys, "0.10", before, after)["overall"]["name"] == (
        "something shared moved"
    )


def test_the_shape_is_printed_as_a_description(tmp_path: Path, capsys: Any) -> None:
    before, after = (written(tmp_path / f"{n}.jsonl", rows)
                     for n, rows in zip("ba", ex_20(), strict=True))  # fmt: skip
    assert main(["diagnose", before, "--after", after, "--margin", "0.1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "The shape of the change" in said
    assert "Two logs side by side are a description" in said
    assert "kind=claims" in said


def test_without_verdicts_a_way_that_ends_well_counts_as_ok_in_moves(
    tmp_path: Path, capsys: Any
) -> None:
    before = [asked(f"q{n}", ranked=n % 2 == 0) for n in range(60)]
    after = [asked(f"q{n}") for n in range(60)]
    paths = [written(tmp_path / f"{n}.jsonl", rows) for n, rows in (("b", before), ("a", after))]
    assert main(["diagnose", *paths[:1], "--after", paths[1], "--json"]) == 0
    moved = json.loads(capsys.readouterr().out)["moves"]
    assert moved["verdict"] == "failures reduced"
    assert ["retrieval", "ok", 30] in moved["counts"]


@pytest.mark.parametrize("margin", ["0.05", "0.10"])
def test_two_equal_logs_have_no_shape_worth_a_name(
    tmp_path: Path, capsys: Any, margin: str
) -> None:
    rows = [asked(f"q{n}", **verdicts(1, 1.0)) for n in range(120)]
    assert shapes(tmp_path, capsys, margin, rows, rows)["overall"]["name"] == "no material change"

"""Arms with the names of rungs, run elsewhere: their ladder, and the shape of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragablate.cli import main

# q, gold retrieved, gold in the prompt, then right in closed book, control, A, D, S, oracle; and
# whether the oracle's answer is faithful.
WORKED = """
q1 1 1 0 1 1 1 1 1 1
q2 1 1 1 1 1 1 1 1 1
q3 1 0 0 0 1 1 1 1 1
q4 0 0 0 0 0 1 1 1 1
q5 0 0 0 0 0 0 0 1 1
q6 1 1 0 0 0 0 1 1 1
q7 1 1 0 0 0 0 0 1 1
q8 1 1 0 0 0 0 0 0 0
q9 0 0 0 0 0 0 0 0 0
q10 1 1 0 0 0 0 0 0 1
q11 0 0 1 1 1 0 0 1 1
q12 1 1 0 1 1 1 1 1 1
q13 0 0 0 0 0 1 1 1 1
q14 0 0 0 0 0 1 1 1 1
"""
ARMS = ("closed_book", "control", "A", "D", "S", "oracle")
MODEL = {"model": "m-8b", "prompt_version": "7", "decoding": {"temperature": 0}}


def line(qid: str, ranked: bool, shown: list[str], right: int, faithful: int) -> dict[str, Any]:
    texts = {"g": f"The answer to {qid} is here.", "x": f"A near miss of {qid}."}
    pids = {name: f"{qid}:{name}" for name in texts}
    return {
        "qid": qid,
        "question": f"What is {qid}?",
        "retrieved": [{"pid": pids[n], "text": texts[n]} for n in (["x", "g"] if ranked else "x")],
        "context": [{"pid": pids[n], "text": texts[n]} for n in shown],
        "prompt_pids": [pids[n] for n in shown],
        "answer": "It is so." if right else "It is otherwise.",
        "gold_pids": [pids["g"]],
        "verdicts": {"correct": right, "faithfulness": faithful},
        **MODEL,
    }


def worked(folder: Path, *names: str) -> list[str]:
    """Logs of the worked example, as options of the command."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ARMS}
    for text in WORKED.split("\n"):
        if text:
            qid, *given = text.split()
            ranked, shown, *right, faithful = map(int, given)
            control = ["x", "g"] if shown else ["x"]
            contexts = {
                "closed_book": [], "control": control, "A": ["x", "g"] if ranked else ["x"],
                "D": ["x", "g"], "S": ["g", "x"], "oracle": ["g"],
            }  # fmt: skip
            for arm, score in zip(ARMS, right, strict=True):
                rows[arm].append(line(qid, bool(ranked), contexts[arm], score, faithful))
    options = []
    for arm in names or ARMS:
        path = folder / f"{arm}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows[arm]), encoding="utf-8")
        options += ["--arm", f"{arm}={path}"]
    return options


def compared(capsys: Any, options: list[str]) -> dict[str, Any]:
    assert main(["compare", *options, "--selected-by-failure", "no", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_named_rungs_make_a_ladder_whose_terms_add_up(tmp_path: Path, capsys: Any) -> None:
    found = compared(capsys, worked(tmp_path))
    (ladder,) = found["comparison"]["analyses"]
    counts = {t["name"]: round(t["value"] * 14) for t in ladder["terms"] if t["value"]}
    assert counts == {
        "assembly": 1, "retrieval": 2, "ordering": 1, "distractor": 1, "reader": 1,
        "source-or-label": 1, "joint": 3,
    }  # fmt: skip
    assert round(ladder["total"] * 14) == 10
    by_log = {(row["bucket"], row["rung"]): row["questions"] for row in ladder["agreement"]}
    assert by_log["retrieval", "retrieval"] == 3
    assert sum(n for (bucket, _), n in by_log.items() if bucket == "assembly") == 1
    (conclusion,) = (c for c in found["comparison"]["conclusions"]
                     if c["contrast"] == "compare/ladder")  # fmt: skip
    assert conclusion["label"] != "causal", "what the logs do not prove lowers the claim"


def test_a_ladder_is_printed_rung_by_rung(tmp_path: Path, capsys: Any) -> None:
    assert main(["compare", *worked(tmp_path), "--selected-by-failure", "no"]) == 0
    said = capsys.readouterr().out
    assert "ladder B>A>D>S>O, on answerable questions:" in said
    assert "+0.214 joint" in said
    assert "By the log retrieval, first turned right by retrieval: 3" in said


def test_a_ladder_without_a_rung_is_none_and_says_which(tmp_path: Path, capsys: Any) -> None:
    found = compared(capsys, worked(tmp_path, "control", "A", "oracle"))
    assert found["comparison"]["analyses"] == []
    assert any("D, S are not given" in note for note in found["notes"])
    bare = compared(capsys, worked(tmp_path, "control", "oracle"))
    assert not any("no ladder" in note for note in bare["notes"])


def test_a_rung_with_another_model_carries_no_ladder_claim(tmp_path: Path, capsys: Any) -> None:
    options = worked(tmp_path)
    path = tmp_path / "D.jsonl"
    path.write_text(path.read_text().replace("m-8b", "m-70b"), encoding="utf-8")
    found = compared(capsys, options)
    failed = [p for p in found["proofs"]["compare/ladder"] if p["status"] == "fail"]
    assert any(p["text"].startswith("A to D: the reader differs: model") for p in failed)
    (conclusion,) = (c for c in found["comparison"]["conclusions"]
                     if c["contrast"] == "compare/ladder")  # fmt: skip
    assert conclusion["label"] not in ("causal", "causal with limits")


def shifted(folder: Path) -> list[str]:
    """Evidence 100 to 80 of 120: 21 lost, 1 gained; of 79 kept, 1 better and 2 worse."""
    arms: dict[str, list[dict[str, Any]]] = {"control": [], "reindexed": []}
    for n in range(120):
        had, has = n < 100, 21 <= n <= 100
        kept, keeps = int(n != 30), int(n not in (31, 32))
        for arm, there, faithful in (("control", had, kept), ("reindexed", has, keeps)):
            shown = ["x", "g"] if there else ["x"]
            arms[arm].append(line(f"q{n:03d}", there, shown, int(there and faithful), faithful))
    options = []
    for arm, rows in arms.items():
        path = folder / f"{arm}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        options += ["--arm", f"{arm}={path}"]
    return options


@pytest.mark.parametrize(
    ("margin", "name"), [("0.10", "retrieval regressed"), ("0.05", "not enough evidence")]
)
def test_ex_20_the_shape_of_an_arm_that_was_run_elsewhere(
    tmp_path: Path, capsys: Any, margin: str, name: str
) -> None:
    options = [*shifted(tmp_path), "--margin", margin]
    shape = compared(capsys, options)["shapes"]["reindexed"]
    assert (shape["evidence"], shape["name"]) == ("down", name)
    assert main(["compare", *options, "--selected-by-failure", "no"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"Shape, by evidence and faithfulness (a description): {name}." in said
    if margin == "0.05":
        assert "about 131 kept present questions to decide faithfulness (here 79)" in said

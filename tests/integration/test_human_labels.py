"""Labels correct a judge, from the file to the report and through verifying and re-judging."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_support import write_dataset

import ragablate
from ragablate.cli import main
from ragablate.errors import DesignError


@pytest.fixture(scope="module")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("labels") / "toy")


def plan(data: Path, out: Path) -> list[str]:
    return [
        "dataset=jsonl", f"dataset.path={data}", f"outputs={out}", "experiment=oracle_context",
        "judge=[correct,abstention]",
    ]  # fmt: skip


def qids(data: Path) -> list[str]:
    rows = [json.loads(line) for line in (data / "questions.jsonl").read_text().splitlines()]
    return [row["id"] for row in rows if row.get("answerable", True)]


def test_labels_are_printed_stored_verified_and_kept_by_a_new_judge(
    toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["qid,arm,measure,label"]
    for number, qid in enumerate(qids(toy_data)):
        rows += [f"{qid},control,correct,{number % 2}", f"{qid},context=oracle,correct,1"]
    rows.append(f"{qids(toy_data)[0]},control,abstained,")
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(rows))
    assert main(["run", *plan(toy_data, tmp_path / "o"), f"labels={path}"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    (folder,) = (tmp_path / "o").glob("*/2*")
    effects = json.loads((folder / "effects.json").read_text())
    control, oracle = sorted(effects["judged_rates"], key=lambda r: r["arm"], reverse=True)
    assert (control["arm"], oracle["arm"]) == ("control", "context=oracle")
    n = len(qids(toy_data))
    verdicts = [
        v
        for v in ragablate.load(folder).verdicts["control"]
        if v.measure == "correct" and v.qid in qids(toy_data)
    ]
    agreed = sum(v.value == qids(toy_data).index(v.qid) % 2 for v in verdicts) / n
    assert control["labelled"] == control["n"] == n
    assert control["agreed"] == pytest.approx(agreed)
    # All are labelled, so that the labels alone decide.
    assert control["estimate"] == pytest.approx(sum(i % 2 for i in range(n)) / n)
    (corrected,) = effects["corrected"]
    assert corrected["estimate"] == pytest.approx(1 - control["estimate"])
    assert corrected["judged"] == pytest.approx(effects["effects"][0]["effect"])
    for text in (said, " ".join((folder / "report.md").read_text().split())):
        assert "Human labels, correct in control (answerable)" in text
        assert "Cohen's kappa" in text
        assert "prediction-powered" in text
    assert ragablate.verify(folder).wrong == ""
    again = tmp_path / "again"
    assert main(["judge", str(folder), "judge.correct.exact=[]", f"outputs={again}"]) == 0
    (second,) = again.glob("*/2*")
    assert ragablate.load(second).labels == ragablate.load(folder).labels
    assert json.loads((second / "effects.json").read_text())["judged_rates"]


def test_all_that_is_wrong_with_labels_is_said_at_once(toy_data: Path, tmp_path: Path) -> None:
    known = qids(toy_data)[0]
    rows = [
        {"qid": "nobody", "arm": "control", "measure": "correct", "label": 1},
        {"qid": known, "arm": "elsewhere", "measure": "correct", "label": 1},
        {"qid": known, "arm": "control", "measure": "beauty", "label": 1},
        {"qid": known, "arm": "control", "measure": "correct", "label": 1.5},
        {"qid": known, "arm": "control", "measure": "correct", "label": 0},
        {"qid": known, "arm": "control", "measure": "correct", "label": 0, "replicate": 3},
        {"arm": "control"},
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DesignError) as caught:
        ragablate.check(*plan(toy_data, tmp_path / "o"), f"labels={path}")
    said = "\n".join(caught.value.problems)
    for part in ("unknown qid nobody", "unknown arm elsewhere", "unknown measure beauty",
                 "line 4 has the label 1.5", f"{known} in control on correct labelled more than",
                 "unknown replicate 3", "line 7 is no label"):  # fmt: skip
        assert part in said
    assert len(caught.value.problems) == 7
    with pytest.raises(DesignError, match="cannot be read"):
        ragablate.check(*plan(toy_data, tmp_path / "o"), "labels=nowhere.csv")
    table = tmp_path / "bare.csv"
    table.write_text("qid,label\nq1,1\n")
    table_of_none = tmp_path / "none.csv"
    table_of_none.write_text("qid,arm,measure,label\nq1,control,correct,\n")
    with pytest.raises(DesignError, match="it holds no label"):
        ragablate.check(*plan(toy_data, tmp_path / "o"), f"labels={table_of_none}")
    with pytest.raises(DesignError, match="the header lacks arm, measure"):
        ragablate.check(*plan(toy_data, tmp_path / "o"), f"labels={table}")

"""What a bundle says of where its answers failed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import ragablate
from ragablate.cli import main

CAUSAL = re.compile(r"\b(cause[sd]?|because|due to|responsible|led to|root cause)\b", re.I)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("diagnosed")
    return ragablate.run(
        "limit=40", f"outputs={place / 'outputs'}", "experiment=[oracle_context,localize]"
    ).folder


def test_buckets_of_every_arm_and_the_moves_lie_beside_the_effects(folder: Path) -> None:
    found = json.loads((folder / "diagnosis.json").read_text(encoding="utf-8"))
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    arms = [arm["name"] for arm in plan["arms"]]
    assert sorted(found["buckets"]) == sorted(arms)
    control = found["buckets"]["control"]
    oracle = found["buckets"]["context=oracle"]
    counted: dict[tuple[str, str], int] = {}
    for qid in control.keys() & oracle.keys():
        pair = control[qid], oracle[qid]
        counted[pair] = counted.get(pair, 0) + 1
    assert {(a, b): n for a, b, n in found["moves"]["context=oracle"]["counts"]} == counted


def test_the_report_counts_buckets_and_says_nothing_of_why(folder: Path) -> None:
    report = (folder / "report.md").read_text(encoding="utf-8")
    _, _, after = report.partition("## Where failures surfaced, by the logs")
    section = after.partition("\n## ")[0]
    found = json.loads((folder / "diagnosis.json").read_text(encoding="utf-8"))
    failed = [b for b in found["buckets"]["control"].values() if b != "ok"]
    assert failed
    for bucket in set(failed):
        assert f"| {bucket} | {failed.count(bucket)} |" in section
    assert found["moves"]["context=oracle"]["verdict"] in section
    assert CAUSAL.findall(section) == []


def test_over_a_bundle_with_a_ladder_the_log_stands_against_the_interventions(
    folder: Path, capsys: Any
) -> None:
    assert main(["diagnose", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "By the log, and by intervention" in said
    before = said.partition("The field guide")[0]
    assert CAUSAL.findall(before) == []
    assert main(["diagnose", str(folder), "--arm", "nobody"]) == 2
    assert "has no arm 'nobody'" in capsys.readouterr().err
    assert main(["diagnose", str(folder), "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["stages"]["grid"]["cells"]
    assert sum(cell["answers"] for cell in cells) > 0, "support as the bundle's judges found it"

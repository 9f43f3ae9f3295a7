"""Two bundles side by side, from the command line to the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import planted
import pytest

from ragablate.bundle.read import load
from ragablate.config import composing
from ragablate.errors import DesignError, EvidenceError
from ragablate.session import run
from ragablate.versus import between, met, parse

GROUPS = {"1011": 12, "0010": 9, "1010": 40, "1110": 7, "0000": 5}
ARMS = "experiment=[oracle_context,closed_book]"


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same questions answered by four pipelines, and fewer of them by a fifth."""
    root = tmp_path_factory.mktemp("versus")
    folder = planted.write(root / "data", GROUPS, unanswerable=6)
    variants = {
        "old": (),
        "again": (),
        "reader": ("reader=robust",),
        "both": ("reader=robust", "retriever=new"),
        "fewer": ("limit=40",),
    }
    with composing():
        return {
            name: run(planted.overrides(folder, ARMS, f"name={name}", *more)).folder
            for name, more in variants.items()
        }


def command(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(planted.__file__).parent)}
    asked = [sys.executable, "-m", "ragablate.cli", "compare", *map(str, arguments)]
    return subprocess.run(asked, capture_output=True, text=True, check=False, env=env, cwd=cwd)


def test_one_change_proven_between_two_bundles_is_an_effect_of_it(
    bundles: dict[str, Path],
) -> None:
    found = between(load(bundles["old"]), load(bundles["reader"]), "correct")
    effect, conclusion = found.comparison.effects[0], found.comparison.conclusions[0]
    assert [c.key for c in found.changes["control"]] == ["reader.function"]
    assert (effect.better, effect.worse) == (7, 0)
    assert conclusion.label == "causal with limits"
    assert conclusion.verdict == "reader improved"


def test_two_changes_give_a_number_that_is_put_down_to_nothing(bundles: dict[str, Path]) -> None:
    found = between(load(bundles["old"]), load(bundles["both"]), "correct")
    effect, conclusion = found.comparison.effects[0], found.comparison.conclusions[0]
    assert effect.effect is not None
    assert effect.better > 0
    assert (conclusion.verdict, conclusion.label) == ("no attribution", "confounded")
    assert any("Missing arms: reader only, retriever only" in s for s in conclusion.sentences)
    shown = command(bundles["old"], bundles["both"])
    assert shown.returncode == 0
    assert "experiment=attribute_change" in shown.stdout
    assert "no attribution (claim: confounded)" in shown.stdout


def test_equal_pipelines_differ_in_nothing(bundles: dict[str, Path]) -> None:
    shown = command(bundles["old"], bundles["again"])
    assert "Nothing: the pipelines and settings of both are equal." in shown.stdout
    found = between(load(bundles["old"]), load(bundles["again"]), "correct")
    assert {e.better + e.worse for e in found.comparison.effects} == {0}
    assert found.moves is not None
    assert found.moves.moved == found.moves.fixed == found.moves.broken == 0


def test_other_questions_are_refused_and_named(bundles: dict[str, Path]) -> None:
    with pytest.raises(EvidenceError, match=r"questions differ .*in one only"):
        between(load(bundles["old"]), load(bundles["fewer"]), "correct")
    shown = command(bundles["old"], bundles["fewer"])
    assert shown.returncode == 2
    assert "Traceback" not in shown.stderr
    assert "run both on the same data set" in shown.stderr


def test_a_measure_that_is_in_none_is_refused(bundles: dict[str, Path]) -> None:
    with pytest.raises(EvidenceError, match="'beauty' was not measured"):
        between(load(bundles["old"]), load(bundles["again"]), "beauty")


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (("--require", "correct@oracle_context>=0.90"), 0, "met. correct in arm 'context=oracle'"),
        (("--require", "correct@control>=0.90"), 3, "NOT MET"),
        (("--require", "correct<=0.99"), 0, "upper 95 % limit"),
        (("--require", "correct@closed_book>=0.10"), 3, "NOT MET"),
        (("--require", "correct~0.9"), 2, "is no demand"),
        (("--require", "correct>=80"), 2, "is no demand"),
        (("--require", "correct@nowhere>=0.8"), 2, "names no arm"),
        (("--require", "beauty>=0.8"), 2, "was not measured in arm 'control'"),
        (("--no-regression", "correct"), 2, "give two"),
    ],
)
def test_a_demand_decides_the_exit_code(
    bundles: dict[str, Path], asked: tuple[str, ...], code: int, said: str
) -> None:
    shown = command(bundles["old"], *asked)
    assert shown.returncode == code, shown.stderr
    assert said in " ".join((shown.stdout + shown.stderr).split())


def test_a_rate_in_few_questions_does_not_pass_by_its_point_alone(
    bundles: dict[str, Path],
) -> None:
    bundle = load(bundles["old"])
    study = bundle.study()
    demand = parse("correct>=0.65")
    rate = sum(v[0] for q, v in study.scores["control"]["correct"].items() if study.answerable[q])
    assert rate / 73 > 0.65
    assert not met(demand, bundle, study).met
    assert met(demand, bundle, study, by_point=True).met


def test_a_regression_is_excluded_by_the_interval_or_not_at_all(bundles: dict[str, Path]) -> None:
    up = command(bundles["old"], bundles["both"], "--no-regression", "correct")
    down = command(bundles["both"], bundles["old"], "--no-regression", "correct")
    same = command(bundles["old"], bundles["again"], "--no-regression", "correct")
    assert (up.returncode, down.returncode, same.returncode) == (0, 3, 0)
    assert "NOT SHOWN" in down.stdout


def test_json_is_one_object_with_everything(bundles: dict[str, Path]) -> None:
    shown = command(bundles["old"], bundles["both"], "--json", "--require", "correct>=0.1")
    said = json.loads(shown.stdout)
    assert said["demands"][0]["met"] is True
    assert {c["key"] for c in said["changes"]["control"]} >= {"reader.function", "retriever.path"}
    assert said["moves"]["verdict"]
    assert said["shape"]["name"]
    assert said["comparison"]["conclusions"][0]["label"] == "confounded"


def test_an_arm_must_be_named_so_that_it_is_one(bundles: dict[str, Path]) -> None:
    with pytest.raises(DesignError, match="names no arm"):
        met(parse("correct@experiment>=0.1"), load(bundles["old"]), load(bundles["old"]).study())

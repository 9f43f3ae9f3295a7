"""What is promised of a sweep, in one process or in several."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Command = Callable[..., "CompletedProcess[str]"]

ONE_BY_ONE = "basic"
PLUGINS = {
    "parallel": "hydra_joblib_launcher",
    "slurm": "hydra_submitit_launcher",
    "slurm_local": "hydra_submitit_launcher",
    "ray_workers": "hydra_ray_launcher",
}
FATAL = """\
import os, signal, time

def fine(question, passages):
    return "I do not know."

def killed(question, passages):
    os.kill(os.getpid(), signal.SIGKILL)

def interrupted(question, passages):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
"""


def installed(plugin: str) -> bool:
    try:
        return find_spec(f"hydra_plugins.{plugin}") is not None
    except ModuleNotFoundError:
        return False


def with_plugin(launcher: str) -> object:
    """A launcher as a parameter, skipped where its plug-in is not installed."""
    absent = not installed(PLUGINS[launcher])
    reason = f"hydra/launcher={launcher} needs {PLUGINS[launcher].replace('_', '-')}"
    return pytest.param(launcher, marks=pytest.mark.skipif(absent, reason=reason))


BOTH = pytest.mark.parametrize("launcher", [ONE_BY_ONE, with_plugin("parallel")])


def sweep(ragablate: Command, toy: Path, launcher: str, *changes: str) -> CompletedProcess[str]:
    return ragablate(
        "run",
        "-m",
        f"hydra/launcher={launcher}",
        "dataset=jsonl",
        f"dataset.path={toy}",
        "name=toy",
        "quiet=true",
        *changes,
    )


def with_functions(folder: Path, *names: str) -> list[str]:
    (folder / "fatal.py").write_text(FATAL, encoding="utf-8")
    functions = ",".join(f"fatal:{name}" for name in names)
    return ["reader=function", f"reader.function={functions}", "experiment=closed_book"]


def plans(folder: Path) -> list[dict[str, object]]:
    """The plans of all finished bundles."""
    found = sorted((folder / "outputs" / "toy").glob("*/MANIFEST"))
    return [json.loads((path.parent / "plan.json").read_text(encoding="utf-8")) for path in found]


@BOTH
def test_two_seeds_give_two_bundles(
    ragablate: Command, toy: Path, tmp_path: Path, launcher: str
) -> None:
    # A module beside the command, which every job must find.
    changes = with_functions(tmp_path, "fine")
    done = sweep(ragablate, toy, launcher, "seed=0,1", *changes)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(str(plan["seed"]) for plan in plans(tmp_path)) == ["0", "1"]


@BOTH
def test_two_experiments_give_two_bundles(
    ragablate: Command, toy: Path, tmp_path: Path, launcher: str
) -> None:
    done = sweep(ragablate, toy, launcher, "experiment=oracle_context,swap_reader")
    assert (done.returncode, done.stderr) == (0, "")
    texts = [json.dumps(plan) for plan in plans(tmp_path)]
    assert sorted("oracle_context" in text for text in texts) == [False, True]
    assert sorted("swap_reader" in text for text in texts) == [False, True]


@BOTH
def test_a_failing_job_is_named_and_the_others_finish(
    ragablate: Command, toy: Path, tmp_path: Path, launcher: str
) -> None:
    done = sweep(ragablate, toy, launcher, "limit=1,6,7", "experiment=closed_book")
    assert done.returncode == 2
    last = done.stderr.splitlines()[-2:]
    assert last[0].startswith("ragablate: job 0 of the sweep (limit=1) failed with exit code 2: ")
    assert "limit must be a whole number" in last[0]
    assert last[1] == "ragablate: 2 of 3 jobs are done, and what is finished is kept"
    assert len(plans(tmp_path)) == 2


def test_what_cannot_be_composed_runs_nothing(
    ragablate: Command, toy: Path, tmp_path: Path
) -> None:
    done = sweep(ragablate, toy, ONE_BY_ONE, "experiment=closed_book,nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr
    assert plans(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [with_plugin("parallel")])
def test_a_killed_job_is_named_though_nothing_of_it_came_back(
    ragablate: Command, toy: Path, tmp_path: Path, launcher: str
) -> None:
    changes = with_functions(tmp_path, "killed", "fine")
    done = sweep(ragablate, toy, launcher, *changes)
    assert done.returncode == 1
    # Hydra shows a colon as it would have to be typed.
    assert r"job 0 of the sweep (reader.function=fatal\:killed) did not come to its end" in (
        done.stderr
    )


def test_an_interrupt_ends_the_sweep_and_not_one_job_of_it(
    ragablate: Command, toy: Path, tmp_path: Path
) -> None:
    changes = with_functions(tmp_path, "interrupted", "fine")
    done = sweep(ragablate, toy, ONE_BY_ONE, *changes)
    assert done.returncode == 130
    assert "interrupted; finished work is kept" in done.stderr
    assert plans(tmp_path) == []
    assert len(list((tmp_path / "outputs" / "multirun").glob("*/*/job.json"))) == 1


@pytest.mark.parametrize("launcher", [with_plugin(name) for name in PLUGINS])
def test_every_launcher_extends_its_plug_in(ragablate: Command, launcher: str) -> None:
    shown = ragablate("run", f"hydra/launcher={launcher}", "--cfg", "hydra", "-p", "hydra.launcher")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"_target_: hydra_plugins.{PLUGINS[launcher]}." in shown.stdout


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [with_plugin("slurm_local"), with_plugin("ray_workers")])
def test_the_other_local_launchers_run_a_sweep(
    ragablate: Command, toy: Path, tmp_path: Path, launcher: str
) -> None:
    done = sweep(ragablate, toy, launcher, "limit=1,6", "experiment=closed_book")
    assert done.returncode == 2
    assert "job 0 of the sweep (limit=1) failed with exit code 2" in done.stderr
    assert len(plans(tmp_path)) == 1

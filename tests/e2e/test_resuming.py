"""What is promised of an interrupted, repeated or doubled execution."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPRODUCIBLE = (
    "effects.json", "verdicts.jsonl", "run.trec", "contexts.jsonl", "report.md", "report.html",
)  # fmt: skip


def command(toy: Path, *extra: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "ragablate.cli",
        "run",
        "dataset=jsonl",
        f"dataset.path={toy}",
        "name=toy",
        *(extra or ("reader=function", "reader.function=counting:read")),
        "experiment=[closed_book,oracle_context,placebo]",
    ]


def environment(folder: Path, seconds: float = 0.0) -> dict[str, str]:
    paths = os.pathsep.join([str(HERE), *sys.path])
    log = str(folder / "calls.log")
    return {**os.environ, "PYTHONPATH": paths, "CALL_LOG": log, "CALL_SECONDS": str(seconds)}


def execute(folder: Path, toy: Path, *extra: str, seconds: float = 0.0) -> None:
    done = subprocess.run(
        command(toy, *extra),
        cwd=folder,
        env=environment(folder, seconds),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def bundles(folder: Path) -> list[Path]:
    return sorted(p.parent for p in (folder / "outputs" / "toy").glob("*/MANIFEST"))


def contents(bundle: Path) -> dict[str, bytes]:
    found = {}
    for path in sorted(bundle.rglob("*")):
        if path.name in REPRODUCIBLE:
            found[path.relative_to(bundle).as_posix()] = path.read_bytes()
    return found


def calls(folder: Path) -> Counter[str]:
    log = folder / "calls.log"
    return Counter(log.read_text(encoding="utf-8").splitlines()) if log.exists() else Counter()


@pytest.fixture
def reference(tmp_path: Path, toy: Path) -> tuple[dict[str, bytes], Counter[str]]:
    """The same plan, never disturbed."""
    folder = tmp_path / "reference"
    folder.mkdir()
    execute(folder, toy)
    return contents(bundles(folder)[0]), calls(folder)


def test_the_same_plan_again_calls_nothing_and_gives_the_same_bytes(
    tmp_path: Path, toy: Path
) -> None:
    execute(tmp_path, toy)
    before = calls(tmp_path)
    execute(tmp_path, toy)
    first, second = bundles(tmp_path)
    assert calls(tmp_path) == before
    assert contents(first) == contents(second)
    assert len(contents(first)) > 8


def test_a_runtime_knob_re_reads_nothing_and_another_knob_does(tmp_path: Path, toy: Path) -> None:
    own = ("--config-dir", str(HERE / "conf"), "reader=counting")
    execute(tmp_path, toy, *own)
    before = calls(tmp_path)
    execute(tmp_path, toy, *own, "reader.runtime.connections=8")
    assert calls(tmp_path) == before
    first, second = bundles(tmp_path)
    assert contents(first) == contents(second)
    execute(tmp_path, toy, *own, "reader.sentinel=No idea.")
    assert sum(calls(tmp_path).values()) == 2 * sum(before.values())


@pytest.mark.slow
def test_killed_at_random_moments_and_run_again_nothing_is_lost_or_repeated(
    tmp_path: Path, toy: Path, reference: tuple[dict[str, bytes], Counter[str]]
) -> None:
    expected, expected_calls = reference
    moments = random.Random(7)
    kills = 0
    while kills < 20:
        child = subprocess.Popen(
            command(toy),
            cwd=tmp_path,
            env=environment(tmp_path, 0.05),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Some kills fall into start-up, some into reading, some into writing the bundle.
        seen = sum(calls(tmp_path).values())
        time.sleep(moments.uniform(0.0, 0.5))
        if kills % 2:
            while sum(calls(tmp_path).values()) == seen and child.poll() is None:
                time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        kills += 1
    execute(tmp_path, toy)
    assert contents(bundles(tmp_path)[-1]) == expected
    repeated = calls(tmp_path) - expected_calls
    # A call in flight when the kill came may be made again: at most one a kill.
    assert sum(repeated.values()) <= kills
    assert set(calls(tmp_path)) == set(expected_calls)
    assert list((tmp_path / "outputs" / "toy").glob(".*.partial")) == []


@pytest.mark.slow
def test_two_processes_with_the_same_plan_both_finish_with_equal_results(
    tmp_path: Path, toy: Path, reference: tuple[dict[str, bytes], Counter[str]]
) -> None:
    children = [
        subprocess.Popen(command(toy), cwd=tmp_path, env=environment(tmp_path, 0.05),
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]  # fmt: skip
    for child in children:
        _, complaint = child.communicate(timeout=300)
        assert child.returncode == 0, complaint
    found = [contents(bundle) for bundle in bundles(tmp_path)]
    assert found == [reference[0], reference[0]]

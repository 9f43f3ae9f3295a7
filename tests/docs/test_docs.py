"""The documents say what the program does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = [ROOT / "README.md", *sorted(ROOT.glob("experiments/*/README.md"))]


@pytest.mark.slow
def test_generated_parts_are_what_the_commands_give_today() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "update_docs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def commands() -> list[str]:
    found = []
    for path in DOCS:
        for block in re.findall(r"```console\n(.*?)```", path.read_text(encoding="utf-8"), re.S):
            found += [line for line in block.splitlines() if line.startswith("ragablate ")]
    return sorted(set(found))


@pytest.mark.parametrize("command", [c for c in commands() if "my_" not in c and "<" not in c])
def test_every_command_in_the_docs_is_a_plan_that_checks(ragablate: Any, command: str) -> None:
    _, verb, *rest = shlex.split(command)
    assert verb in ("run", "check")
    done = ragablate("check", *rest)
    assert done.returncode == 0, done.stderr


def test_the_functions_shown_run_as_shown(ragablate: Any, tmp_path: Path, toy: Path) -> None:
    source = re.search(r"```python\n(# my_rag.py\n.*?)```", README, re.S)
    assert source is not None
    (tmp_path / "my_rag.py").write_text(source[1])
    for command in commands():
        if "my_rag" in command:
            _, verb, *rest = shlex.split(command)
            done = ragablate(verb, *rest, "dataset=jsonl", f"dataset.path={toy}", "quiet=true")
            assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_python_shown_runs_as_shown(tmp_path: Path) -> None:
    for source in re.findall(r"<!-- run -->\n```python\n(.*?)```", README, re.S):
        subprocess.run([sys.executable, "-c", source], cwd=tmp_path, check=True, timeout=300)


def test_every_path_of_the_tree_exists() -> None:
    tree = re.search(r"## The tree\n\n```text\n(.*?)```", README, re.S)
    assert tree is not None
    for line in tree[1].splitlines():
        assert (ROOT / line.split()[0]).exists(), line


def numbers_of(effects: Any) -> set[str]:
    """Every number of an effects.json as a text might print it."""
    found: set[str] = set()
    todo = [effects]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo += value.values()
        elif isinstance(value, list):
            todo += value
        elif isinstance(value, bool) or value is None:
            continue
        elif isinstance(value, str):
            found |= set(re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", value))
        else:
            found |= {f"{abs(value):.{places}f}" for places in (0, 2, 3)}
            found |= {f"{abs(value) * 100:.0f}", f"{value:.1e}"}
    return found


@pytest.mark.parametrize("study", sorted(ROOT.glob("experiments/*/effects.json")), ids=str)
def test_every_number_in_a_study_is_in_its_effects(study: Path) -> None:
    text = (study.parent / "README.md").read_text(encoding="utf-8")
    conclusion = text[text.index("**Effects.**") :]
    conclusion = re.sub(r"`[^`]*`|BM25|MiniLM-L6-v2|\(https?[^)]*\)", "", conclusion)
    known = numbers_of(json.loads(study.read_text(encoding="utf-8")))
    for number in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", conclusion):
        assert number.rstrip(",") in known, f"{number} is not in {study}"


def test_the_quickstart_study_has_its_effects() -> None:
    assert (ROOT / "experiments" / "quickstart" / "effects.json").exists()


def test_the_reproduced_figures_are_those_of_the_benchmark() -> None:
    rows = re.compile(r"^\| (?:SciFact|XQuAD) .*$", re.M)
    benchmark = (ROOT / "benchmarks" / "reproduction" / "README.md").read_text(encoding="utf-8")
    assert rows.findall(README) == rows.findall(benchmark)
    assert len(rows.findall(README)) > 10

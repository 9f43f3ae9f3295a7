"""What stands on standard output, whoever else writes there or stops reading it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHATTY = """
print("imported")


def answer(question, passages):
    print("asked", question)
    return passages[0] if passages else "I do not know."
"""


@pytest.mark.parametrize("verb", ["run", "check"])
def test_json_is_all_that_is_printed_although_a_function_prints_too(
    ragablate: Any, toy: Path, verb: str
) -> None:
    (toy.parent / "chatty.py").write_text(CHATTY)
    own = ["reader=function", "reader.function=chatty:answer", "experiment=closed_book"]
    done = ragablate(verb, "dataset=jsonl", f"dataset.path={toy}", "json=true", *own)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert ("asked" in done.stderr) is (verb == "run")


def test_quiet_prints_nothing_although_a_function_prints(ragablate: Any, toy: Path) -> None:
    (toy.parent / "chatty.py").write_text(CHATTY)
    own = ["reader=function", "reader.function=chatty:answer", "experiment=closed_book"]
    done = ragablate("run", "dataset=jsonl", f"dataset.path={toy}", "quiet=true", *own)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_run_whose_reader_leaves_is_finished_all_the_same(toy: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [
            sys.executable, "-m", "ragablate.cli", "run", "dataset=jsonl", f"dataset.path={toy}",
            "experiment=closed_book",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list((tmp_path / "outputs" / "toy").glob("*/MANIFEST"))) == 1

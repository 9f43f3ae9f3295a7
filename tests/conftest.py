from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests_support import write_dataset

from ragablate.config import composing

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores, and more threads only wait for one another; torch reads it once.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def hydra() -> Iterator[None]:
    """Makes composing configs possible outside the command line."""
    with composing():
        yield


@pytest.fixture
def ragablate(tmp_path: Path) -> Command:
    """Runs the command line in a fresh folder, as a user would."""

    def call(*arguments: str, cwd: Path = tmp_path, **options: Any) -> Any:
        return subprocess.run(
            [sys.executable, "-m", "ragablate.cli", *arguments],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **options,
        )

    return call


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Twelve passages and eight questions, two of them unanswerable."""
    return write_dataset(tmp_path / "toy")

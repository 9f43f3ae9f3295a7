from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import scripted_world
from validation.worlds import Draws

from ragablate.config import composing
from ragablate.session import Outcome, run

JUDGES = "judge=[correct,evidence,abstention,faithfulness]"


@pytest.fixture
def enact(tmp_path: Path) -> Callable[..., Outcome]:
    """Runs a plan on draws through the runner, each set of draws in a folder of its own."""

    def call(draws: Draws, *more: str, name: str = "world") -> Outcome:
        folder = tmp_path / name / "data"
        if not folder.exists():
            scripted_world.write(folder, draws)
        with composing():
            return run(scripted_world.overrides(folder, JUDGES, *more))

    return call

"""One job of the command line, alone or as part of a sweep."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from ragablate.errors import DesignError

if TYPE_CHECKING:
    from ragablate.checked import Checked
    from ragablate.report.terminal import Screen


@dataclass(slots=True)
class Job:
    """What Hydra calls with a composed config.

    Args:
        verb: ``check``, ``run`` or ``calibrate``.
    """

    verb: str
    """What to do."""
    cwd: str = field(default_factory=lambda: str(Path.cwd()))
    """Where the command was given: a user's own modules lie there."""
    started: bool = False
    """Whether Hydra got as far as calling it in this process."""
    exit_code: int = 0
    """Of the job; a sweep's are in its folder."""

    def __call__(self, config: DictConfig) -> None:
        """Do one job; errors are printed as sentences and kept as an exit code.

        Raises:
            KeyboardInterrupt: It was interrupted, and so the sweep is.
        """
        from ragablate.cli import guarded
        from ragablate.sweep import JobReport

        self.started = True
        hydra = HydraConfig.get()
        overrides = list(hydra.overrides.task)
        name = hydra.job.config_name or "config"
        if hydra.mode != RunMode.MULTIRUN:
            self.exit_code = guarded(lambda: self.do(overrides, name))
            return
        if self.cwd not in sys.path:
            sys.path.insert(0, self.cwd)
        folder, problems = Path(hydra.runtime.output_dir), list[str]()
        report = JobReport(int(hydra.job.num), tuple(overrides))
        report.write(folder)
        code = guarded(lambda: self.do(overrides, name), problems.append)
        replace(report, exit_code=code, problems=tuple(problems)).write(folder)
        if code == 130:
            raise KeyboardInterrupt

    def do(self, overrides: Sequence[str], config_name: str = "config") -> int:
        """Check, and for ``run`` execute and report; returns the exit code.

        Args:
            overrides: Hydra overrides.
            config_name: Primary config.

        Raises:
            RagablateError: What is wrong with the request, or what stopped the execution.
        """
        from ragablate import session
        from ragablate.report import terminal

        twice = _given_twice(overrides)
        if twice:
            raise DesignError(twice)
        with redirect_stdout(sys.stderr):  # a user's module may print while it is imported
            checked = session.check(overrides, config_name)
        control = checked.plan.control
        screen = terminal.Screen(quiet=bool(control["quiet"]), as_json=bool(control["json"]))
        if self.verb == "calibrate":
            return _calibrate(checked, screen)
        screen.plan(checked, final=self.verb == "check")
        if self.verb == "check":
            checked.workshop.close()
            return 0
        with screen.progress() as progress:
            outcome = session.run_checked(checked, progress)
        screen.outcome(outcome)
        return 0


def _calibrate(checked: Checked, screen: Screen) -> int:
    from ragablate import calibrating
    from ragablate.report.page import Page

    try:
        with screen.progress() as progress:
            calibrating.run(checked, checked.plan.control["calibration"], progress, Page())
    finally:
        checked.workshop.close()
    return 0


def _given_twice(overrides: Sequence[str]) -> list[str]:
    """Keys that a command line sets twice, of which Hydra silently takes the last."""
    keys = [override.split("=", 1)[0] for override in overrides if "=" in override]
    return [
        f"{key} is given twice; keep one of them"
        + (", or give several in one list: experiment=[a,b]" if key == "experiment" else "")
        for key in dict.fromkeys(keys)
        if keys.count(key) > 1
    ]

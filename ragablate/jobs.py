"""One job of the command line, alone or as part of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig


@dataclass(slots=True)
class Job:
    """What Hydra calls with a composed config.

    Args:
        verb: ``check`` or ``run``.
    """

    verb: str
    """What to do."""
    started: bool = False
    """Whether Hydra got as far as calling it."""
    exit_code: int = 0
    """Worst exit code of the jobs so far."""

    def __call__(self, config: DictConfig) -> None:
        """Do one job; errors are printed as sentences and kept as an exit code."""
        from ragablate.cli import guarded

        self.started = True
        hydra = HydraConfig.get()
        overrides = list(hydra.overrides.task)
        code = guarded(lambda: self.do(overrides, hydra.job.config_name or "config"))
        self.exit_code = max(self.exit_code, code)

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

        checked = session.check(overrides, config_name)
        control = checked.plan.control
        screen = terminal.Screen(quiet=bool(control["quiet"]), as_json=bool(control["json"]))
        screen.plan(checked, final=self.verb == "check")
        if self.verb == "check":
            checked.workshop.close()
            return 0
        with screen.progress() as progress:
            outcome = session.run_checked(checked, progress)
        screen.outcome(outcome)
        return 0

"""One job of the command line, alone or as part of a sweep."""

from __future__ import annotations

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
        code = guarded(lambda: self._do(bool(config.quiet), bool(config.json)))
        self.exit_code = max(self.exit_code, code)

    def _do(self, quiet: bool, as_json: bool) -> int:
        from ragablate import session
        from ragablate.report import terminal

        hydra = HydraConfig.get()
        checked = session.check(list(hydra.overrides.task), hydra.job.config_name or "config")
        screen = terminal.Screen(quiet=quiet, as_json=as_json)
        screen.plan(checked)
        if self.verb == "check":
            checked.workshop.close()
            return 0
        with screen.progress() as progress:
            outcome = session.run_checked(checked, progress)
        screen.outcome(outcome)
        return 0

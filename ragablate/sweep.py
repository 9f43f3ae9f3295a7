"""What became of the jobs of a sweep, whichever process or machine they ran in.

A launcher's return is not to be relied on: it may name only the first failure, or nothing of a
job whose process was killed. So every job leaves a file in its folder of the sweep, before it
begins and when it is done, and the command that started them reads all of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from ragablate.codec import decode, encode
from ragablate.errors import MissingExtra

_FILE = "job.json"
_LAUNCHERS = {
    "joblib": ("hydra_joblib_launcher", "parallel"),
    "parallel": ("hydra_joblib_launcher", "parallel"),
    "ray": ("hydra_ray_launcher", "ray"),
    "ray_workers": ("hydra_ray_launcher", "ray"),
    "slurm": ("hydra_submitit_launcher", "slurm"),
    "slurm_local": ("hydra_submitit_launcher", "slurm"),
    "submitit_local": ("hydra_submitit_launcher", "slurm"),
    "submitit_slurm": ("hydra_submitit_launcher", "slurm"),
}


@dataclass(frozen=True, slots=True)
class JobReport:
    """One job of a sweep."""

    number: int
    """Counted from 0, as Hydra does."""
    overrides: tuple[str, ...]
    """What makes it differ, with what the sweep has in common."""
    exit_code: int | None = None
    """``None`` while it runs, and for ever if it was killed."""
    problems: tuple[str, ...] = ()
    """What it complained of."""

    def write(self, folder: Path) -> None:
        """Leave it in the job's folder, as a whole."""
        folder.mkdir(parents=True, exist_ok=True)
        hidden = folder / f".{_FILE}.{os.getpid()}"
        hidden.write_bytes(encode(self))
        hidden.replace(folder / _FILE)


def reports(folder: Path) -> list[JobReport]:
    """Every job of a sweep that began, by number."""
    found = []
    for path in folder.glob(f"*/{_FILE}"):
        try:
            found.append(decode(path.read_bytes(), JobReport))
        except (OSError, msgspec.MsgspecError):
            continue
    return sorted(found, key=lambda report: report.number)


def failures(jobs: Sequence[JobReport]) -> list[str]:
    """A sentence for every job that is not done, with what makes it differ from the others."""
    common = set.intersection(*(set(job.overrides) for job in jobs)) if len(jobs) > 1 else set()
    failed = [job for job in jobs if job.exit_code != 0]
    sentences = []
    for job in failed:
        own = " ".join(o for o in job.overrides if o not in common) or "no overrides"
        if job.exit_code is None:
            what = "did not come to its end"
        else:
            what = f"failed with exit code {job.exit_code}"
        reason = f": {job.problems[0]}" if job.problems else ""
        sentences.append(f"job {job.number} of the sweep ({own}) {what}{reason}")
    if failed:
        sentences.append(
            f"{len(jobs) - len(failed)} of {len(jobs)} jobs are done, and what is finished is kept"
        )
    return sentences


def worst(jobs: Sequence[JobReport]) -> int:
    """The highest exit code, 1 for a job that did not come to its end."""
    return max((1 if job.exit_code is None else job.exit_code for job in jobs), default=0)


def refuse_missing_launcher(arguments: Sequence[str]) -> None:
    """Say at once that a launcher's package is absent, rather than let Hydra look for it.

    Raises:
        MissingExtra: The command line chooses such a launcher.
    """
    for argument in arguments:
        key, _, name = argument.partition("=")
        if key != "hydra/launcher" or name not in _LAUNCHERS:
            continue
        package, extra = _LAUNCHERS[name]
        if not _installed(package):
            raise MissingExtra(package.replace("_", "-"), extra, argument)


def _installed(package: str) -> bool:
    try:
        return find_spec(f"hydra_plugins.{package}") is not None
    except ModuleNotFoundError:
        return False


class Watch(Callback):
    """Notes where a sweep is, in the process that starts it; ``hydra.callbacks`` names it."""

    folder: ClassVar[Path | None] = None
    """Folder of the last sweep. Hydra builds callbacks itself, so it is kept on the class."""

    @classmethod
    def forget(cls) -> None:
        """Know of no sweep, until the next one starts."""
        cls.folder = None

    @classmethod
    def reports(cls) -> list[JobReport]:
        """The jobs of the sweep that was started last; none where there was no sweep."""
        return reports(cls.folder) if cls.folder is not None else []

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Note the sweep's folder."""
        Watch.folder = Path(str(config.hydra.sweep.dir)).absolute()

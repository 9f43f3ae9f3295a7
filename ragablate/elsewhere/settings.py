"""How a log of somebody else's pipeline is to be read: from a YAML file, or the command line."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import msgspec
import yaml

from ragablate.diagnose.marking import Markers
from ragablate.diagnose.tiers.thresholds import Thresholds
from ragablate.diagnose.traversal import CORRECT, SUPPORTED
from ragablate.elsewhere.command import abstention_phrases
from ragablate.errors import DatasetError
from ragablate.logs import FORMATS


@dataclass(frozen=True, slots=True)
class Settings:
    """What has to be known of a foreign log; strict, unknown names are refused."""

    format: str = "auto"
    """One of the known formats."""
    fields: dict[str, str] = field(default_factory=dict)
    """By our name, the (dotted) field of a row."""
    phrases: tuple[str, ...] = ()
    """What counts as declining to answer, besides what always does."""
    markers: tuple[str, ...] = ()
    """How answers cite; see ``Markers``."""
    measure: str = CORRECT
    """The verdict that says whether an answer failed."""
    supported: float = SUPPORTED
    """Least share of supported claims of an answer that its prompt supports."""
    recall_pass: float = Thresholds.recall_pass
    """Recall from which a question's evidence counts as retrieved."""
    mrr_pass: float = Thresholds.mrr_pass
    """Reciprocal rank from which it counts as well ranked."""

    @property
    def thresholds(self) -> Thresholds:
        """Of the tiers."""
        return Thresholds(self.recall_pass, self.mrr_pass)

    @property
    def all_phrases(self) -> tuple[str, ...]:
        """With those that always count as declining."""
        return (*abstention_phrases(), *self.phrases)

    def problems(self) -> list[str]:
        """Values out of range, and markers that cannot be read."""
        found = []
        if self.format not in FORMATS:
            found.append(f"format is '{self.format}': set it to one of {', '.join(FORMATS)}.")
        for name in ("supported", "recall_pass", "mrr_pass"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                found.append(f"{name} is {value}: set it between 0 and 1.")
        try:
            Markers(self.markers)
        except ValueError as error:
            found.append(f"markers: {error}.")
        return found


def settings(asked: argparse.Namespace) -> Settings:
    """What the file of ``--settings`` says, and over it what the command line does.

    Raises:
        DatasetError: The file cannot be read, names what there is not, or a value is out of
            range; all of it at once.
    """
    found = Settings() if asked.settings is None else _read(asked.settings)
    given = {name: getattr(asked, name) for name in ("format", "measure", "supported")}
    found = replace(
        found,
        **{name: value for name, value in given.items() if value is not None},
        fields={**found.fields, **dict(pair.partition("=")[::2] for pair in asked.field)},
        phrases=(*found.phrases, *asked.phrase),
        markers=tuple(asked.marker) or found.markers,
    )
    problems = found.problems()
    if problems:
        raise DatasetError([f"diagnose: {problem}" for problem in problems])
    return found


def _read(path: Path) -> Settings:
    try:
        given: Any = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise DatasetError([f"{path} cannot be read ({error.strerror})."]) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DatasetError([f"{path} is no YAML ({' '.join(str(error).split())})."]) from error
    known = [one.name for one in fields(Settings)]
    if not isinstance(given, dict):
        raise DatasetError([f"{path} holds no settings: it may set {', '.join(known)}."])
    unknown = sorted(str(name) for name in given if name not in known)
    if unknown:
        raise DatasetError(
            [f"{path} sets {', '.join(unknown)}, which is no setting: {', '.join(known)} are."]
        )
    try:
        return msgspec.convert(given, Settings)
    except msgspec.ValidationError as error:
        raise DatasetError([f"{path}: {error}."]) from error

"""Reading what every experiment has: a question, a design, a measure and a margin."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ragablate.config import PlainConfig

_FIELDS = {"design", "question", "measure", "margin"}


@dataclass(frozen=True, slots=True)
class Experiment:
    """One question, and how it is asked."""

    name: str
    """Key under ``experiment`` in the config."""
    design: str
    """``contrast``, ``placebo``, ``ladder``, …"""
    question: str
    """The question in the researcher's words."""
    measure: str
    """Primary measure."""
    margin: float
    """Smallest difference that matters."""
    details: Mapping[str, Any]
    """What only its design knows: ``variable`` and ``treatments``, ``variables``, …"""

    @property
    def where(self) -> str:
        """How messages name it."""
        return f"experiment '{self.name}'"

    @property
    def questions(self) -> int | None:
        """Number of questions a placebo asks again; ``None`` for all."""
        return self.details.get("questions")

    @property
    def variable(self) -> str:
        """The variable of a contrast or a mediation; empty for other designs."""
        return str(self.details.get("variable") or "")


def read_experiments(
    control: PlainConfig, designs: Mapping[str, Collection[str]], problems: list[str]
) -> list[Experiment]:
    """The experiments of a composed config; what is wrong is appended to ``problems``.

    Args:
        control: The composed config.
        designs: Known designs, with the keys each of them understands.
        problems: Sentences so far.
    """
    section = control.get("experiment") or {}
    if not isinstance(section, Mapping) or not section:
        problems.append(
            "no experiment is chosen: give one or several, such as "
            "'experiment=[oracle_context,swap_reader]'"
        )
        return []
    read = (_experiment(str(name), body, designs, problems) for name, body in section.items())
    return [experiment for experiment in read if experiment is not None]


def _experiment(
    name: str, body: Any, designs: Mapping[str, Collection[str]], problems: list[str]
) -> Experiment | None:
    where = f"experiment '{name}'"
    if not isinstance(body, Mapping):
        problems.append(f"{where} is not a mapping of question, variable, treatments, …")
        return None
    design = str(body.get("design", "contrast"))
    if design not in designs:
        problems.append(f"{where}: unknown design '{design}'; known: {', '.join(designs)}")
        return None
    known = sorted(_FIELDS | set(designs[design]))
    for key in sorted(set(body) - set(known)):
        problems.append(f"{where} has an unknown key '{key}'; known: {', '.join(known)}")
    margin = body.get("margin", 0.05)
    if not isinstance(margin, int | float) or isinstance(margin, bool) or not 0 < margin < 1:
        problems.append(f"{where}: margin must be a number between 0 and 1, not {margin!r}")
        margin = 0.05
    return Experiment(
        name=name,
        design=design,
        question=str(body.get("question") or name),
        measure=str(body.get("measure", "correct")),
        margin=float(margin),
        details={k: v for k, v in body.items() if k not in _FIELDS},
    )

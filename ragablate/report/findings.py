"""A comparison regrouped by contrast, and its stage signals as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragablate.records import Comparison, Conclusion, Contrast, Effect, Proof, Signal
from ragablate.report import figures
from ragablate.report.tables import Column, Table

EXPLORATORY = "Exploratory:"
"""How sentences about slices begin."""

_HEADERS = {
    "evidence_retrieved": "evidence retrieved",
    "evidence_in_context": "evidence in context",
    "faithfulness": "faithful",
    "abstained": "abstained",
    "correct": "correct",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Everything that came out of one contrast."""

    name: str
    """The experiment, with the level where it has several."""
    contrast: Contrast
    """What was asked and changed."""
    conclusion: Conclusion
    """The verdict."""
    primary: Effect
    """The headline effect."""
    effects: tuple[Effect, ...]
    """All others."""
    proofs: tuple[Proof, ...]
    """What was checked."""

    def of(self, *roles: str) -> tuple[Effect, ...]:
        """Effects of the given roles, in their order."""
        return tuple(e for e in self.effects if e.role in roles)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict in plain language, without what was found by looking at slices."""
        return tuple(s for s in self.conclusion.sentences if not s.startswith(EXPLORATORY))

    @property
    def explorations(self) -> tuple[str, ...]:
        """Sentences about slices."""
        return tuple(s for s in self.conclusion.sentences if s.startswith(EXPLORATORY))


def findings(
    contrasts: Sequence[Contrast],
    comparison: Comparison,
    proofs: Mapping[str, tuple[Proof, ...]],
) -> tuple[Finding, ...]:
    """One finding a contrast, in the order they were declared."""
    levels = Counter(contrast.experiment for contrast in contrasts)
    conclusions = {c.contrast: c for c in comparison.conclusions}
    found = []
    for contrast in contrasts:
        effects = [e for e in comparison.effects if e.contrast == contrast.id]
        primary = next((e for e in effects if e.role == "primary"), None)
        conclusion = conclusions.get(contrast.id)
        if primary is None or conclusion is None:
            continue
        found.append(
            Finding(
                contrast.experiment if levels[contrast.experiment] == 1 else contrast.id,
                contrast,
                conclusion,
                primary,
                tuple(e for e in effects if e is not primary),
                proofs.get(contrast.id, ()),
            )
        )
    return tuple(found)


def population_size(comparison: Comparison, population: str) -> int:
    """Questions of a population; 0 where no signal tells."""
    sizes = [s.n + s.unmeasured for s in comparison.signals if s.population == population]
    return max(sizes, default=0)


def signal_table(
    comparison: Comparison,
    population: str,
    top_k: int,
    cell: Callable[[Signal], str] = figures.rate,
    name: Callable[[str], str] = str,
) -> Table:
    """Arms by stage signals; columns without any value are left out.

    Args:
        comparison: With the signals.
        population: ``answerable`` or ``unanswerable``.
        top_k: Passages that *retrieved* means.
        cell: How a signal is written.
        name: How an arm is written.
    """
    signals = [s for s in comparison.signals if s.population == population]
    by_place = {(s.arm, s.measure): s for s in signals}
    measures = list(dict.fromkeys(s.measure for s in signals))
    columns = [Column("arm"), *(Column(_header(m, top_k), right=True) for m in measures)]
    rows = []
    for arm in dict.fromkeys(s.arm for s in signals):
        found = [by_place.get((arm, measure)) for measure in measures]
        rows.append((name(arm), *(figures.rate(s) if s is None else cell(s) for s in found)))
    return Table(tuple(columns), tuple(rows)).without_empty()


def _header(measure: str, top_k: int) -> str:
    header = _HEADERS.get(measure, measure)
    return f"{header} (top {top_k})" if measure == "evidence_retrieved" else header

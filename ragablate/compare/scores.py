"""The scores of a study, read by question: replicates averaged, evidence as full or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ragablate.records import Study

EVIDENCE_IN_CONTEXT = "evidence_in_context"
EVIDENCE_RETRIEVED = "evidence_retrieved"
ABSTAINED = "abstained"
FAITHFULNESS = "faithfulness"
CORRECT = "correct"

Replicates = tuple[float | None, ...]
"""One value per decode; empty where the arm has no entry."""

Reading = Callable[[str, str], Replicates]
"""From arm and qid to the values of one measure."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Complete pairs of two arms on one measure, in the order of their qids."""

    qids: tuple[str, ...]
    """Sorted, so that the order of the question set cannot matter."""
    control: tuple[float, ...]
    """Mean over replicates, by qid."""
    treatment: tuple[float, ...]
    """Mean over replicates, by qid."""
    unmeasured: int
    """Questions asked for that are no complete pair."""
    replicates: int
    """Decodes per question and arm."""
    whole: bool
    """Every single value is a whole number, so that means lie on a lattice."""
    grain: int = 1
    """Both sides are averages of arms in parts of this size, which makes the lattice finer."""
    within: float | None = None
    """Mean over questions of the variance of the difference over replicates; ``None`` where a
    question has a single one."""

    @property
    def differences(self) -> tuple[float, ...]:
        """Treatment minus control, exact on the lattice."""
        pairs = zip(self.control, self.treatment, strict=True)
        if not self.whole:
            return tuple(t - c for c, t in pairs)
        k = self.replicates * self.grain
        return tuple(round((t - c) * k) / k for c, t in pairs)


class ScoreTable:
    """Reads a study's scores by arm, measure and qid.

    Evidence measures are read as *full or not*: partial evidence counts as absent.

    Args:
        study: The study; its scores must have been validated.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self._columns: dict[tuple[str, str], dict[str, Replicates]] = {}

    def values(self, arm: str, measure: str, qid: str) -> Replicates:
        """One value per replicate; empty where the arm has no entry for the question."""
        return self._column(arm, measure).get(qid, ())

    def _column(self, arm: str, measure: str) -> dict[str, Replicates]:
        """All values of one measure in one arm."""
        known = self._columns.get((arm, measure))
        if known is None:
            of = _full_or_not if measure in (EVIDENCE_IN_CONTEXT, EVIDENCE_RETRIEVED) else float
            known = {
                qid: tuple(None if v is None else of(v) for v in values)
                for qid, values in self.study.scores.get(arm, {}).get(measure, {}).items()
            }
            self._columns[arm, measure] = known
        return known

    def reading(self, measure: str) -> Reading:
        """The measure as it was judged."""
        return lambda arm, qid: self.values(arm, measure, qid)

    def reading_refusals_as_zero(self, measure: str) -> Reading:
        """The measure with a refusal scored 0: a reader that begins to refuse must not gain."""

        def read(arm: str, qid: str) -> Replicates:
            values = self.values(arm, measure, qid)
            refused = self.values(arm, ABSTAINED, qid)
            if len(refused) != len(values):
                return values
            return tuple(0.0 if r == 1.0 else v for v, r in zip(values, refused, strict=True))

        return read

    def mean(self, arm: str, measure: str, qid: str) -> float | None:
        """Mean over the replicates; ``None`` unless every one of them was measured."""
        return average(self.values(arm, measure, qid))

    def pairs(self, read: Reading, arms: tuple[str, str], qids: Iterable[str]) -> Pairs:
        """Pair two arms by qid; a question unmeasured in either arm is dropped and counted.

        Arms with unequal numbers of replicates (a placebo probe) share the first ones.
        """
        wanted = sorted(qids)
        rows: list[tuple[str, float, float]] = []
        whole, replicates = True, 1
        spreads: list[float] = []
        for qid in wanted:
            control, treatment = read(arms[0], qid), read(arms[1], qid)
            k = min(len(control), len(treatment))
            c, t = average(control[:k]), average(treatment[:k])
            if c is None or t is None:
                continue
            whole = whole and all(
                v.is_integer() for v in (*control[:k], *treatment[:k]) if v is not None
            )
            replicates = max(replicates, k)
            if k > 1:
                spreads.append(_spread(control[:k], treatment[:k]))
            rows.append((qid, c, t))
        return Pairs(
            qids=tuple(row[0] for row in rows),
            control=tuple(row[1] for row in rows),
            treatment=tuple(row[2] for row in rows),
            unmeasured=len(wanted) - len(rows),
            replicates=replicates,
            whole=whole,
            within=mean_of(spreads) if rows and len(spreads) == len(rows) else None,
        )


def _spread(control: Replicates, treatment: Replicates) -> float:
    """Sample variance of the paired difference over the replicates of one question."""
    pairs = zip(control, treatment, strict=True)
    differences = [t - c for c, t in pairs if c is not None and t is not None]
    mean = mean_of(differences)
    return math.fsum((d - mean) ** 2 for d in differences) / (len(differences) - 1)


def _full_or_not(value: float) -> float:
    return float(value >= 1.0)


def average(values: Sequence[float | None]) -> float | None:
    """Mean of the values; ``None`` where there is none or one of them is unmeasured."""
    if len(values) == 1:
        return values[0]
    measured = [v for v in values if v is not None]
    if not measured or len(measured) < len(values):
        return None
    return math.fsum(measured) / len(measured)


def extremes(values: Sequence[float | None], replicates: int) -> tuple[float, float]:
    """Lowest and highest mean that the unmeasured decodes of one question allow."""
    measured = [v for v in values if v is not None]
    missing = replicates - len(measured)
    total = math.fsum(measured)
    return total / replicates, (total + missing) / replicates


def mean_of(values: Sequence[float]) -> float:
    """Plain mean, added exactly and divided once."""
    return math.fsum(values) / len(values)

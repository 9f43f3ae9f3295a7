"""Scores of several arms on common questions, and weighted sums of them.

Every term of a design of several arms is such a sum, question by question, so terms that
belong together add up wherever their weights do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ragablate.compare.inference.arrays import Floats
from ragablate.compare.scores import Pairs, Reading, Replicates, extremes

Weights = Mapping[str, Fraction]
"""By role, the weight of an arm."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A weighted sum of arms for every question, its two signs apart and before division."""

    minus: Floats
    """Arms of negative weight, counted positively."""
    plus: Floats
    """Arms of positive weight."""
    denominator: int
    """What both are to be divided by; whole scores are whole numbers until then."""
    grain: int
    """Its part that comes from the weights and not from the replicates."""

    def pairs(self, qids: tuple[str, ...], replicates: int, whole: bool, gone: int) -> Pairs:
        """The sum as control and treatment."""
        return Pairs(
            qids=qids,
            control=tuple((self.minus / self.denominator).tolist()),
            treatment=tuple((self.plus / self.denominator).tolist()),
            unmeasured=gone,
            replicates=replicates,
            whole=whole,
            grain=self.grain,
        )


@dataclass(frozen=True, slots=True)
class Cells:
    """Scores of the arms of an analysis on one population."""

    population: str
    """Which questions."""
    asked: tuple[str, ...]
    """All of them, sorted."""
    qids: tuple[str, ...]
    """Those that every arm has in full: the questions every term is a mean over."""
    replicates: int
    """Decodes per question and arm."""
    whole: bool
    """Every single score is a whole number."""
    complete: Mapping[str, Floats]
    """By role, sums over the replicates on ``qids``."""
    bounds: tuple[Mapping[str, Floats], Mapping[str, Floats]]
    """Lowest and highest possible sums on ``asked``, by role."""

    @property
    def unmeasured(self) -> int:
        """Questions that some arm lacks."""
        return len(self.asked) - len(self.qids)

    def mean(self, role: str) -> float:
        """Mean score of an arm on the common questions."""
        total = math.fsum(self.complete[role].tolist())
        return total / (len(self.qids) * self.replicates)

    def weigh(self, weights: Weights) -> Sum:
        """A weighted sum of arms on the common questions."""
        return _weigh({r: self.complete[r] for r in weights}, weights, self.replicates)

    def pairs(self, weights: Weights) -> Pairs:
        """A weighted sum of arms as pairs: what has negative weight against what has positive."""
        return self.weigh(weights).pairs(self.qids, self.replicates, self.whole, self.unmeasured)

    def worst(self, weights: Weights, side: int) -> Pairs:
        """The sum on all questions, what is missing scored most against (0) or for (1) it."""
        columns = {r: self.bounds[side if w > 0 else 1 - side][r] for r, w in weights.items()}
        found = _weigh(columns, weights, self.replicates)
        return found.pairs(self.asked, self.replicates, self.whole, 0)

    def only(self, qids: Sequence[str]) -> Cells:
        """The same on some of the questions."""
        kept = frozenset(qids)
        inside = np.asarray([q in kept for q in self.qids], dtype=bool)
        among = np.asarray([q in kept for q in self.asked], dtype=bool)
        low, high = ({r: c[among] for r, c in side.items()} for side in self.bounds)
        return Cells(
            self.population,
            tuple(q for q in self.asked if q in kept),
            tuple(q for q in self.qids if q in kept),
            self.replicates,
            self.whole,
            {r: c[inside] for r, c in self.complete.items()},
            (low, high),
        )


def _weigh(columns: Mapping[str, Floats], weights: Weights, replicates: int) -> Sum:
    grain = math.lcm(*(w.denominator for w in weights.values()))
    size = len(next(iter(columns.values())))
    minus, plus = np.zeros(size), np.zeros(size)
    for role in sorted(weights):
        times = int(weights[role] * grain)
        side = plus if times > 0 else minus
        side += abs(times) * columns[role]  # whole numbers stay exact
    return Sum(minus, plus, grain * replicates, grain)


def cells(read: Reading, arms: Mapping[str, str], population: str, qids: Sequence[str]) -> Cells:
    """Read the arms of an analysis; a question unmeasured in one of them is in no term.

    Args:
        read: How its measure is read.
        arms: Arm by role.
        population: What the questions are called.
        qids: The questions asked for.
    """
    asked = tuple(sorted(qids))
    rows = {role: [read(arm, qid) for qid in asked] for role, arm in arms.items()}
    replicates = max((len(values) for row in rows.values() for values in row), default=1) or 1
    values = [v for row in rows.values() for each in row for v in each if v is not None]
    whole = all(v.is_integer() for v in values)
    full = [all(_measured(row[i], replicates) for row in rows.values()) for i in range(len(asked))]

    def column(numbers: list[float]) -> Floats:
        return np.asarray(np.rint(numbers) if whole else numbers, dtype=np.float64)

    complete = {
        role: column([_total(v) for v, use in zip(row, full, strict=True) if use])
        for role, row in rows.items()
    }
    low, high = (
        {
            role: column([extremes(v, replicates)[side] * replicates for v in row])
            for role, row in rows.items()
        }
        for side in (0, 1)
    )
    common = tuple(q for q, use in zip(asked, full, strict=True) if use)
    return Cells(population, asked, common, replicates, whole, complete, (low, high))


def _measured(values: Replicates, replicates: int) -> bool:
    return len(values) == replicates and None not in values


def _total(values: Replicates) -> float:
    return math.fsum(v for v in values if v is not None)

"""Planted designs of several arms: simple effects, interactions, shares and paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import numpy as np
from validation.contrasts import LEVEL, Rng, rng_of
from validation.rows import Row, coverage
from validation.studies import EVIDENCE, analysis, combined, study

from ragablate.compare import compare
from ragablate.records import Effect

Cells = Mapping[str, np.ndarray]

CROSSED = {
    "effects that depend": {"00": 0.40, "10": 0.55, "01": 0.50, "11": 0.80},
    "effects that add up": {"00": 0.40, "10": 0.55, "01": 0.50, "11": 0.65},
}
"""Success rates by cell of a retriever and a reader."""


def factorial(n: int, count: int, seed: int) -> Iterator[Row]:
    """All four cells of two changes."""
    for name, rates in CROSSED.items():
        a0, a1 = rates["10"] - rates["00"], rates["11"] - rates["01"]
        b0, b1 = rates["01"] - rates["00"], rates["11"] - rates["10"]
        truth = {
            "retriever | reader=old": a0,
            "retriever | reader=new": a1,
            "reader | retriever=old": b0,
            "reader | retriever=new": b1,
            "interaction": a1 - a0,
            "retriever": (a0 + a1) / 2,
            "reader": (b0 + b1) / 2,
            "total": rates["11"] - rates["00"],
        }
        drawn = _drawn(rates, n, rng_of(f"V7 {name} {n}", seed))
        tally = _tally(partial(_crossed, drawn), truth, count)
        setting = f"2 x 2, {name}, n = {n}"
        yield from tally.rows(setting, n, count)
        if abs(a1 - a0) < 1e-12:
            rejected = tally.rejected["interaction"] / count
            text = "interaction null: p at most 0.05"
            yield Row("V3", text, setting, rejected, count, None, LEVEL, errors=3)


def _crossed(drawn: Callable[[], Cells]) -> dict[str, Effect]:
    return combined("factorial", drawn(), "retriever", "reader")


def shares(n: int, count: int, seed: int) -> Iterator[Row]:
    """Shapley shares of three changes, one of which does nothing."""
    cells = ["".join(bits) for bits in product("01", repeat=3)]
    rates = {c: 0.35 + 0.15 * (c[0] == "1") + 0.2 * (c[:2] == "11") for c in cells}
    truth = {"retriever": 0.25, "reader": 0.10, "assembler": 0.0, "total": 0.35}
    rng = rng_of(f"V7 shares {n}", seed)
    drawn = _drawn(rates, n, rng)
    variables = ("retriever", "reader", "assembler")
    tally = _tally(lambda: combined("attribution", drawn(), *variables), truth, count)
    yield from tally.rows(f"three changes, n = {n}", n, count)


def mediation(n: int, count: int, seed: int) -> Iterator[Row]:
    """Another retriever brings evidence (+0.130) and worse distractors (-0.085)."""
    truth = {"evidence path": 0.130, "other path": -0.085, "total": 0.045}
    rng = rng_of(f"V7 mediation {n}", seed)
    arms = {role: role for role in ("B", "R", "c01", "c10")}
    declared = analysis("mediation", arms, "retriever")

    def effects() -> dict[str, Effect]:
        columns = {(arm, "correct"): v for arm, v in _paths(n, rng).items() if arm in arms}
        return {e.measure: e for e in compare(study(columns, analyses=[declared])).effects}

    tally = _tally(effects, truth, count)
    yield from tally.rows(f"mediation, n = {n}", n, count)


def _paths(n: int, rng: Rng) -> Cells:
    """Gold arrives on a fifth of the questions; the new distractors mislead more readers."""
    place, luck, known = rng.random(n), rng.random(n), rng.random(n) < 0.1
    old, new = place < 0.5, place < 0.7
    calm, misled = luck < 0.82083333, luck < 0.67916667
    return {
        "B": np.where(old, calm, known),
        "c01": np.where(new, calm, known),
        "c10": np.where(old, misled, known),
        "R": np.where(new, misled, known),
        EVIDENCE: old,
    }


def _drawn(rates: Mapping[str, float], n: int, rng: Rng) -> Callable[[], Cells]:
    """Cells with these success rates, on questions that are as hard in all of them."""

    def draw() -> Cells:
        hard = rng.random(n)
        return {
            cell: np.where(rng.random(n) < 0.15, rng.random(n) < rate, hard < rate)
            for cell, rate in rates.items()
        }

    return draw


@dataclass(slots=True)
class Tally:
    """What became of every estimate over many sets."""

    covered: Counter[str] = field(default_factory=Counter)
    """Intervals that held what was planted."""
    changed: Counter[str] = field(default_factory=Counter)
    """Questions that changed."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Tests at 0.05."""

    def rows(self, setting: str, n: int, count: int) -> Iterator[Row]:
        """Coverage of every estimate."""
        for name, times in self.covered.items():
            yield coverage("V7", name, setting, n, times, self.changed[name], count)


def _tally(
    effects: Callable[[], Mapping[str, Effect]], truth: Mapping[str, float], count: int
) -> Tally:
    tally = Tally()
    for _ in range(count):
        found = effects()
        for name, value in truth.items():
            effect = found[name]
            assert effect.ci95 is not None
            assert effect.p is not None
            tally.covered[name] += effect.ci95.low <= value <= effect.ci95.high
            tally.changed[name] += effect.better + effect.worse
            tally.rejected[name] += effect.p <= LEVEL
    return tally

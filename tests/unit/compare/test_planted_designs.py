"""Planted worlds: designs of several arms find what was put there, as often as they say."""

import math
from functools import cache

import numpy as np
import pytest
from several_arms import cells, crossed, mediated, studied

from ragablate.compare.analyses import ANALYSES
from ragablate.compare.scores import ScoreTable

SETS = 400
SLACK = 3


def band(rate):
    """Three Monte Carlo standard errors."""
    return SLACK * math.sqrt(rate * (1 - rate) / SETS)


def written(sheet, columns):
    """A sheet from one column of 0/1 scores an arm."""
    made = sheet()
    made.qids = [f"q{i:04d}" for i in range(len(next(iter(columns.values()))))]
    made.answerable = dict.fromkeys(made.qids, True)
    made.scores = {
        arm: {"correct": {q: (float(v),) for q, v in zip(made.qids, column, strict=True)}}
        for arm, column in columns.items()
    }
    return made


def analysed(sheet, columns, analysis):
    study = studied(written(sheet, columns), analysis)
    return ANALYSES[analysis.kind](ScoreTable(study), analysis).effects


def crossed_cells(rng, n, rates):
    """Cells with these success rates whose questions are alike in difficulty."""
    hard = rng.random(n)
    noise = {name: rng.random(n) < 0.15 for name in rates}
    fresh = {name: rng.random(n) for name in rates}
    return {
        name: np.where(noise[name], fresh[name] < rate, hard < rate) for name, rate in rates.items()
    }


RATES = {
    "effects that depend": {"00": 0.40, "10": 0.55, "01": 0.50, "11": 0.80},
    "effects that add up": {"00": 0.40, "10": 0.55, "01": 0.50, "11": 0.65},
}


def truth(rates):
    a0, a1 = rates["10"] - rates["00"], rates["11"] - rates["01"]
    b0, b1 = rates["01"] - rates["00"], rates["11"] - rates["10"]
    return {
        "retriever | reader=small": a0,
        "retriever | reader=large": a1,
        "reader | retriever=bm25": b0,
        "reader | retriever=dense": b1,
        "interaction": a1 - a0,
        "retriever": (a0 + a1) / 2,
        "reader": (b0 + b1) / 2,
        "total": rates["11"] - rates["00"],
    }


class Tally:
    """How often the interval of each term held what was planted, and what was detected."""

    def __init__(self, planted):
        self.planted = planted
        self.covered = dict.fromkeys(planted, 0)
        self.detected = dict.fromkeys(planted, 0)
        self.sums = dict.fromkeys(planted, 0.0)

    def add(self, effects):
        for e in effects:
            if e.measure in self.planted:
                value = self.planted[e.measure]
                self.covered[e.measure] += e.ci95.low <= value <= e.ci95.high
                self.detected[e.measure] += e.state in ("up", "down")
                self.sums[e.measure] += e.effect

    def check(self):
        for name, value in self.planted.items():
            rate = self.covered[name] / SETS
            assert 0.93 - band(0.95) <= rate <= 0.97 + band(0.95), (name, rate)
            assert self.sums[name] / SETS == pytest.approx(value, abs=0.015), name


@pytest.mark.slow
@pytest.mark.parametrize("world", RATES)
def test_a_factorial_covers_what_was_planted(sheet, world):
    rng = np.random.default_rng(7)
    tally = Tally(truth(RATES[world]))
    for _ in range(SETS):
        tally.add(analysed(sheet, crossed_cells(rng, 100, RATES[world]), crossed()))
    tally.check()
    if world == "effects that add up":
        # Real main effects, and no interaction to be found.
        assert tally.detected["interaction"] / SETS <= 0.05 + band(0.05)
    else:
        assert tally.detected["total"] / SETS > 0.95


@pytest.mark.slow
def test_shares_of_three_changes_cover_what_was_planted(sheet):
    rng = np.random.default_rng(8)
    rates = {c: 0.35 + 0.15 * (c[0] == "1") + 0.2 * (c[:2] == "11") for c in cells(3)}
    planted = {"retriever": 0.25, "reader": 0.10, "assembler": 0.0, "total": 0.35}
    tally = Tally(planted)
    for _ in range(SETS):
        columns = crossed_cells(rng, 100, rates)
        tally.add(analysed(sheet, columns, crossed(3, kind="attribution")))
    tally.check()
    # The change that does nothing is rarely found to do something.
    assert tally.detected["assembler"] / SETS <= 0.05 + band(0.05)


# Gold retrieved in B and R, distracted in B and R, able reader, memory: closed form below.
WORLD = {"found": (0.60, 0.80), "distracted": (0.10, 0.235), "able": 0.90, "memory": 0.10}


def right(found, distracted, world=WORLD):
    able, memory = world["able"], world["memory"]
    return found * (1 - distracted) * able + (1 - found) * memory


@cache
def planted_paths():
    (r0, r1), (d0, d1) = WORLD["found"], WORLD["distracted"]
    b, c01, c10, r = right(r0, d0), right(r1, d0), right(r0, d1), right(r1, d1)
    return {
        "evidence path": ((c01 - b) + (r - c10)) / 2,
        "other path": ((c10 - b) + (r - c01)) / 2,
        "total": r - b,
    }


def mediated_arms(rng, n):
    draws = {name: rng.random(n) for name in ("found", "distracted", "able", "memory", "again")}
    # Half of the questions are found by both or neither, the others by each on its own.
    shared = rng.random(n) < 0.5
    after = np.where(shared, draws["found"], draws["again"])
    found = (draws["found"] < WORLD["found"][0], after < WORLD["found"][1])
    distracted = tuple(draws["distracted"] < d for d in WORLD["distracted"])
    able, memory = draws["able"] < WORLD["able"], draws["memory"] < WORLD["memory"]

    def answered(evidence, distractors):
        return np.where(found[evidence], ~distracted[distractors] & able, memory)

    return {
        "B": answered(0, 0), "c01": answered(1, 0), "c10": answered(0, 1), "R": answered(1, 1),
    }  # fmt: skip


@pytest.mark.slow
def test_a_mediation_covers_both_paths_that_pull_apart(sheet):
    planted = planted_paths()
    assert {name: round(v, 3) for name, v in planted.items()} == {
        "evidence path": 0.130, "other path": -0.085, "total": 0.045,
    }  # fmt: skip
    rng = np.random.default_rng(9)
    tally = Tally(planted)
    for _ in range(SETS):
        tally.add(analysed(sheet, mediated_arms(rng, 150), mediated()))
    tally.check()
    assert tally.detected["evidence path"] / SETS > 0.9

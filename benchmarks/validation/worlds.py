"""Worlds with known faults: what a stage loses is planted, so that it can be looked for.

Every question is drawn by itself: whether its gold is retrieved, evicted from the context,
read by an able reader, wrongly labelled, drowned by distractors, known by heart. The nine
worlds differ in how often each happens; what the ladder must find in each follows in
closed form, or by averaging over the difficulty that ties the draws together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

STAGES = ("assembly", "retrieval", "ordering", "distractor", "reader")
"""Terms that can be named as the bottleneck."""
TERMS = (*STAGES, "source-or-label", "joint")
"""Terms of a ladder, which add up to 1 minus control's score."""


@dataclass(frozen=True, slots=True)
class World:
    """How often each thing happens to a question."""

    name: str
    """Name in the tables."""
    retrieved: float
    """Gold is in the ranking handed to the assembler."""
    evicted: float
    """Gold that was retrieved does not reach the context."""
    able: float
    """The reader finds the answer in the gold."""
    mislabelled: float
    """The reference answer is wrong."""
    distracted: float
    """Other passages make an able reader err."""
    known: float
    """The reader answers without the gold, from memory."""
    loads: float = 0.0
    """How strongly one difficulty moves retrieval, ability and memory together, in logits."""
    bottleneck: str = ""
    """The stage that loses most; empty where two are tied."""

    def terms(self) -> dict[str, float]:
        """Expected value of every term of the ladder, and of control's score as ``B``."""
        nodes, weights = hermegauss(80) if self.loads else (np.zeros(1), np.ones(1))
        weights = weights / weights.sum()
        r, a, m = (_shifted(p, self.loads * nodes) for p in (self.retrieved, self.able, self.known))
        oracle = a * (1 - self.mislabelled)
        given, without = oracle * (1 - self.distracted), m * (1 - self.mislabelled)
        full = r * (1 - self.evicted)
        found = {
            "assembly": r * self.evicted * (given - without),
            "retrieval": (1 - r) * (given - without),
            "ordering": 0 * r,
            "distractor": full * (oracle - given),
            "reader": full * (1 - a) * (1 - self.mislabelled),
            "source-or-label": full * self.mislabelled,
            "joint": (1 - full) * (1 - given),
            "B": full * given + (1 - full) * without,
        }
        return {name: float((weights * value).sum()) for name, value in found.items()}


def _shifted(p: float, by: np.ndarray) -> np.ndarray:
    """A probability moved by logits; 0 and 1 stay what they are."""
    if p in (0.0, 1.0):
        return np.full_like(by, p)
    return 1 / (1 + np.exp(-(np.log(p / (1 - p)) + by)))


WORLDS = (
    World("balanced", 0.70, 0.10, 0.85, 0.03, 0.08, 0.15, bottleneck="retrieval"),
    World("retrieval-bound", 0.45, 0.05, 0.92, 0.02, 0.05, 0.10, bottleneck="retrieval"),
    World("assembly-bound", 0.92, 0.40, 0.92, 0.02, 0.05, 0.10, bottleneck="assembly"),
    World("reader-bound", 0.93, 0.03, 0.60, 0.02, 0.05, 0.10, bottleneck="reader"),
    World("distractor-bound", 0.93, 0.03, 0.94, 0.02, 0.35, 0.10, bottleneck="distractor"),
    World("rare-assembly", 0.80, 0.02, 0.85, 0.03, 0.05, 0.15, bottleneck="retrieval"),
    World("contaminated", 0.70, 0.10, 0.85, 0.03, 0.08, 0.70, bottleneck="reader"),
    World("correlated", 0.70, 0.10, 0.85, 0.03, 0.08, 0.15, 1.0, bottleneck="retrieval"),
    World("co-failing", 0.60, 0.0, 0.60, 0.0, 0.0, 0.0),
)
"""The worlds of the validation, in the order of its tables."""

BY_NAME: Mapping[str, World] = {world.name: world for world in WORLDS}


@dataclass(frozen=True, slots=True)
class Draws:
    """What happens to each question of one set."""

    retrieved: np.ndarray
    evicted: np.ndarray
    able: np.ndarray
    mislabelled: np.ndarray
    distracted: np.ndarray
    known: np.ndarray

    def __len__(self) -> int:
        return len(self.retrieved)

    @property
    def full(self) -> np.ndarray:
        """The evidence is in control's context."""
        return self.retrieved & ~self.evicted

    def scores(self) -> dict[str, np.ndarray]:
        """Right or wrong by role of the ladder, and of ``M``, the context without gold."""
        oracle = self.able & ~self.mislabelled
        given, without = oracle & ~self.distracted, self.known & ~self.mislabelled
        return {
            "N": without,
            "B": np.where(self.full, given, without),
            "A": np.where(self.retrieved, given, without),
            "D": given,
            "S": given,
            "O": oracle,
            "M": without,
        }

    @property
    def faithful(self) -> np.ndarray:
        """The oracle answer stands in the gold passage, whether or not it is marked right."""
        return self.able | self.mislabelled


def draw(world: World, n: int, rng: np.random.Generator) -> Draws:
    """One set of questions."""
    difficulty = world.loads * rng.standard_normal(n)
    tied = {
        name: rng.random(n) < _shifted(getattr(world, name), difficulty)
        for name in ("retrieved", "able", "known")
    }
    free = {
        name: rng.random(n) < getattr(world, name)
        for name in ("evicted", "mislabelled", "distracted")
    }
    return Draws(**tied, **free)


def sets(world: World, n: int, count: int, seed: int = 0) -> Iterator[Draws]:
    """Independent sets of questions; equal arguments give equal sets."""
    number = list(BY_NAME).index(world.name) if world.name in BY_NAME else len(BY_NAME)
    rng = np.random.default_rng([seed, number, n])
    for _ in range(count):
        yield draw(world, n, rng)


def main() -> None:
    """Print the table of expected values."""
    print("world              " + " ".join(f"{name:>10.10}" for name in (*TERMS, "B")))
    for world in WORLDS:
        terms = world.terms()
        print(f"{world.name:18} " + " ".join(f"{terms[t]:10.4f}" for t in (*TERMS, "B")))


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()

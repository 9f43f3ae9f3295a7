"""Planted contrasts: nothing there, a difference at the margin, traps for two-arm claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from validation.rows import Row
from validation.studies import (
    CORRECT,
    EVIDENCE,
    FAITHFULNESS,
    contrast,
    study,
    two_arms,
)

from ragablate.compare import compare
from ragablate.compare.inference.judge_error import prediction_powered
from ragablate.compare.shapes import Shape, shape
from ragablate.records import Effect

Arms = tuple[np.ndarray, np.ndarray]
Rng = np.random.Generator
LEVEL = 0.05


def rng_of(name: str, seed: int) -> Rng:
    """The generator of one procedure."""
    return np.random.default_rng([seed, *name.encode()])


def moves(n: int, up: float, down: float, rng: Rng, base: float = 0.5) -> Arms:
    """0/1 scores of which a share gets better and a share gets worse."""
    kind = rng.random(n)
    control = np.where(kind < up, 0, np.where(kind < up + down, 1, rng.random(n) < base))
    treatment = np.where(kind < up, 1, np.where(kind < up + down, 0, control))
    return control.astype(float), treatment.astype(float)


def detected(effect: Effect) -> bool:
    """Whether a difference is said to be there."""
    return effect.state in ("up", "down")


# ── V3: nothing there ───────────────────────────────────────────────────────────────────


def nulls(n: int, count: int, seed: int) -> Iterator[Row]:
    """How often the test rejects where nothing is different, at 0.05."""
    worlds: dict[str, Callable[[Rng], Arms]] = {
        "A/A arms": lambda rng: _again(n, rng),
        "retriever null": lambda rng: _churn(n, 0.15, rng),
        "reader null": lambda rng: moves(n, 0.10, 0.10, rng, 0.8),
        "rare changes": lambda rng: moves(n, 0.025, 0.025, rng),
        "A/A arms, 3 decodes": lambda rng: _again(n, rng, 3),
    }
    for name, world in worlds.items():
        rng = rng_of(f"V3 {name} {n}", seed)
        found = [two_arms(*world(rng)) for _ in range(count)]
        yield from _false_alarms(name, f"n = {n}", found)


def clustered_nulls(count: int, seed: int) -> Iterator[Row]:
    """The same with questions that share documents and move together."""
    documents = np.repeat(np.arange(40), 5)
    for agreement in (0.0, 0.3, 0.8):
        rng = rng_of(f"V3 clusters {agreement}", seed)
        found = [
            two_arms(*_together(documents, agreement, rng), documents=documents)
            for _ in range(count)
        ]
        yield from _false_alarms("clusters", f"40 documents, agreement {agreement}", found)


def _false_alarms(name: str, setting: str, found: list[Effect]) -> Iterator[Row]:
    count = len(found)
    rejected = sum(e.p is not None and e.p <= LEVEL for e in found) / count
    yield Row("V3", f"{name}: p at most 0.05", setting, rejected, count, None, LEVEL, errors=3)
    share = sum(map(detected, found)) / count
    yield Row("V3", f"{name}: detected", setting, share, count, None, LEVEL, errors=3)


def _again(n: int, rng: Rng, decodes: int = 1) -> Arms:
    """Two rounds of decodes of one reader, whose success differs from question to question."""
    success = rng.beta(0.7, 0.5, n)[:, None]
    first, second = (rng.random((n, decodes)) < success for _ in range(2))
    return first.astype(float), second.astype(float)


def _churn(n: int, share: float, rng: Rng) -> Arms:
    """Two retrievers that find the gold of different questions equally often."""
    with_gold, without = rng.random(n) < 0.85, rng.random(n) < 0.15
    before = rng.random(n) < 0.7
    swapped = rng.random(n) < share
    after = np.where(swapped, rng.random(n) < 0.7, before)
    return tuple(np.where(e, with_gold, without).astype(float) for e in (before, after))  # type: ignore[return-value]


def _together(documents: np.ndarray, agreement: float, rng: Rng) -> Arms:
    """Every tenth question moves each way; those of a document agree with this chance."""
    n = len(documents)
    shared = rng.random(documents.max() + 1)[documents]
    kind = np.where(rng.random(n) < agreement, shared, rng.random(n))
    control = np.where(kind < 0.1, 0.0, 1.0)
    treatment = np.where((kind >= 0.1) & (kind < 0.2), 0.0, 1.0)
    return control, treatment


# ── V5: a difference of exactly the margin ──────────────────────────────────────────────


def margin_edge(n: int, count: int, seed: int) -> Iterator[Row]:
    """How often a difference of exactly the margin is called flat."""
    for margin, changing in ((0.05, 0.05), (0.05, 0.10), (0.05, 0.30), (0.10, 0.10), (0.10, 0.30)):
        rng = rng_of(f"V5 {n} {margin} {changing}", seed)
        up, down = (changing + margin) / 2, (changing - margin) / 2
        flat = sum(
            two_arms(*moves(n, up, down, rng), margin=margin).state == "flat" for _ in range(count)
        )
        setting = f"n = {n}, margin {margin}, {changing:.0%} change"
        yield Row("V5", "called flat at the margin", setting, flat / count, count, None, 0.06)


# ── V6 and V8: two stage signals ────────────────────────────────────────────────────────

SHAPES = {
    "no material change": "none",
    "neither stage signal moved": "none",
    "retrieval or assembly regressed": "retrieval",
    "reader regressed": "reader",
    "something shared moved": "shared",
    "not enough evidence": "undecided",
}
_FAULTS = {"none": (0.0, 0.0), "retrieval": (0.25, 0.0), "reader": (0.0, 0.25),
           "shared": (0.25, 0.25)}  # fmt: skip


def shapes(n: int, count: int, seed: int, margin: float = 0.10) -> Iterator[Row]:
    """Which of four faults between two runs the two signals point to.

    Evidence is in the context of 85 % of the questions, and 90 % of the answers given it are
    faithful. A fault takes a quarter of either away; half a percent changes anyway.
    """
    for planted, (lost, unfaithful) in _FAULTS.items():
        rng = rng_of(f"V6 {planted} {n}", seed)
        read: Counter[str] = Counter()
        for _ in range(count):
            before = rng.random(n) < 0.85
            after = _flip(before, lost + 0.005, 0.005, rng)
            said = rng.random(n) < 0.90
            again = _flip(said, unfaithful + 0.005, 0.005, rng)
            found = signals(before, after, said, again, margin).name
            read[SHAPES.get(found, found)] += 1
        right = read[planted] / count
        wrong = (count - read[planted] - read["undecided"]) / count
        setting = f"{planted}, n = {n}, margin {margin}"
        bound = 0.85 if n == 100 else None
        yield Row("V6", "right shape", setting, right, count, bound, None)
        yield Row("V6", "wrong shape", setting, wrong, count, None, 0.01)


def signals(
    before: np.ndarray, after: np.ndarray, said: np.ndarray, again: np.ndarray, margin: float
) -> Shape:
    """Evidence, and faithfulness where it was kept, as the product reads the two together."""
    columns = {
        ("control", CORRECT): before & said,
        ("treatment", CORRECT): after & again,
        ("control", EVIDENCE): before,
        ("treatment", EVIDENCE): after,
        ("control", FAITHFULNESS): said,
        ("treatment", FAITHFULNESS): again,
    }
    effects = compare(study(columns, [contrast(margin)])).effects
    found = {(e.measure, e.population): e for e in effects}
    return shape(
        found.get((EVIDENCE, "answerable")),
        found.get((FAITHFULNESS, "kept present")),
        found.get((CORRECT, "answerable")),
    )


def conditional_trap(n: int, count: int, seed: int) -> Iterator[Row]:
    """A better retriever adds hard questions: the reader looks worse, and is not."""
    rng = rng_of(f"V8 {n}", seed)
    naive = down = 0
    for _ in range(count):
        hard = rng.random(n) < 0.5
        before = ~hard & (rng.random(n) < 0.9)
        after = before | (hard & (rng.random(n) < 0.7))
        said = rng.random(n) < np.where(hard, 0.5, 0.95)
        again = _flip(said, 0.02, 0.02, rng)
        down += signals(before, after, said, again, 0.05).faithfulness == "down"
        naive += _two_rates_differ(said[before], again[after])
    setting = f"n = {n}"
    yield Row("V8", "reader said to regress", setting, down / count, count, None, 0.05)
    yield Row("V8", "two conditional rates differ", setting, naive / count, count)


def _flip(values: np.ndarray, off: float, on: float, rng: Rng) -> np.ndarray:
    chance = rng.random(len(values))
    flipped: np.ndarray = np.where(values, chance >= off, chance < on)
    return flipped


def _two_rates_differ(first: np.ndarray, second: np.ndarray) -> bool:
    p = np.concatenate([first, second]).mean()
    error = np.sqrt(p * (1 - p) * (1 / len(first) + 1 / len(second)))
    return bool(error and (first.mean() - second.mean()) / error > 1.96)


# ── V9: judges that err ─────────────────────────────────────────────────────────────────


def judges(n: int, count: int, seed: int) -> Iterator[Row]:
    """A judge that errs alike shrinks an effect; one that errs by arm invents one."""
    rng = rng_of(f"V9 {n}", seed)
    alike = [_judged(moves(n, 0.15, 0.05, rng), ((0.90, 0.85),) * 2, rng) for _ in range(count)]
    seen = float(np.mean([after.mean() - before.mean() for before, after in alike]))
    yield Row("V9", "observed over true effect", f"n = {n}, judge 0.90/0.85", seen / 0.10, count,
              0.75, 0.75, 3 * float(_error(alike)) / 0.10)  # fmt: skip
    nothing = [_judged(moves(n, 0.1, 0.1, rng), ((0.90, 0.85),) * 2, rng) for _ in range(count)]
    alarms = sum(detected(two_arms(*arms)) for arms in nothing) / count
    yield Row("V9", "false alarm, judge errs alike", f"n = {n}", alarms, count, None, LEVEL)
    lenient = ((0.90, 0.85), (0.95, 0.75))
    raw = corrected = 0
    for _ in range(count):
        truth = moves(n, 0.1, 0.1, rng)
        judged = _judged(truth, lenient, rng)
        raw += detected(two_arms(*judged))
        labelled = rng.choice(n, 2 * n // 5, replace=False)
        human = {int(i): float(truth[1][i] - truth[0][i]) for i in labelled}
        found = prediction_powered(judged[1] - judged[0], human).interval
        corrected += not found.low <= 0 <= found.high
    setting = f"n = {n}, {2 * n // 5} labelled in both arms"
    yield Row("V9", "false alarm, judge lenient to one arm", f"n = {n}", raw / count, count)
    yield Row("V9", "the same, corrected by labels", setting, corrected / count, count, None, 0.06)


def _judged(arms: Arms, quality: tuple[tuple[float, float], ...], rng: Rng) -> Arms:
    """Scores as a judge of this sensitivity and specificity in each arm gives them."""
    seen = [
        np.where(scores > 0.5, rng.random(len(scores)) < right, rng.random(len(scores)) >= wrong)
        for scores, (right, wrong) in zip(arms, quality, strict=True)
    ]
    return seen[0].astype(float), seen[1].astype(float)


def _error(arms: list[Arms]) -> float:
    """Monte Carlo standard error of the mean difference."""
    means = [after.mean() - before.mean() for before, after in arms]
    return float(np.std(means) / np.sqrt(len(means)))

"""Planted ladders: do intervals cover what was planted, is the right stage named?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from validation.rows import Row, coverage
from validation.studies import ladder
from validation.worlds import STAGES, TERMS, World, sets

UPSTREAM_MINUS_READER = "upstream minus reader"


def measure(world: World, n: int, count: int, seed: int) -> Iterator[Row]:
    """Coverage of every term and naming of the largest, on sets of one world."""
    truth = world.terms()
    covered: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    named: Counter[str] = Counter()
    first: Counter[str] = Counter()
    reader_larger = 0
    for draws in sets(world, n, count, seed):
        found = ladder(draws)
        result = found.analyses[0]
        named[result.named] += 1
        largest = max((t for t in result.terms if t.name in STAGES), key=lambda t: t.value)
        first[largest.name] += 1
        for term in result.terms:
            changed[term.name] += term.fixed + term.broke
            if term.ci95 is not None:
                covered[term.name] += term.ci95.low <= truth[term.name] <= term.ci95.high
        reader_larger += any(
            e.measure == UPSTREAM_MINUS_READER and e.state == "down" for e in found.effects
        )
        _check_sum(found.analyses[0].total, [t.value for t in result.terms])
    setting = f"{world.name}, n = {n}"
    for name in TERMS:
        yield coverage("V2", name, setting, n, covered[name], changed[name], count)
    yield from _naming(world, n, count, named, setting)
    if world.bottleneck:
        share = first[world.bottleneck] / count
        yield Row("V4", "right stage has the largest number", setting, share, count)
    wrong = None if world.name == "reader-bound" else 0.05
    yield Row("V4", "reader said to lose more than upstream", setting, reader_larger / count,
              count, None, wrong)  # fmt: skip


def _naming(world: World, n: int, count: int, named: Counter[str], setting: str) -> Iterator[Row]:
    total = sum(times for name, times in named.items() if name)
    if not world.bottleneck:
        yield Row("V4", "a tied stage named", setting, total / count, count, None, 0.06)
        for stage in ("retrieval", "reader"):
            value = named[stage] / count
            yield Row("V14", f"co-failing: {stage} named", setting, value, count, None, 0.05)
        return
    right = named[world.bottleneck]
    bound = 0.93 if n == 100 and world.name.endswith("-bound") else None
    yield Row("V4", "right stage named", setting, right / count, count, bound, None)
    yield Row("V4", "wrong stage named", setting, (total - right) / count, count, None, 0.02)


def _check_sum(total: float, values: list[float]) -> None:
    if not np.isclose(sum(values), total, rtol=0, atol=1e-12):
        raise AssertionError(f"terms add up to {sum(values)}, not to {total}")

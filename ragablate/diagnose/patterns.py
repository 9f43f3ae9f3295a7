"""Stage signals side by side, and what a single run shows by their pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragablate.compare.inference.intervals import rate_interval
from ragablate.diagnose.facts import Fact, Facts
from ragablate.diagnose.traversal import SUPPORTED
from ragablate.records import Interval

HIGH = 0.8
"""A rate whose interval lies above is high, one whose interval lies below is low."""
FEWEST = 50
"""Fewer examples show no pattern."""
_FEWEST_OF_SLICE = 10
_SURE = 0.99
"""Confidence of a slice's interval: there are many slices."""

Of = Callable[[Fact], float | None]


@dataclass(frozen=True, slots=True)
class Rate:
    """One stage signal over the answers to answerable questions."""

    name: str
    """What is measured."""
    mean: float | None
    """Over the measured answers; ``None`` where there are none."""
    n: int
    """Measured answers."""
    unmeasured: int
    """Answers without a value."""
    interval: Interval | None
    """Wilson, 95 %."""


def _full(value: float | None) -> float | None:
    return None if value is None else float(value >= 1.0)


def _kept(fact: Fact, supported: float) -> float | None:
    """Faithful where all evidence was there; a refusal there is not."""
    if fact.shown is None or fact.shown < 1.0:
        return None
    if fact.abstained:
        return 0.0
    return None if fact.support is None else float(fact.support >= supported)


def signals(facts: Facts, supported: float = SUPPORTED) -> tuple[Rate, ...]:
    """Evidence, faithfulness, abstention and right answers, in the order of the pipeline."""
    asked = [f for f in facts.answers if f.answerable and f.gold]
    measures: Mapping[str, Of] = {
        "evidence in the ranking": lambda f: _full(f.ranked),
        "evidence in the prompt": lambda f: _full(f.shown),
        "faithful, evidence in the prompt": lambda f: _kept(f, supported),
        "declined": lambda f: None if f.abstained is None else float(f.abstained),
        "right": lambda f: facts.score(f),
    }
    return tuple(_rate(name, asked, of) for name, of in measures.items())


def _rate(name: str, asked: Sequence[Fact], of: Of, confidence: float = 0.95) -> Rate:
    found = (of(fact) for fact in asked)
    values = [value for value in found if value is not None and 0.0 <= value <= 1.0]
    if not values:
        return Rate(name, None, 0, len(asked), None)
    interval = rate_interval(values, confidence=confidence)
    return Rate(name, sum(values) / len(values), len(values), len(asked) - len(values), interval)


def patterns(facts: Facts, supported: float = SUPPORTED) -> tuple[str, ...]:
    """What the signals of one run show together; nothing where there are too few answers."""
    asked = [f for f in facts.answers if f.answerable and f.gold]
    if not asked:
        return ()
    if len(asked) < FEWEST:
        return (
            f"{len(asked):,} questions with gold are fewer than {FEWEST}: no pattern is read from "
            "them, and no dominant stage is named.",
        )
    return (*_reader(asked, supported), *_slices(asked))


def _reader(asked: Sequence[Fact], supported: float) -> Iterable[str]:
    """High recall and low faithfulness."""
    shown = _rate("", asked, lambda f: _full(f.shown))
    kept = _rate("", asked, lambda f: _kept(f, supported))
    if shown.interval is None or kept.interval is None or kept.n < FEWEST:
        return
    if shown.interval.low > HIGH and kept.interval.high < HIGH:
        yield (
            f"High recall, low faithfulness: the evidence was in the prompt of {shown.mean:.0%} "
            f"and {kept.mean:.0%} of those answers keep to it. Look at the reader (prompt, model, "
            "temperature); re-chunking changes the half that works and is wasted here."
        )


def _slices(asked: Sequence[Fact]) -> Iterable[str]:
    """Low recall on one value of a stratum alone."""
    names = sorted({name for fact in asked for name, _ in fact.slices})
    for name in names:
        by_value: dict[str, list[Fact]] = {}
        for fact in asked:
            value = dict(fact.slices).get(name)
            if value is not None:
                by_value.setdefault(value, []).append(fact)
        low = [value for value in sorted(by_value) if _lags(value, by_value)]
        if len(low) == 1:
            yield _lagging(name, low[0], by_value)


def _lags(value: str, by_value: Mapping[str, Sequence[Fact]]) -> bool:
    """Whether a value's recall is low and all others' together is high."""
    own = _rate("", by_value[value], _recalled, _SURE)
    rest = _rate("", _others(value, by_value), _recalled, _SURE)
    if own.interval is None or rest.interval is None or rest.mean is None:
        return False
    enough = min(own.n, rest.n) >= _FEWEST_OF_SLICE
    return (
        enough and rest.mean >= HIGH > own.interval.high and rest.interval.low > own.interval.high
    )


def _others(value: str, by_value: Mapping[str, Sequence[Fact]]) -> list[Fact]:
    return [fact for other, facts in by_value.items() if other != value for fact in facts]


def _recalled(fact: Fact) -> float | None:
    """By the ranking, or by the prompt where the log has no ranking."""
    return _full(fact.shown if fact.ranked is None else fact.ranked)


def _lagging(name: str, value: str, by_value: Mapping[str, Sequence[Fact]]) -> str:
    own = _rate("", by_value[value], _recalled)
    rest = _rate("", _others(value, by_value), _recalled)
    return (
        f"Low recall on {name}={value} alone: the evidence of {own.mean:.0%} came back there "
        f"(n = {own.n:,}), of {rest.mean:.0%} elsewhere (n = {rest.n:,}). Look at vocabulary and "
        "parsing there; change nothing for all."
    )

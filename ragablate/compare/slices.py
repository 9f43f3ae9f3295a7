"""Effects within slices of the question set: exploratory, behind a test that slices differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.compare.contrasts import ContrastSamples
from ragablate.compare.effects import Draft, Sample, decision, drafts, finish
from ragablate.compare.inference.multiplicity import benjamini_hochberg, welch_gate
from ragablate.records import Effect, Study

SMALLEST = 10
"""Fewest complete pairs of a slice that is looked at."""
FALSE_DISCOVERIES = 0.10
"""Expected share of false alarms among the slices called different from zero."""


@dataclass(frozen=True, slots=True)
class Sliced:
    """The primary effect of one contrast, by the values of one slice name."""

    name: str
    """Slice name, such as ``type``."""
    gate: float
    """p-value that all values have the same effect (Welch, augmented variances)."""
    open: bool
    """Whether the gate lets the values be read one by one."""
    effects: tuple[Effect, ...]
    """By value, sorted."""


def sliced(samples: ContrastSamples, study: Study) -> tuple[Sliced, ...]:
    """The primary effect by every slice name that has at least two values of enough size.

    1. The gate tests whether the values differ at all.
    2. Behind an open gate p-values are adjusted by Benjamini and Hochberg; behind a closed
       one none is read (adjusted to 1), and the total speaks for all.
    """
    if samples.contrast.kind == "placebo":
        return ()
    qids = samples.primary_population()[1]
    names = sorted({name for qid in qids for name in study.slices.get(qid, {})})
    found = (_one_slice(samples, study, name, qids) for name in names)
    return tuple(s for s in found if s is not None)


def _one_slice(
    samples: ContrastSamples, study: Study, name: str, qids: Sequence[str]
) -> Sliced | None:
    members: dict[str, list[str]] = {}
    for qid in qids:
        value = study.slices.get(qid, {}).get(name)
        if value is not None:
            members.setdefault(value, []).append(qid)
    found = _drafts(samples, study, {f"{name}={v}": members[v] for v in sorted(members)})
    if len(found) < 2:
        return None
    gate = _gate(found)
    is_open = gate <= study.alpha
    ps = [d.flip.p for d in found]
    adjusted = benjamini_hochberg(ps) if is_open else (1.0,) * len(ps)
    effects = (
        finish(d, decision(d, p, FALSE_DISCOVERIES), p, study)
        for d, p in zip(found, adjusted, strict=True)
    )
    return Sliced(name, gate, is_open, tuple(effects))


def _drafts(samples: ContrastSamples, study: Study, members: dict[str, list[str]]) -> list[Draft]:
    contrast, arms = samples.contrast, samples.arms
    read = samples.read(contrast.measure)
    found = [
        Sample(
            contrast,
            arms,
            contrast.measure,
            population,
            "slice",
            samples.table.pairs(read, arms, qids),
        )
        for population, qids in members.items()
    ]
    large = [sample for sample in found if len(sample.pairs.qids) >= SMALLEST]
    return [drafted for drafted in drafts(large, study) if drafted is not None]


def _gate(found: Sequence[Draft]) -> float:
    groups = {d.sample.population: d.sample.pairs.differences for d in found}
    keys = {d.sample.population: d.keys or d.sample.pairs.qids for d in found}
    return welch_gate(groups, keys, min_size=SMALLEST)

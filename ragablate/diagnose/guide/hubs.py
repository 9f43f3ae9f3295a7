"""F5: passages that come up whatever is asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, pstdev

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.finding import Evidence
from ragablate.logs import Entry

_SAMPLE = 256
_QUOTED = 120


@dataclass(slots=True)
class Frequencies:
    """How often each passage is among the first of a ranking, over all answers of a log."""

    depth: int
    """Places of a ranking that count."""
    answers: int = 0
    """Answers that have a ranking."""
    places: int = 0
    """Places they fill."""
    idle: Counter[str] = field(default_factory=Counter)
    """By pid, the rankings it is in without carrying gold."""
    golden: set[str] = field(default_factory=set)
    """Pids of rankings that they carry gold of."""

    def count(self, entry: Entry) -> None:
        """Take one answer in."""
        if entry.retrieved is None:
            return
        first = {p.pid for p in entry.retrieved[: self.depth]}
        self.answers += 1
        self.places += len(first)
        for part in entry.gold:
            there = first.intersection(part)
            if there:
                self.golden |= there
                first -= there
        self.idle.update(first)

    @property
    def passages(self) -> int:
        """How many passages came up at all."""
        return len(self.idle.keys() | self.golden)


def hubs(
    cases: Sequence[Case], known: Known, cuts: Cuts, frequencies: Frequencies
) -> Iterator[Evidence]:
    """Passages that are in far more rankings than others without carrying their gold."""
    n = frequencies.answers
    if n < cuts.hub_questions:
        return
    passages = max(frequencies.passages, len(known.given or ()))
    average = frequencies.places / passages
    least = max(cuts.hub_share * n, cuts.hub_times * average)
    often = {pid: k for pid, k in frequencies.idle.items() if k >= least}
    lengths = _odd_vectors(known, cuts, often)
    for pid, k in sorted(often.items(), key=lambda pair: (-pair[1], pair[0])):
        qids = tuple(sorted({c.qid for c in cases if pid in c.ranked[: cuts.depth]
                             and pid not in c.gold}))  # fmt: skip
        says = (f"{pid} is among the first {cuts.depth} of {k} of {n} rankings and carries the "
                f"gold of none of these; the average passage is in {average:.1f}")  # fmt: skip
        told, scores = lengths.get(pid, ("", {}))
        yield Evidence(qids, says + told, (pid,), {"share": round(k / n, 3), **scores},
                       tuple(q for q in (known.text(pid)[:_QUOTED],) if q))  # fmt: skip
    yield from _long_vectors(known, cuts, frozenset(often))


_Odd = dict[str, tuple[str, dict[str, float]]]


def _odd_vectors(known: Known, cuts: Cuts, often: Counter[str] | dict[str, int]) -> _Odd:
    """Length and closeness to the mean of hubs' vectors, beside those of other passages."""
    if not often:
        return {}
    table, source = _table(known, tuple(often))
    if not table:
        return {}
    lengths = {pid: math.hypot(*vector) for pid, vector in table.items()}
    usual = median(lengths.values())
    near = _closeness(table)
    return {
        pid: (
            f"; its vector is {lengths[pid] / usual:.2f} times the median length and "
            f"{near[pid]:+.1f} standard deviations close to the mean of all ({source})",
            {"length": round(lengths[pid], 4), "closeness": round(near[pid], 2)},
        )
        for pid in often
        if pid in table and usual
    }


def _table(known: Known, often: Sequence[str]) -> tuple[dict[str, Sequence[float]], str]:
    given = known.given or ()
    if known.vectors is not None:
        pairs = zip(given, known.vectors, strict=True)
        return {p.pid: vector for p, vector in pairs}, "vectors as given"
    if known.embed is None:
        return {}, ""
    pids = list(known.passages)
    step = max(1, len(pids) // _SAMPLE)
    chosen = list(dict.fromkeys([*(p for p in often if p in known.passages), *pids[::step]]))
    texts = [known.text(pid) for pid in chosen]
    return dict(zip(chosen, known.embed("document", texts), strict=True)), known.embedder


def _closeness(table: dict[str, Sequence[float]]) -> dict[str, float]:
    """By pid, the cosine to the mean vector in standard deviations from the average cosine."""
    centre = [fmean(values) for values in zip(*table.values(), strict=True)]
    size = math.hypot(*centre)
    cosines = {}
    for pid, vector in table.items():
        lengths = math.hypot(*vector) * size
        dot = math.fsum(a * b for a, b in zip(vector, centre, strict=True))
        cosines[pid] = dot / lengths if lengths else 0.0
    middle, spread = fmean(cosines.values()), pstdev(cosines.values())
    return {pid: (value - middle) / spread if spread else 0.0 for pid, value in cosines.items()}


def _long_vectors(known: Known, cuts: Cuts, said: frozenset[str]) -> Iterator[Evidence]:
    """Deployed vectors far longer than the others, or far closer to the mean of all."""
    if known.vectors is None:
        return
    table, _ = _table(known, ())
    lengths = {pid: math.hypot(*vector) for pid, vector in table.items()}
    usual = median(lengths.values())
    near = _closeness(table)
    for pid in table:
        long = lengths[pid] > cuts.vector_length * usual
        if pid not in said and (long or near[pid] > cuts.vector_closeness):
            says = (f"the vector of {pid} is {lengths[pid]:.3f} long, the median is {usual:.3f}; "
                    f"it is {near[pid]:+.1f} standard deviations close to the mean")  # fmt: skip
            yield Evidence((), says, (pid,), {"length": round(lengths[pid], 4),
                                              "closeness": round(near[pid], 2)})  # fmt: skip

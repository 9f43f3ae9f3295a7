"""What a log says of one answer, small enough to be kept for a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragablate.diagnose.marking import Markers
from ragablate.diagnose.traversal import CORRECT, RIGHT
from ragablate.judge.declining import declines
from ragablate.logs import Entry

ASTRAY = "astray"
"""Cites what is not in the prompt."""
UNMARKED = "unmarked"
"""States a figure and cites nothing."""
PLAIN = "plain"
"""Neither, and cites nothing."""
MARKED = "marked"
"""Cites what is in the prompt."""

Slices = tuple[tuple[str, str], ...]
"""Names and values of strata."""

_SUPPORT = ("faithfulness", "supported")


@dataclass(frozen=True, slots=True)
class Fact:
    """One answer. ``None`` is what its log does not say."""

    qid: str
    """The question."""
    replicate: int
    """The decode, from 1."""
    answerable: bool
    """Whether the corpus can answer it."""
    gold: bool
    """Whether the log says which passages carry the answer."""
    error: str
    """What went wrong; empty where nothing did."""
    empty: bool
    """Whether the answer has no word."""
    abstained: bool | None
    """Whether it declined; ``None`` where there is no answer."""
    own: float | None
    """The log's own verdict."""
    ruled: float | None
    """Right or wrong by its references; not looked at once the log has verdicts."""
    ranked: float | None
    """Share of the gold's parts of which a passage is in the ranking."""
    shown: float | None
    """The same for the prompt."""
    rank: int | None
    """Rank of the first gold passage, from 1; 0 where it is not in the ranking."""
    cites: str
    """One of ``ASTRAY``, ``UNMARKED``, ``PLAIN``, ``MARKED``; empty where nobody looked,
    because the answer is right."""
    traced: str | None
    """Passages without gold that a claim of the answer was taken from; empty where it was
    taken from none, ``None`` where the log does not say what claims rest on."""
    gated: bool
    """Whether a gate did not let the question go on."""
    verdicts: Mapping[str, float]
    """Everything the log's own verdicts say."""
    slices: Slices
    """Strata of the question."""

    @property
    def support(self) -> float | None:
        """Share of the answer that the prompt supports, as judged."""
        return next((self.verdicts[n] for n in _SUPPORT if n in self.verdicts), None)


@dataclass(frozen=True, slots=True)
class Facts:
    """The answers of one log."""

    answers: tuple[Fact, ...]
    """In file order."""
    notes: tuple[str, ...] = ()
    """What the log does not say, and what follows."""
    own: bool = False
    """Whether the log has verdicts of its own."""

    def score(self, fact: Fact) -> float | None:
        """What an answer is worth, by the log's own verdicts where it has any."""
        return fact.own if self.own else fact.ruled

    @property
    def judged(self) -> bool:
        """Whether of some answers it is known that they are right or wrong."""
        return any(self.score(fact) is not None for fact in self.answers)


class Collector:
    """Makes facts of entries.

    Args:
        phrases: What counts as declining.
        markers: How answers cite.
        measure: The verdict that says whether an answer failed.
        rule: Right or wrong by the references, for logs without verdicts.
    """

    def __init__(
        self,
        phrases: Sequence[str],
        markers: Markers,
        measure: str = CORRECT,
        rule: Callable[[Entry], float | None] | None = None,
    ) -> None:
        self.phrases = tuple(phrases)
        self.markers = markers
        self.measure = measure
        self.rule = rule
        self.own = False
        self._same: dict[Slices, Slices] = {}

    def collect(self, entries: Iterable[Entry]) -> tuple[Fact, ...]:
        """One fact an entry, in order."""
        return tuple(map(self.fact, entries))

    def fact(self, entry: Entry) -> Fact:
        """What one entry says."""
        own = entry.verdicts.get(self.measure)
        self.own = self.own or own is not None
        abstained = self._declined(entry)
        ruled = None
        if not self.own and self.rule is not None and (entry.references or not entry.answerable):
            ruled = self.rule(entry)
        score = own if self.own else ruled
        right = score is not None and score >= RIGHT
        ranking = None if entry.retrieved is None else [p.pid for p in entry.retrieved]
        return Fact(
            qid=entry.qid,
            replicate=entry.replicate,
            answerable=entry.answerable,
            gold=bool(entry.gold),
            error=entry.error,
            empty=entry.answer is not None and not entry.answer.strip(),
            abstained=abstained,
            own=own,
            ruled=ruled,
            ranked=_arrived(entry.gold, ranking),
            shown=_arrived(entry.gold, entry.shown),
            rank=_rank(entry.gold, ranking),
            cites="" if right or abstained or not entry.answer else self._cites(entry),
            traced=_traced(entry),
            gated=entry.gate is not None and entry.gate.outcome != "go",
            verdicts=entry.verdicts,
            slices=self._one(tuple(sorted(entry.slices.items()))) if entry.slices else (),
        )

    def _declined(self, entry: Entry) -> bool | None:
        if entry.abstained is not None or entry.answer is None:
            return entry.abstained
        if not entry.answer.strip():
            return False
        known = frozenset(_pids(entry)) if "[" in entry.answer else frozenset()
        return declines(entry.answer, known, self.phrases)

    def _cites(self, entry: Entry) -> str:
        answer = entry.answer or ""
        found = self.markers.read(answer, entry.shown or (), frozenset(_pids(entry)))
        if found.astray and entry.shown is not None:
            return ASTRAY
        if found.any:
            return MARKED
        return UNMARKED if found.figure else PLAIN

    def _one(self, slices: Slices) -> Slices:
        """The same object for equal strata."""
        return self._same.setdefault(slices, slices)


def _pids(entry: Entry) -> list[str]:
    return [*(p.pid for p in entry.retrieved or ()), *(entry.shown or ())]


def _arrived(gold: Sequence[Sequence[str]], pids: Sequence[str] | None) -> float | None:
    """Share of the parts of which any passage is among ``pids``."""
    if pids is None or not gold:
        return None
    there = set(pids)
    return sum(not there.isdisjoint(part) for part in gold) / len(gold)


def _rank(gold: Sequence[Sequence[str]], ranking: Sequence[str] | None) -> int | None:
    if ranking is None or not gold:
        return None
    wanted = {pid for part in gold for pid in part}
    return next((place for place, pid in enumerate(ranking, 1) if pid in wanted), 0)


def _traced(entry: Entry) -> str | None:
    if not entry.claims or not entry.gold:
        return None
    gold = {pid for part in entry.gold for pid in part}
    pids = {c.pid for c in entry.claims if c.status == "supported" and c.pid}
    return ", ".join(sorted(pids - gold))

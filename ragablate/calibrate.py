"""Finding a gate's floor: what every floor refuses, rightly and wrongly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ragablate.compare.inference.intervals import normal_quantile, wilson
from ragablate.records import Interval

FEW = 36
"""Fewer questions of a kind than this leave a rate too open to choose a floor by."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One question with the number a gate would decide on."""

    qid: str
    """The question."""
    score: float | None
    """The signal; ``None`` where nothing was found, which is refused at any floor."""
    answerable: bool
    """Whether the corpus can answer it."""
    segment: str = ""
    """Its segment."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """What a gate does to questions."""

    refused: int
    """Unanswerable questions refused: rightly."""
    unanswerable: int
    """Of how many."""
    wrong: int
    """Answerable questions refused: wrongly."""
    answerable: int
    """Of how many."""

    @property
    def correct_rate(self) -> float:
        """Share of the unanswerable questions that are refused; 0 without any."""
        return self.refused / self.unanswerable if self.unanswerable else 0.0

    @property
    def wrong_rate(self) -> float:
        """Share of the answerable questions that are refused; 0 without any."""
        return self.wrong / self.answerable if self.answerable else 0.0

    def interval(self, kind: str) -> Interval | None:
        """Wilson interval of the share ``correct`` or ``wrong``; ``None`` without a question."""
        count, n = {
            "correct": (self.refused, self.unanswerable),
            "wrong": (self.wrong, self.answerable),
        }[kind]
        return wilson(count, n) if n else None


@dataclass(frozen=True, slots=True)
class Floor(Refusals):
    """What one floor does to the questions it was tried on."""

    floor: float
    """A question is refused below it."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One question with what a gate decided."""

    qid: str
    """The question."""
    outcome: str
    """``go``, ``refuse``, ``clarify``, ``broaden``, or ``unclear`` where the gate failed."""
    answerable: bool
    """Whether the corpus can answer it."""
    segment: str = ""
    """Its segment."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Every floor that was tried, and the one that is taken."""

    floors: tuple[Floor, ...]
    """In ascending order."""
    picked: Floor | None
    """Most correct refusals under the cap, the lowest of equals; ``None`` where every floor
    that refuses anything refuses too many answerable questions, and without questions of both
    kinds."""
    warnings: tuple[str, ...]
    """What makes the rates uncertain, one sentence each."""


def sweep(questions: Sequence[Scored], max_wrong_refusal: float = 0.02) -> Sweep:
    """Try every recorded score as a floor.

    A question is refused where its score lies below the floor, so one at the floor goes on. A
    question without a score is refused by all of them.

    Args:
        questions: With their scores.
        max_wrong_refusal: Largest share of answerable questions that may be refused.
    """
    tried = sorted({q.score for q in questions if q.score is not None})
    floors = tuple(at(questions, floor) for floor in tried)
    both = {q.answerable for q in questions} == {True, False}
    allowed = [f for f in floors if both and f.refused and f.wrong_rate <= max_wrong_refusal]
    best = max(allowed, key=lambda f: (f.refused, -f.floor), default=None)
    return Sweep(floors, best, tuple(warnings(q.answerable for q in questions)))


def at(questions: Sequence[Scored], floor: float) -> Floor:
    """What one floor does."""
    below = [q for q in questions if q.score is None or q.score < floor]
    answerable = sum(q.answerable for q in questions)
    wrong = sum(q.answerable for q in below)
    return Floor(len(below) - wrong, len(questions) - answerable, wrong, answerable, floor)


def decided(questions: Sequence[Decided]) -> Refusals:
    """Both rates of a gate that says yes or no.

    Asking back is no answer, so it counts as a refusal. An unclear reply is a failure of the gate
    and counts against it on both sides: an answerable question is lost by it, and an unanswerable
    one is not refused.
    """
    kept = [q for q in questions if q.outcome != "go"]
    wrong = sum(q.answerable for q in kept)
    right = sum(not q.answerable and q.outcome != "unclear" for q in kept)
    answerable = sum(q.answerable for q in questions)
    return Refusals(right, len(questions) - answerable, wrong, answerable)


def open_cap(floor: Refusals, max_wrong_refusal: float) -> str:
    """That a floor keeps under the cap is not known for sure, in a sentence; empty where it is.

    Args:
        floor: The rates that are quoted.
        max_wrong_refusal: The cap.
    """
    interval = floor.interval("wrong")
    if interval is None or interval.high <= max_wrong_refusal:
        return ""
    said = (
        f"Its wrong refusals may be as high as {interval.high:.1%} (upper end of the 95 % "
        f"interval), above the cap of {max_wrong_refusal:.1%}"
    )
    if not max_wrong_refusal:
        return f"{said}."
    needed = math.ceil(normal_quantile(0.95) ** 2 * (1 - max_wrong_refusal) / max_wrong_refusal)
    return (
        f"{said}: to be sure of the cap takes {needed} answerable questions, none of them refused."
    )


def halves(questions: Sequence[Scored], seed: int) -> tuple[tuple[Scored, ...], tuple[Scored, ...]]:
    """Two halves, drawn within answerable and unanswerable questions: one to tune on, one that
    the quoted rates come from.
    """
    from ragablate.seeds import derive

    drawn = sorted(questions, key=lambda q: (derive(seed, "calibrate", q.qid), q.qid))
    tune: list[Scored] = []
    held: list[Scored] = []
    for kind in (True, False):
        own = [q for q in drawn if q.answerable is kind]
        tune += own[: -(-len(own) // 2)]
        held += own[-(-len(own) // 2) :]
    return tuple(tune), tuple(held)


def segments(questions: Sequence[Scored]) -> dict[str, tuple[Scored, ...]]:
    """Questions by segment, those without one apart under the empty name."""
    names = sorted({q.segment for q in questions})
    return {name: tuple(q for q in questions if q.segment == name) for name in names}


def warnings(kinds: Iterable[bool]) -> Iterator[str]:
    """What makes rates uncertain, one sentence each.

    Args:
        kinds: Of each question, whether it is answerable.
    """
    counts = Counter(kinds)
    for kind, name in ((True, "answerable"), (False, "unanswerable")):
        n = counts[kind]
        if not n:
            yield f"There is no {name} question: this rate cannot be known."
        elif n < FEW:
            error = 100 * math.sqrt(0.25 / n)
            yield (
                f"{n} {name} questions: a rate of one half is known to ±{error:.0f} points (one "
                f"standard error); {FEW} or more are wanted."
            )

"""Putting gold into a context: back at its rank, or where a policy says, under the budget."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragablate.intervene.placing import by_rank
from ragablate.records import Context, ContextPassage, Evicted
from ragablate.seeds import derive

POSITIONS = ("random", "first", "last")
"""Named positions, beside ``rank:J``."""


@dataclass(frozen=True, slots=True)
class Supply:
    """The gold that one context gets."""

    retrieved: tuple[ContextPassage, ...]
    """What was retrieved, or stands in the context cut short."""
    unretrieved: tuple[ContextPassage, ...]
    """The rest."""

    @classmethod
    def of(cls, passages: Iterable[ContextPassage], known: Collection[str]) -> Supply:
        """Passages told apart by whether their pid is known to ranking or context."""
        new = tuple(passages)
        return cls(
            tuple(p for p in new if p.pid in known), tuple(p for p in new if p.pid not in known)
        )

    def __bool__(self) -> bool:
        return bool(self.retrieved or self.unretrieved)

    def back(
        self, passages: Sequence[ContextPassage], rank: Mapping[str, int]
    ) -> list[ContextPassage]:
        """``passages`` with the retrieved gold where it stands cut short, or at its rank."""
        full = {p.pid: p for p in self.retrieved}
        result = [full.pop(p.pid, p) for p in passages]
        for passage in sorted(full.values(), key=lambda p: rank[p.pid]):
            result = by_rank(result, rank, passage)
        return result


@dataclass(frozen=True, slots=True)
class Position:
    """Where gold goes that was not retrieved."""

    name: str
    """``random``, ``first``, ``last``, or ``rank:J`` with a number from 1."""
    seed: int = 0
    """Of ``random``; the place depends on it and the question alone."""

    def problems(self) -> list[str]:
        """Unknown positions."""
        if self.name in POSITIONS or self._rank() is not None:
            return []
        return [
            f"position is '{self.name}': choose one of {', '.join(POSITIONS)}, or rank:J with a "
            "number from 1"
        ]

    def put(
        self, qid: str, passages: Sequence[ContextPassage], new: Sequence[ContextPassage]
    ) -> list[ContextPassage]:
        """``passages`` with ``new`` among them, in order where the place is not random."""
        result = list(passages)
        for number, passage in enumerate(new):
            result.insert(self._at(qid, number, len(result)), passage)
        return result

    def _at(self, qid: str, number: int, length: int) -> int:
        if self.name == "random":
            return derive(self.seed, qid, number) % (length + 1)
        if self.name == "last":
            return length
        return (self._rank() or 1) - 1 + number

    def _rank(self) -> int | None:
        name, _, number = self.name.partition(":")
        if name != "rank" or not number.isascii() or not number.isdigit() or int(number) < 1:
            return None
        return int(number)


def evicted(
    before: Context,
    passages: Sequence[ContextPassage],
    displaced: Iterable[ContextPassage],
    rank: Mapping[str, int],
) -> tuple[Evicted, ...]:
    """What is left out now, in the order of the ranking.

    Args:
        before: The context as assembled.
        passages: What is shown now.
        displaced: What gave way to the budget.
        rank: Rank of each retrieved pid.
    """
    inside = {p.pid for p in passages}
    out = [e for e in before.evicted if e.pid not in inside]
    out += [Evicted(p.pid, "displaced") for p in displaced]
    return tuple(sorted(out, key=lambda e: rank.get(e.pid, len(rank))))

"""The context with the evidence it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragablate.errors import AdapterError
from ragablate.intervene.evidence import choose, gold_passages, is_gold, ranks
from ragablate.intervene.placing import by_rank, displace
from ragablate.protocols import InterveneRequest
from ragablate.records import Context, ContextPassage, Evicted, GoldPassage, Item
from ragablate.seeds import derive

SUPPLIES = ("evicted", "unretrieved", "all")
POSITIONS = ("random", "first", "last")


class WithGold:
    """The assembled context, its distractors kept, completed by the gold it lacks.

    Each part of the gold that the context does not cover as text is completed by what it
    lacks of one alternative: of the one that needs the fewest passages that were not
    retrieved, then the fewest, then the first. Of gold that is only known to lie in a
    document one passage is supplied. Which gold is lacking does not depend on ``supply``,
    so what ``evicted`` and ``unretrieved`` supply is together what ``all`` supplies.

    Gold that was retrieved, but evicted or cut short, goes back in full at its rank: a
    passage that is cut short is replaced where it stands. Gold that was not retrieved goes
    where ``position`` says. Where that breaks the budget, the lowest-ranked passages that
    are not gold are displaced until it holds; gold is never displaced, even if it alone
    breaks the budget. A context that covers every part is unchanged, and so is that of a
    question without evidence, be it unanswerable or an eval gap.

    Args:
        supply: ``evicted`` (what was retrieved and is not shown in full), ``unretrieved``
            (what is not in the ranking), or ``all``.
        position: ``random``; ``rank:J``, from 1; ``first`` or ``last``, which place all
            gold there, also gold that already stood elsewhere in the context.
        seed: Of ``random``; the place depends on it and the question alone.
    """

    def __init__(self, supply: str = "all", position: str = "random", seed: int = 0) -> None:
        self.supply = supply
        self.position = position
        self.seed = seed

    def problems(self) -> list[str]:
        """Unknown supplies and positions."""
        found = []
        if self.supply not in SUPPLIES:
            found.append(f"supply is '{self.supply}': choose one of {', '.join(SUPPLIES)}")
        if self.position not in POSITIONS and _rank(self.position) is None:
            found.append(
                f"position is '{self.position}': choose one of {', '.join(POSITIONS)}, or "
                "rank:J with a number from 1"
            )
        return found

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """One completed context a question."""
        for problem in self.problems():
            raise AdapterError(f"context: {problem}")
        for request in requests:
            yield Item(request.id, self._complete(request))

    def _complete(self, request: InterveneRequest) -> Context:
        before = request.context
        rank = ranks(request)
        supplied = _Supply.of(request, rank, self.supply)
        golds = gold_passages(request.gold)
        passages = supplied.back(before.passages, rank)
        if supplied and before.budget_tokens is not None:
            room = before.budget_tokens - sum(p.tokens for p in supplied.unretrieved)
            passages = displace(passages, rank, [is_gold(p, golds) for p in passages], room)
        passages = self._place(request.question.qid, passages, supplied.unretrieved)
        if self.position in ("first", "last"):
            # A stable sort: within gold, and within the rest, the order stays.
            front = self.position == "first"
            passages = sorted(passages, key=lambda p: is_gold(p, golds) != front)
        return Context(tuple(passages), _evicted(before, passages, rank), before.budget_tokens)

    def _place(
        self, qid: str, passages: list[ContextPassage], new: Sequence[ContextPassage]
    ) -> list[ContextPassage]:
        result = list(passages)
        for number, passage in enumerate(new):
            at = len(result)
            if self.position == "random":
                at = derive(self.seed, qid, number) % (len(result) + 1)
            elif self.position not in ("first", "last"):
                at = (_rank(self.position) or 1) - 1 + number
            result.insert(at, passage)
        return result


@dataclass(frozen=True, slots=True)
class _Supply:
    """What one context gets."""

    retrieved: tuple[ContextPassage, ...]
    unretrieved: tuple[ContextPassage, ...]

    @classmethod
    def of(cls, request: InterveneRequest, rank: Mapping[str, int], supply: str) -> _Supply:
        shown = list(request.context.passages)
        lacking: dict[str, GoldPassage] = {}
        for part in request.gold.parts:
            for gold in choose(part, shown, rank).lacking:
                lacking[gold.passage.pid] = gold
                shown.append(gold.passage)
        known = {*rank, *(p.pid for p in request.context.passages)}
        new = [g.passage for g in lacking.values()]
        return cls(
            tuple(p for p in new if p.pid in known and supply != "unretrieved"),
            tuple(p for p in new if p.pid not in known and supply != "evicted"),
        )

    def __bool__(self) -> bool:
        return bool(self.retrieved or self.unretrieved)

    def back(
        self, passages: Sequence[ContextPassage], rank: Mapping[str, int]
    ) -> list[ContextPassage]:
        """``passages`` with the retrieved gold in full."""
        full = {p.pid: p for p in self.retrieved}
        result = [full.pop(p.pid, p) for p in passages]
        for passage in sorted(full.values(), key=lambda p: rank[p.pid]):
            result = by_rank(result, rank, passage)
        return result


def _evicted(
    before: Context, passages: Sequence[ContextPassage], rank: Mapping[str, int]
) -> tuple[Evicted, ...]:
    """What is left out now, in the order of the ranking."""
    inside = {p.pid for p in passages}
    out = [e for e in before.evicted if e.pid not in inside]
    out += [Evicted(p.pid, "displaced") for p in before.passages if p.pid not in inside]
    return tuple(sorted(out, key=lambda e: rank.get(e.pid, len(rank))))


def _rank(position: str) -> int | None:
    name, _, number = position.partition(":")
    if name != "rank" or not number.isascii() or not number.isdigit() or int(number) < 1:
        return None
    return int(number)

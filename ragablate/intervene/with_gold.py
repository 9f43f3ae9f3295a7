"""The context with the evidence it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragablate.errors import AdapterError
from ragablate.intervene.evidence import choose, gold_passages, is_gold, ranks
from ragablate.intervene.placing import displace
from ragablate.intervene.supplying import Position, Supply, evicted
from ragablate.protocols import InterveneRequest
from ragablate.records import Context, GoldPassage, Item

SUPPLIES = ("evicted", "unretrieved", "all")


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
        return found + Position(self.position).problems()

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """One completed context a question."""
        for problem in self.problems():
            raise AdapterError(f"context: {problem}")
        for request in requests:
            yield Item(request.id, self._complete(request))

    def _complete(self, request: InterveneRequest) -> Context:
        before = request.context
        rank = ranks(request)
        supply = _supply(request, rank, self.supply)
        golds = gold_passages(request.gold)
        passages = supply.back(before.passages, rank)
        if supply and before.budget_tokens is not None:
            room = before.budget_tokens - sum(p.tokens for p in supply.unretrieved)
            passages = displace(passages, rank, [is_gold(p, golds) for p in passages], room)
        gathered = self.position in ("first", "last")
        place = Position("last" if gathered else self.position, self.seed)
        passages = place.put(request.question.qid, passages, supply.unretrieved)
        if gathered:
            # A stable sort: within gold, and within the rest, the order stays.
            front = self.position == "first"
            passages = sorted(passages, key=lambda p: is_gold(p, golds) != front)
        inside = {p.pid for p in passages}
        displaced = [p for p in before.passages if p.pid not in inside]
        return Context(
            tuple(passages), evicted(before, passages, displaced, rank), before.budget_tokens
        )


def _supply(request: InterveneRequest, rank: Mapping[str, int], supply: str) -> Supply:
    """What one context gets of the gold it lacks."""
    shown = list(request.context.passages)
    lacking: dict[str, GoldPassage] = {}
    for part in request.gold.parts:
        for gold in choose(part, shown, rank).lacking:
            lacking[gold.passage.pid] = gold
            shown.append(gold.passage)
    known = {*rank, *(p.pid for p in request.context.passages)}
    found = Supply.of((g.passage for g in lacking.values()), known)
    return Supply(
        found.retrieved if supply != "unretrieved" else (),
        found.unretrieved if supply != "evicted" else (),
    )

"""Which gold a context holds, and which gold would complete it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragablate.gold import covered
from ragablate.protocols import InterveneRequest
from ragablate.records import ContextPassage, GoldPassage, ResolvedAlternative, ResolvedGold


def gold_passages(gold: ResolvedGold) -> list[GoldPassage]:
    """Every gold passage of a question, of all parts and alternatives."""
    return [g for part in gold.parts for alternative in part for g in alternative.passages]


def is_gold(shown: ContextPassage, golds: Sequence[GoldPassage]) -> bool:
    """Whether a passage is gold, by its pid or because it holds the text of gold."""
    return any(shown.pid == g.passage.pid or covered(g, [shown]) for g in golds)


def ranks(request: InterveneRequest) -> dict[str, int]:
    """Rank of each retrieved pid, from 0."""
    return {hit.pid: rank for rank, hit in enumerate(request.retrieved)}


@dataclass(frozen=True, slots=True)
class Choice:
    """The alternative by which a part of the gold is covered, or is best completed."""

    alternative: ResolvedAlternative
    """The chosen one."""
    lacking: tuple[GoldPassage, ...]
    """What the context lacks of it; empty where it covers the part."""

    @property
    def whole(self) -> tuple[GoldPassage, ...]:
        """All gold of the alternative. Of a document, where any one passage counts, all
        passages in which evidence is located or, where it is in none, all passages.
        """
        if not self.alternative.any_of:
            return self.alternative.passages
        located = tuple(g for g in self.alternative.passages if g.evidence)
        return located or self.alternative.passages


def choose(
    part: Sequence[ResolvedAlternative],
    passages: Sequence[ContextPassage],
    rank: Mapping[str, int],
) -> Choice:
    """The alternative of a part that is nearest to a context.

    It lacks the fewest passages that were neither retrieved nor shown; of equals it lacks
    the fewest at all; of equals it is the first. So an alternative that the context covers
    comes before all others.

    Args:
        part: Its alternatives; at least one.
        passages: The context.
        rank: Rank of each retrieved pid.
    """
    known = {*rank, *(p.pid for p in passages)}
    choices = [Choice(a, _lacking(a, passages, rank)) for a in part]
    return min(
        choices,
        key=lambda c: (sum(g.passage.pid not in known for g in c.lacking), len(c.lacking)),
    )


def _lacking(
    alternative: ResolvedAlternative, passages: Sequence[ContextPassage], rank: Mapping[str, int]
) -> tuple[GoldPassage, ...]:
    lacking = tuple(g for g in alternative.passages if not covered(g, passages))
    if not alternative.any_of:
        return lacking
    if len(lacking) < len(alternative.passages):
        return ()
    # Of a document one passage is enough: the likeliest to carry the evidence.
    last = len(rank)
    best = min(lacking, key=lambda g: (not g.evidence, rank.get(g.passage.pid, last)))
    return (best,)

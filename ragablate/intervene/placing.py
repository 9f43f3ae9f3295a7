"""Where a passage goes in a context that it was not part of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragablate.records import ContextPassage


def by_rank(
    passages: Sequence[ContextPassage], rank: Mapping[str, int], new: ContextPassage
) -> list[ContextPassage]:
    """``passages`` with ``new`` next to its neighbours in rank.

    In a context with the best first or last, the ranks stay in order. In any other order it
    stands beside the passage of the next better rank, on the side of the next worse one.

    Args:
        passages: In prompt order.
        rank: Rank of each retrieved pid; passages without one are no neighbours.
        new: Has a rank.
    """
    own = rank[new.pid]
    places = {rank[p.pid]: i for i, p in enumerate(passages) if p.pid in rank}
    better = max((r for r in places if r < own), default=None)
    worse = min((r for r in places if r > own), default=None)
    if better is None and worse is None:
        at = len(passages)
    elif better is None or worse is None:
        falling = places[min(places)] > places[max(places)]
        neighbour = places[better if better is not None else worse]  # type: ignore[index]
        at = neighbour + ((better is None) == falling)
    else:
        at = places[better] + (places[better] < places[worse])
    return [*passages[:at], new, *passages[at:]]


def displace(
    passages: Sequence[ContextPassage],
    rank: Mapping[str, int],
    kept: Sequence[bool],
    room: int,
) -> list[ContextPassage]:
    """``passages`` without those of the worst rank that do not fit into ``room`` tokens.

    Args:
        passages: In prompt order.
        rank: Rank of each retrieved pid; a passage without one is the first to go.
        kept: Which passages must stay, even if they alone take more room.
        room: Tokens there are for them.
    """
    total = sum(p.tokens for p in passages)
    last = len(rank)
    order = sorted(
        (i for i, keep in enumerate(kept) if not keep),
        key=lambda i: (rank.get(passages[i].pid, last), i),
    )
    gone = set()
    while total > room and order:
        worst = order.pop()
        total -= passages[worst].tokens
        gone.add(worst)
    return [p for i, p in enumerate(passages) if i not in gone]

"""Which passage an answer was taken from, where it was the wrong one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragablate.gold import covered
from ragablate.judge.claims import claims_in
from ragablate.judge.lexical import Lexical
from ragablate.judge.support import Ask, Support
from ragablate.records import Claim, ContextPassage, ResolvedGold


def grounded_elsewhere(
    answer: str,
    passages: Sequence[ContextPassage],
    gold_pids: Collection[str],
    support: Support | None = None,
    pids: Collection[str] = (),
) -> tuple[Claim, ...]:
    """The claims of an answer that a passage without gold supports and no gold passage does.

    Of a wrong answer these are its grounds in the wrong passage: ``claim.pid`` names it. A claim
    of a right answer among them says that the gold is not all the evidence there is.

    Args:
        answer: What was said.
        passages: What the reader was given.
        gold_pids: Those of them that carry gold (see ``gold_shown`` and ``TraceLine.gold_pids``).
        support: What decides; ``None`` compares words, without a model.
        pids: Those the answer's citation markers may name.

    Returns:
        Claims in the order of the answer, each ``supported`` with the pid that supports it.
    """
    [found] = elsewhere([(tuple(claims_in(answer, pids)), tuple(passages), gold_pids)], support)
    return found


def elsewhere(
    many: Sequence[tuple[Sequence[str], tuple[ContextPassage, ...], Collection[str]]],
    support: Support | None = None,
) -> list[tuple[Claim, ...]]:
    """``grounded_elsewhere`` for many answers at once: claims, passages and gold pids of each."""
    decides = support or Lexical()
    asks = [Ask(c, _split(shown, gold)[1]) for said, shown, gold in many for c in said]
    of_gold = [Ask(c, _split(shown, gold)[0]) for said, shown, gold in many for c in said]
    decided = iter(zip(decides.check(asks), decides.check(of_gold), strict=True))
    found = []
    for said, _, _ in many:
        pairs = [next(decided) for _ in said]
        found.append(
            tuple(
                other
                for other, own in pairs
                if isinstance(other, Claim)
                and isinstance(own, Claim)
                and taken_elsewhere(other, own)
            )
        )
    return found


def taken_elsewhere(other: Claim, own: Claim) -> bool:
    """Whether a claim is supported by passages without gold and, for certain, not by gold."""
    return other.status == "supported" and own.status in ("unsupported", "contradicted")


def gold_shown(resolved: ResolvedGold, passages: Sequence[ContextPassage]) -> frozenset[str]:
    """Pids of those passages that carry gold: by pid, or because they hold it as text."""
    gold = [g for part in resolved.parts for a in part for g in a.passages]
    named = {g.passage.pid for g in gold}
    return frozenset(
        p.pid for p in passages if p.pid in named or any(covered(g, [p]) for g in gold)
    )


def _split(
    passages: tuple[ContextPassage, ...], gold: Collection[str]
) -> tuple[tuple[ContextPassage, ...], tuple[ContextPassage, ...]]:
    return (
        tuple(p for p in passages if p.pid in gold),
        tuple(p for p in passages if p.pid not in gold),
    )

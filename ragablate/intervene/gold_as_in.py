"""The context with the evidence of another arm's context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragablate.errors import AdapterError
from ragablate.gold import covered, present_parts
from ragablate.intervene.evidence import choose, gold_passages, is_gold, ranks
from ragablate.intervene.placing import displace
from ragablate.intervene.supplying import Position, Supply, evicted
from ragablate.protocols import InterveneRequest
from ragablate.records import (
    Context,
    ContextPassage,
    GoldPassage,
    Item,
    ResolvedAlternative,
    ResolvedGold,
)


class GoldAsIn:
    """The assembled context, its distractors kept, with exactly the gold of another arm's.

    Part by part of the gold, as text:

    * Both contexts cover the part, or neither does: nothing is done for it.
    * Only the other covers it: it is completed by gold that the other shows, of the
      alternative that lacks the fewest passages.
    * Only this one covers it: the passages of all its alternatives are taken out.

    Passages may serve several parts, so this is repeated until each part is covered in both
    contexts or in neither. Gold is shown as this assembler renders it in full or, where the
    other shows it cut short or under another pid, as the other does.

    Added gold that was retrieved here goes back at its rank, or stands where it stood cut
    short; the rest goes where ``position`` says. Where that breaks the budget, the
    lowest-ranked passages that are not gold are displaced until it holds; gold of any part
    is never displaced. The space of gold taken out stays empty. The context of a question
    without evidence, be it unanswerable or an eval gap, is unchanged.

    Source: Imai, Tingley and Yamamoto, "Experimental designs for identifying causal
    mechanisms": a mediator that can be set needs no assumption.

    Args:
        arm: Name of the arm whose context says which gold is there.
        position: ``random``, ``first``, ``last``, or ``rank:J`` with a number from 1, for
            added gold that was not retrieved.
        seed: Of ``random``; the place depends on it and the question alone.
    """

    def __init__(self, arm: str, position: str = "random", seed: int = 0) -> None:
        self.arm = arm
        self.position = position
        self.seed = seed

    def problems(self) -> list[str]:
        """Unknown positions, and no arm to refer to."""
        unnamed = [] if self.arm else ["arm is empty: name the arm whose gold is to be shown"]
        return unnamed + Position(self.position).problems()

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """One context a question, covering the parts that the other arm's covers.

        Raises:
            AdapterError: A knob is wrong, or the other arm's context is missing.
        """
        for problem in self.problems():
            raise AdapterError(f"context: {problem}")
        for request in requests:
            if request.other is None:
                raise AdapterError(
                    f"context: arm '{self.arm}' has no context for question "
                    f"'{request.question.qid}': name an arm of this plan that is not itself "
                    "edited after another"
                )
            yield Item(request.id, self._edited(request, request.other))

    def _edited(self, request: InterveneRequest, other: Context) -> Context:
        before = request.context
        rank = ranks(request)
        edit = _edit(request.gold, before.passages, other.passages, rank)
        if edit is None:
            return before
        supply = Supply.of(edit.added, {*rank, *(p.pid for p in edit.kept)})
        passages = full = supply.back(edit.kept, rank)
        if supply and before.budget_tokens is not None:
            golds = gold_passages(request.gold)
            room = before.budget_tokens - sum(p.tokens for p in supply.unretrieved)
            passages = displace(full, rank, [is_gold(p, golds) for p in full], room)
        displaced = [p for p in full if p not in passages]
        place = Position(self.position, self.seed)
        passages = place.put(request.question.qid, passages, supply.unretrieved)
        return Context(
            tuple(passages), evicted(before, passages, displaced, rank), before.budget_tokens
        )


@dataclass(frozen=True, slots=True)
class _Edit:
    """What is done to one context."""

    kept: list[ContextPassage]
    """Of its passages those that stay, also where another version takes their place."""
    added: list[ContextPassage]
    """Gold that it gets."""


def _edit(
    gold: ResolvedGold,
    own: Sequence[ContextPassage],
    other: Sequence[ContextPassage],
    rank: Mapping[str, int],
) -> _Edit | None:
    """How ``own`` comes to cover the parts that ``other`` covers; ``None`` where it does.

    This ends: in every turn a passage of ``own`` goes, or one of ``other`` is added. A part
    that the other does not cover cannot be covered by passages of the other alone.
    """
    wanted = present_parts(gold, other)
    shown, added = {p.pid: p for p in own}, dict[str, ContextPassage]()
    while (now := present_parts(gold, tuple(shown.values()))) != wanted:
        turns = list(zip(gold.parts, now, wanted, strict=True))
        surplus = [g for part, has, may in turns if has and not may for a in part
                   for g in a.passages]  # fmt: skip
        if surplus:
            shown = {pid: p for pid, p in shown.items() if pid in added or not is_gold(p, surplus)}
            continue
        part = next(part for part, has, may in turns if may and not has)
        lacking = choose(_shown_by(part, other), tuple(shown.values()), rank).lacking
        added |= {p.pid: p for p in (_version(g, other) for g in lacking)}
        shown |= added
    if not added and len(shown) == len(own):
        return None
    return _Edit([p for p in own if p.pid in shown], list(added.values()))


def _shown_by(
    part: Sequence[ResolvedAlternative], other: Sequence[ContextPassage]
) -> list[ResolvedAlternative]:
    """The alternatives that a context covers; of a document, the passages it holds."""
    found = []
    for alternative in part:
        held = tuple(g for g in alternative.passages if covered(g, other))
        if held and (alternative.any_of or len(held) == len(alternative.passages)):
            found.append(replace(alternative, passages=held))
    return found


def _version(gold: GoldPassage, other: Sequence[ContextPassage]) -> ContextPassage:
    """The passage that covers gold in the other context, rendered here where it is whole."""
    shown = next(p for p in other if covered(gold, [p]))
    own = gold.passage
    same = (shown.pid, shown.body, shown.truncated) == (own.pid, own.body, own.truncated)
    return own if same else shown

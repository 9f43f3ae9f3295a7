"""Whether gold is there: as text in a context, or by pid in a ranking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ragablate.records import ContextPassage, GoldPassage, ResolvedAlternative, ResolvedGold


def is_gap(resolved: ResolvedGold) -> bool:
    """Whether the question should have gold, and none of it could be resolved in full."""
    return resolved.answerable and not resolved.parts


def covered(gold: GoldPassage, passages: Sequence[ContextPassage]) -> bool:
    """Whether a context holds one gold passage as text.

    A passage with its pid must hold every piece of evidence or, where the evidence is not
    located, be whole. The same text under another pid counts alike. Gold that is in no
    corpus is also held by any passage in which its text occurs.
    """
    return any(_holds(shown, gold) for shown in passages)


def present_parts(resolved: ResolvedGold, passages: Sequence[ContextPassage]) -> tuple[bool, ...]:
    """Per part of the gold whether a context holds one of its alternatives in full."""
    return _parts(resolved, lambda gold: covered(gold, passages))


def present(resolved: ResolvedGold, passages: Sequence[ContextPassage]) -> tuple[int, int]:
    """How many parts of the gold a context holds as text, and how many there are.

    Both are 0 for an eval gap and for an unanswerable question.
    """
    parts = present_parts(resolved, passages)
    return sum(parts), len(parts)


def retrieved_parts(resolved: ResolvedGold, pids: Collection[str]) -> tuple[int, int]:
    """How many parts of the gold a ranking covers by pid, and how many there are."""
    found = frozenset(pids)
    parts = _parts(resolved, lambda gold: gold.passage.pid in found)
    return sum(parts), len(parts)


def _parts(resolved: ResolvedGold, there: Callable[[GoldPassage], bool]) -> tuple[bool, ...]:
    return tuple(
        any(_satisfied(alternative, there) for alternative in part) for part in resolved.parts
    )


def _satisfied(alternative: ResolvedAlternative, there: Callable[[GoldPassage], bool]) -> bool:
    quantifier = any if alternative.any_of else all
    return quantifier(there(gold) for gold in alternative.passages)


def _cut(shown: str, body: str) -> bool:
    """Whether a body is only the beginning of another, whatever its assembler says."""
    shown, body = shown.rstrip(), body.rstrip()
    return len(shown) < len(body) and body.startswith(shown)


def _holds(shown: ContextPassage, gold: GoldPassage) -> bool:
    body = gold.passage.body
    if shown.pid == gold.passage.pid:
        if gold.evidence:
            return all(piece in shown.body for piece in gold.evidence)
        whole = not shown.truncated and not _cut(shown.body, body)
        return whole and set(shown.removed) <= set(gold.passage.removed)
    if not gold.indexed and body in shown.body:
        return True
    if not shown.body or not body.startswith(shown.body):
        return False
    # A duplicate, of which the end may be cut off.
    if gold.evidence:
        return all(piece in shown.body for piece in gold.evidence)
    return shown.body == body

"""What two logs prove to have been held fixed between the arms they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ragablate.logs import Entry
from ragablate.proofs.exhibit import failed, passed, questions, unchecked
from ragablate.records import ContrastKind, Proof

Pairs = list[tuple[Entry, Entry]]
_INTERVENTIONS: Mapping[str, ContrastKind] = {"oracle": "oracle", "closed_book": "closed_book"}


class Held(NamedTuple):
    """What moved between two arms, and what shows it."""

    kind: ContrastKind
    """What the contrast intervenes on."""
    variable: str
    """The stage."""
    proofs: tuple[Proof, ...]
    """Of what was held fixed."""


class _Same(NamedTuple):
    """How often something was the same, differed, or is not in the logs."""

    same: int
    differ: int
    unknown: int
    first: str


def held(role: str, pairs: Pairs, reader_fixed: bool = False) -> Held:
    """What moved between control and the arm of a role.

    The one thing that moved is taken from the logs, never from the name of the role; only
    ``oracle`` and ``closed_book`` name interventions on the context, which their contexts
    must show.

    Args:
        role: Name of the arm.
        pairs: Answers of control and of the arm.
        reader_fixed: The arm stands for a change of contexts, even where none changed.
    """
    context, ranking = _contexts(pairs), _compare(pairs, _ranking)
    reader = {
        "model": _compare(pairs, lambda e: e.model or None),
        "decoding": _compare(pairs, lambda e: e.decoding),
        "prompt": _prompts(pairs),
    }
    moved = [name for name, found in reader.items() if found.differ]
    kind, variable = _kind(role, context, ranking, bool(moved))
    if reader_fixed and kind == "reader":
        kind, variable = "context", "context"
    proofs = [_questions(pairs), _one(kind, context, reader, moved)]
    if kind == "reader":
        proofs.append(_held_contexts(context, len(pairs)))
    else:
        proofs.append(_held_reader(reader, moved, len(pairs)))
        proofs += _treated(role, context, pairs)
    return Held(kind, variable, tuple(proofs))


def _kind(role: str, context: _Same, ranking: _Same, moved: bool) -> tuple[ContrastKind, str]:
    if role in _INTERVENTIONS:
        return _INTERVENTIONS[role], "context"
    if not context.differ and (moved or not context.unknown):
        return "reader", "reader"
    if not ranking.differ and not ranking.unknown:
        return "assembler", "assembler"
    return "upstream", "retriever"


def _prompts(pairs: Pairs) -> _Same:
    """By the prompt outside the evidence where both logs have it, else by their version."""
    if all(b.frame_digest and a.frame_digest for b, a in pairs):
        return _compare(pairs, lambda e: e.frame_digest)
    return _compare(pairs, lambda e: e.reader or None)


def _ranking(entry: Entry) -> Any:
    return None if entry.retrieved is None else tuple(p.pid for p in entry.retrieved)


def _contexts(pairs: Pairs) -> _Same:
    """By text where both logs have it, else by digest; ids alone prove only a difference."""
    same, differ, unknown = 0, [], 0
    for before, after in pairs:
        if before.context is not None and after.context is not None:
            equal = [p.text for p in before.context] == [p.text for p in after.context]
        elif before.context_digest and after.context_digest:
            equal = before.context_digest == after.context_digest
        elif None not in (before.shown, after.shown) and before.shown != after.shown:
            equal = False
        else:
            unknown += 1
            continue
        same += equal
        if not equal:
            differ.append(before.qid)
    return _Same(same, len(differ), unknown, min(differ, default=""))


def _compare(pairs: Pairs, of: Callable[[Entry], Any]) -> _Same:
    same, differ, unknown = 0, [], 0
    for before, after in pairs:
        one, other = of(before), of(after)
        if one is None or other is None:
            unknown += 1
        elif one == other:
            same += 1
        else:
            differ.append(before.qid)
    return _Same(same, len(differ), unknown, min(differ, default=""))


def _questions(pairs: Pairs) -> Proof:
    wrong = {b.qid: "text" for b, a in pairs if b.question != a.question}
    wrong |= {
        b.qid: "gold"
        for b, a in pairs
        if b.answerable != a.answerable
        or (b.references and a.references and b.references != a.references)
        or (b.gold and a.gold and b.gold != a.gold)
    }
    if wrong:
        named = ", ".join(f"{qid}: {wrong[qid]}" for qid in sorted(wrong)[:3])
        text = f"{questions(len(wrong))} differ between the arms ({named}); paired effects need "
        return failed("INV-1", "refuse", text + "the same questions")
    return passed("INV-1", f"{len(pairs)} answers to the same questions in both logs")


def _one(
    kind: ContrastKind, context: _Same, reader: Mapping[str, _Same], moved: list[str]
) -> Proof:
    """INV-4, from what moved: a context and a reader are two variables."""
    if context.differ and moved:
        return failed(
            "INV-4",
            "confounded",
            f"two variables changed: the context (on {questions(context.differ)}), the reader "
            f"({', '.join(moved)}); the single difference cannot be split. Missing arms: the new "
            "contexts with control's reader, control's contexts with the new reader",
        )
    unknown = [name for name, found in reader.items() if found.unknown]
    if kind == "reader" and not moved and unknown:
        text = f"the logs do not say what changed: no {', '.join(unknown)} in one of them"
        return failed("INV-4", "descriptive", text)
    return passed("INV-4", "the logs show one change: " + (
        f"the reader ({', '.join(moved) or 'nothing recorded differs'})"
        if kind == "reader" else "what the reader is shown"
    ))  # fmt: skip


def _held_contexts(context: _Same, n: int) -> Proof:
    if context.unknown:
        return failed(
            "INV-2",
            "descriptive",
            f"the logs do not hold {context.unknown} of {n} contexts, as text or digest, so it "
            "cannot be proven that the contexts were the same",
        )
    return passed("INV-2", f"{context.same}/{n} contexts byte-identical")


def _held_reader(reader: Mapping[str, _Same], moved: list[str], n: int) -> Proof:
    unknown = [name for name, found in reader.items() if found.unknown]
    if moved:
        named = ", ".join(f"{name} on {questions(reader[name].differ)}" for name in moved)
        return failed("INV-3", "confounded", f"the reader differs: {named}")
    if unknown:
        return failed(
            "INV-3",
            "descriptive",
            f"the logs do not hold the reader's {', '.join(unknown)}, so it cannot be proven "
            "that the reader was the same",
        )
    return passed("INV-3", f"model, decoding and prompt the same on {n} answers")


def _treated(role: str, context: _Same, pairs: Pairs) -> list[Proof]:
    """INV-12: a treatment took place, and an intervention is what it is called."""
    if context.same == len(pairs):
        text = f"identical contexts on {len(pairs)}/{len(pairs)} answers: no treatment was applied"
        return [failed("INV-12", "refuse", text)]
    if role == "closed_book":
        seen = [a.qid for _, a in pairs if a.shown]
        if seen:
            text = f"the closed book shows passages on {questions(len(seen))} ({seen[0]}, …)"
            return [failed("INV-12", "refuse", text)]
        if any(a.shown is None for _, a in pairs):
            return [unchecked("INV-12", "the log does not say that nothing was shown")]
    if role == "oracle":
        return [_only_gold(pairs)]
    return []


def _only_gold(pairs: Pairs) -> Proof:
    known = [
        (b, a) for b, a in pairs if b.answerable and (a.gold or b.gold) and a.shown is not None
    ]
    lacking = [
        a.qid for b, a in known
        if not all(set(part) & set(a.shown or ()) for part in (a.gold or b.gold))
    ]  # fmt: skip
    if lacking:
        text = f"the oracle context lacks gold on {questions(len(lacking))} ({lacking[0]}, …)"
        return failed("INV-12", "refuse", text)
    more = [
        a.qid for b, a in known
        if set(a.shown or ()) - {pid for part in (a.gold or b.gold) for pid in part}
    ]  # fmt: skip
    if more:
        text = f"the oracle context shows more than gold on {questions(len(more))} ({more[0]}, …): "
        return failed("INV-12", "refuse", text + "name the arm otherwise, such as with_gold")
    if len(known) < sum(b.answerable for b, _ in pairs):
        text = "the logs do not hold gold and shown ids of every question, so it cannot be proven "
        return failed("INV-12", "descriptive", text + "that the oracle showed the gold")
    return passed(
        "INV-12", f"every part of the gold and nothing else shown on {questions(len(known))}"
    )

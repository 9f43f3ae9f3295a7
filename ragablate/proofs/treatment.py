"""Manipulation checks: every arm did to every context what its name says, and did something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ragablate.gold import covered, present, present_parts
from ragablate.proofs.exhibit import Exhibit, failed, first, passed, questions, unchecked
from ragablate.records import Context, ContextPassage, GoldPassage, Proof, ResolvedGold
from ragablate.traces import TraceLine, context_of, gold_parts

_WITH_GOLD = "ragablate.intervene.with_gold.WithGold"
_GOLD_AS_IN = "ragablate.intervene.gold_as_in.GoldAsIn"
_BY_KIND = {"oracle": "oracle", "closed_book": "closed_book", "necessity": "without_gold"}


@dataclass(frozen=True, slots=True)
class Edited:
    """One question's context before and after an intervention."""

    gold: ResolvedGold
    """What evidence is."""
    before: Context
    """In control."""
    after: Context
    """In the treatment."""
    retrieved: frozenset[str]
    """Pids of control's ranking."""
    other: Context | None
    """Of the arm an intervention refers to."""

    @property
    def golds(self) -> tuple[GoldPassage, ...]:
        """Every passage that carries gold."""
        return tuple(g for part in self.gold.parts for a in part for g in a.passages)

    @property
    def pids(self) -> frozenset[str]:
        """Their pids."""
        return frozenset(pid for part in gold_parts(self.gold) for pid in part)

    def carries(self, passage: ContextPassage) -> bool:
        """Whether a passage is gold, by its pid or by its text."""
        return passage.pid in self.pids or any(covered(g, [passage]) for g in self.golds)

    def distractors(self, context: Context) -> set[str]:
        """Passages of a context that carry no gold."""
        return {p.pid for p in context.passages if not self.carries(p)}


Rule = tuple[str, Callable[[Edited], bool]]
"""What a failure says, and what must hold of every question with gold."""


def _full(e: Edited) -> bool:
    there, parts = present(e.gold, e.after.passages)
    return there == parts


def _keeps_distractors(e: Edited) -> bool:
    return bool(e.distractors(e.after)) or not e.distractors(e.before)


def _only_repairs(e: Edited) -> bool:
    if e.before.passages == e.after.passages:
        return True
    lost = [g for g in e.golds if not covered(g, e.before.passages)]
    return any(g.passage.pid in e.retrieved for g in lost)


def _only_finds(e: Edited) -> bool:
    if e.before.passages == e.after.passages:
        return True
    lost = [g for g in e.golds if not covered(g, e.before.passages)]
    return any(g.passage.pid not in e.retrieved for g in lost)


def _gold_first(e: Edited) -> bool:
    flags = [e.carries(p) for p in e.after.passages]
    return flags == sorted(flags, reverse=True)


def _as_other(e: Edited) -> bool:
    if e.other is None:
        return True
    return present_parts(e.gold, e.after.passages) == present_parts(e.gold, e.other.passages)


def _own_distractors(e: Edited) -> bool:
    return e.distractors(e.after) <= e.distractors(e.before)


CROWDED = 0.05
"""Share of questions on which gold may crowd out every distractor before nothing is claimed."""

_ROOM = (
    "the budget leaves no room for a passage without gold beside the gold (raise "
    "assembler.budget_tokens)",
    _keeps_distractors,
)
_RULES: Mapping[str, tuple[Rule, ...]] = {
    "oracle": (
        ("the oracle context does not hold all gold as text", _full),
        ("the oracle context holds passages without gold", lambda e: not e.distractors(e.after)),
    ),
    "closed_book": (("the closed book holds passages", lambda e: not e.after.passages),),
    "without_gold": (
        ("gold is left in the context without gold",
         lambda e: not any(map(e.carries, e.after.passages))),
    ),
    "with_gold": (("gold is missing in the context with gold", _full), _ROOM),
    "with_gold_first": (
        ("gold is missing in the context with gold", _full),
        _ROOM,
        ("a passage without gold stands before the gold", _gold_first),
    ),
    "with_evicted_gold": (
        ("a context changed that had lost no retrieved gold", _only_repairs),
        _ROOM,
    ),
    "with_unretrieved_gold": (
        ("a context changed that lacked no gold outside the ranking", _only_finds),
        _ROOM,
    ),
    "gold_as_in": (
        ("the context does not cover the parts of the gold that the other arm's covers", _as_other),
        ("the context got passages without gold", _own_distractors),
    ),
}  # fmt: skip


def took_effect(x: Exhibit) -> Proof | None:
    """INV-12: the treatment is what it is called, and it was applied."""
    if x.contrast.kind == "placebo":
        return None
    if x.contrast.kind == "reader":
        return _another_reader(x)
    rules = _RULES.get(_intervention(x), ())
    if rules and x.contrast.kind != "closed_book" and not _located(x):
        text = "the gold is recorded as it lies in control's corpus, and this arm has another"
        return unchecked("INV-12", text)
    limit = None
    for rule in rules:
        complaint, holds = rule
        broken = _broken(x, holds)
        if not broken:
            continue
        text = f"{complaint} on {len(broken)} of {questions(x.asked)} (first: {first(broken, 1)})"
        if rule is not _ROOM or len(broken) > CROWDED * x.asked:
            return failed("INV-12", "refuse", text)
        limit = failed("INV-12", "warn", text)
    changed = _changed(x)
    return limit if limit is not None and changed.status == "pass" else changed


def _located(x: Exhibit) -> bool:
    """Whether it is recorded how the gold lies in the corpus of the treatment."""
    return x.beside.corpus in ("", x.after.corpus) or all(
        x.after.corpus in question.elsewhere for question in x.after.questions.values()
    )


def _another_reader(x: Exhibit) -> Proof:
    before, after = (side.arm.fingerprints["reader"] for side in x.sides)
    if before == after:
        return failed("INV-12", "refuse", "both arms have the same reader: no treatment")
    changed = len(x.where(lambda b, a: b.answer != a.answer))
    return passed("INV-12", f"another reader; {changed} of {x.asked} answers changed")


def _intervention(x: Exhibit) -> str:
    """Which rules the treatment's intervention must keep; empty for one of the user's own."""
    if x.contrast.kind in _BY_KIND:
        return _BY_KIND[x.contrast.kind]
    knobs = _knobs(x)
    if x.contrast.kind != "context" or knobs.get("_target_") not in (_WITH_GOLD, _GOLD_AS_IN):
        return ""
    if knobs["_target_"] == _GOLD_AS_IN:
        return "gold_as_in"
    if knobs.get("supply") != "all":
        supplied = str(knobs.get("supply"))
        return f"with_{supplied}_gold" if supplied in ("evicted", "unretrieved") else ""
    return "with_gold_first" if knobs.get("position") == "first" else "with_gold"


def _knobs(x: Exhibit) -> dict[str, object]:
    """The treatment's own intervention, as its config sets it."""
    prefix = "context."
    return {
        c.key.removeprefix(prefix): c.treatment
        for c in x.after.arm.changes
        if c.key.startswith(prefix)
    }


def _broken(x: Exhibit, holds: Callable[[Edited], bool]) -> list[str]:
    """Questions that do not keep a rule; those without gold to speak of keep every rule."""
    return x.where(lambda b, a: a.error is None and b.error is None and not _kept(x, b, a, holds))


def _kept(x: Exhibit, b: TraceLine, a: TraceLine, holds: Callable[[Edited], bool]) -> bool:
    question = x.after.questions[a.qid]
    if question.eval_gap or not question.gold.answerable:
        return _intervention(x) != "closed_book" or not a.prompt_pids
    other = x.beside.traces.get(str(_knobs(x).get("arm", "")), {}).get((a.qid, 1))
    return holds(
        Edited(
            question.gold_in(x.after.corpus),
            context_of(b, x.contexts),
            context_of(a, x.contexts),
            frozenset(hit.pid for hit in b.retrieved),
            context_of(other, x.contexts) if other is not None else None,
        )
    )


def _changed(x: Exhibit) -> Proof:
    changed = len(x.where(lambda b, a: b.context_digest != a.context_digest))
    if not changed and x.may_change_nothing:
        text = f"nothing to edit: contexts are identical on {x.asked}/{x.asked}"
        return passed("INV-12", text)
    if not changed:
        return failed(
            "INV-12",
            "refuse",
            f"contexts are identical on {x.asked}/{x.asked} questions: no treatment was applied "
            "(the effect is 0 by construction)",
        )
    return passed("INV-12", f"the treatment changed {changed} of {x.asked} contexts")

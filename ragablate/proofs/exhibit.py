"""What the proofs of one contrast are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ragablate.observed import Observed
from ragablate.records import Arm, Change, Contrast, Proof
from ragablate.traces import ContextLine, QuestionLine, TraceLine

Consequence = Literal["refuse", "confounded", "descriptive", "exploratory", "warn"]
Key = tuple[str, int]
"""Question and replicate."""
Pair = tuple[TraceLine, TraceLine]
"""The traces of one question in control and treatment."""


@dataclass(frozen=True, slots=True)
class Side:
    """One arm of a contrast, with all that its execution recorded of it."""

    arm: Arm
    """With the fingerprints of its adapters and the leaves that differ from its control."""
    traces: Mapping[Key, TraceLine]
    """By qid and replicate."""
    questions: Mapping[str, QuestionLine]
    """By qid."""
    corpus: str
    """Digest of what was searched."""
    judges: Mapping[str, str]
    """Fingerprints of the judges, by name."""
    scores: Mapping[Key, float | None] = field(default_factory=dict)
    """On the contrast's measure, by qid and replicate."""
    observed: Observed | None = None
    """What the execution watched itself doing; ``None`` where it was not recorded."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What else the plan holds that bears on a contrast."""

    traces: Mapping[str, Mapping[Key, TraceLine]] = field(default_factory=dict)
    """Of every arm, by name."""
    scores: Mapping[str, Mapping[Key, float | None]] = field(default_factory=dict)
    """Of every arm on the contrast's measure, by qid and replicate."""
    placebo: Arm | None = None
    """Control asked again, where the plan has it."""
    closed_book: tuple[str, str] | None = None
    """Names of a control and of the arm that shows it no passages."""
    plan: str = ""
    """Digest of the plan, fixed before anything was scored."""
    decodes: int = 1
    """Replicates per question and arm."""
    judged_late: bool = False
    """Whether the contrast's measure is of a judge chosen after others had scored the answers."""
    corpus: str = ""
    """Digest of the corpus that the questions' gold was resolved in; empty is unknown."""


@dataclass(frozen=True)
class Exhibit:
    """What the proofs of one contrast are made from.

    Args:
        contrast: The contrast.
        before: Control.
        after: Treatment.
        contexts: By digest.
        changes: Leaves of the resolved configs that differ.
        beside: What else the plan holds.
        may_change_nothing: A repair that finds nothing to repair is no missing treatment.
        elsewhere: The arms come from two executions: what differs can be seen, not refused.
        frame: The prompt outside the evidence, by prompt digest, to be quoted.
    """

    contrast: Contrast
    before: Side
    after: Side
    contexts: Mapping[str, ContextLine]
    changes: tuple[Change, ...]
    beside: Beside = field(default_factory=Beside)
    may_change_nothing: bool = False
    elsewhere: bool = False
    frame: Callable[[str], str] | None = None

    @cached_property
    def pairs(self) -> list[Pair]:
        """Traces of the same question and replicate in both arms, by qid.

        A replicate that control does not have, such as a placebo's, pairs with its first.
        """
        first = {qid: line for (qid, _), line in sorted(self.before.traces.items(), reverse=True)}
        return [
            (self.before.traces.get((qid, replicate), first[qid]), line)
            for (qid, replicate), line in sorted(self.after.traces.items())
            if qid in first
        ]

    @cached_property
    def asked(self) -> int:
        """Questions that both arms have."""
        return len({b.qid for b, _ in self.pairs})

    def where(self, test: Callable[[TraceLine, TraceLine], bool]) -> list[str]:
        """Questions on which some pair meets a test, sorted."""
        return sorted({b.qid for b, a in self.pairs if test(b, a)})

    @property
    def sides(self) -> tuple[Side, Side]:
        """Control and treatment."""
        return self.before, self.after


def passed(invariant: str, text: str) -> Proof:
    """The invariant holds."""
    return Proof(invariant, "pass", "", text)


def failed(invariant: str, consequence: Consequence, text: str) -> Proof:
    """The invariant is broken, or holds with a limit where the consequence is to warn."""
    status: Literal["fail", "warn"] = "warn" if consequence == "warn" else "fail"
    return Proof(invariant, status, consequence, text)


def unchecked(invariant: str, text: str) -> Proof:
    """Nothing was recorded that could show it: a limit that is said."""
    return Proof(invariant, "not_checked", "warn", text)


def first(qids: Iterable[str], shown: int = 3) -> str:
    """The first few qids, such as ``q4, q7, q9, …``."""
    some: Sequence[str] = sorted(qids)
    return ", ".join(some[:shown]) + (", …" if 1 < shown < len(some) else "")


def questions(count: int) -> str:
    """``1 question``, ``3 questions``."""
    return f"{count} question{'' if count == 1 else 's'}"

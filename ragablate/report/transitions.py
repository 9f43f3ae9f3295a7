"""How answers move between two arms: evidence against faithfulness, and failure buckets.

Counts of the same questions before and after, descriptive: what brought a move about is for
the effects to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragablate.bundle.read import Bundle
from ragablate.compare.scores import ABSTAINED, EVIDENCE_IN_CONTEXT, FAITHFULNESS
from ragablate.diagnose import BUCKETS, bucket
from ragablate.diagnose.traversal import OK, SUPPORTED

Key = tuple[str, int]
"""A question and a decode."""
States = Mapping[Key, str]
"""What became of each answer."""

_EVIDENCE = ("evidence in context", "evidence lacking")
_SAID = ("faithful", "not faithful", "declined", "unmeasured")
EVIDENCE_STATES = tuple(f"{evidence}, {said}" for evidence in _EVIDENCE for said in _SAID)
"""Every state of an answer by evidence and faithfulness, in a fixed order."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Answers by their state in control (rows) and in the treatment (columns)."""

    before: tuple[str, ...]
    """States of control that occur, in order."""
    after: tuple[str, ...]
    """States of the treatment that occur, in order."""
    counts: Mapping[tuple[str, str], int]
    """Answers by both states; absent where there are none."""

    @property
    def total(self) -> int:
        """Answers that both arms have."""
        return sum(self.counts.values())

    @property
    def stayed(self) -> int:
        """Answers of the same state in both."""
        return sum(n for (before, after), n in self.counts.items() if before == after)

    @property
    def fixed(self) -> int:
        """Answers that failed in control and do not in the treatment."""
        return sum(n for (before, after), n in self.counts.items() if before != OK == after)

    @property
    def broken(self) -> int:
        """Answers that did not fail in control and do in the treatment."""
        return sum(n for (before, after), n in self.counts.items() if before == OK != after)

    @property
    def moved(self) -> int:
        """Answers that fail in both, in another way."""
        return sum(
            n
            for (before, after), n in self.counts.items()
            if before != after and OK not in (before, after)
        )


def matrix(before: States, after: States, order: Sequence[str]) -> Matrix:
    """The moves of all answers that both arms have.

    Args:
        before: Control's.
        after: The treatment's.
        order: Every state that may occur.
    """
    counts = Counter((before[key], after[key]) for key in before if key in after)
    return Matrix(
        tuple(state for state in order if any(state == row for row, _ in counts)),
        tuple(state for state in order if any(state == column for _, column in counts)),
        counts,
    )


def by_evidence(bundle: Bundle, arm: str) -> dict[Key, str]:
    """Answerable questions with usable gold: was the evidence there, was the answer faithful.

    Faithful is an answer of which the context supports at least 80 % of the claims.
    """
    found: dict[Key, str] = {}
    for key, values in _verdicts(bundle, arm):
        question = bundle.questions[key[0]]
        evidence = values.get(EVIDENCE_IN_CONTEXT)
        if question.gold.answerable and not question.eval_gap and evidence is not None:
            found[key] = f"{_EVIDENCE[evidence < 1.0]}, {_said(values)}"
    return found


def _said(values: Mapping[str, float | None]) -> str:
    if values.get(ABSTAINED) == 1.0:
        return "declined"
    support = values.get(FAITHFULNESS)
    if support is None:
        return "unmeasured"
    return "faithful" if support >= SUPPORTED else "not faithful"


def by_bucket(bundle: Bundle, arm: str, measure: str) -> dict[Key, str]:
    """Every answer by where its failure surfaced in the log.

    Args:
        bundle: The bundle.
        arm: The arm.
        measure: The verdict that says whether an answer failed.
    """
    verdicts = dict(_verdicts(bundle, arm))
    found: dict[Key, str] = {}
    for line in bundle.traces[arm]:
        values = verdicts.get((line.qid, line.replicate), {})
        if values.get(measure) is not None or line.error is not None:
            found[line.qid, line.replicate] = bucket(line, values, measure=measure)
    return found


def buckets(bundle: Bundle, arm: str, measure: str, other: str) -> Matrix:
    """The moves of all answers between failure buckets, from one arm to another."""
    return matrix(by_bucket(bundle, arm, measure), by_bucket(bundle, other, measure), BUCKETS)


def _verdicts(bundle: Bundle, arm: str) -> Iterator[tuple[Key, dict[str, float | None]]]:
    found: dict[Key, dict[str, float | None]] = {}
    for verdict in bundle.verdicts.get(arm, ()):
        found.setdefault((verdict.qid, verdict.replicate), {})[verdict.measure] = verdict.value
    yield from found.items()

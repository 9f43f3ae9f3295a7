"""The ladder's arithmetic: what each question lacks, split over the rungs without remainder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ragablate.compare.populations import answerable, evidence_full
from ragablate.compare.scores import ABSTAINED, FAITHFULNESS, Replicates, ScoreTable, extremes
from ragablate.records import Analysis

GATE = "gate"
ASSEMBLY = "assembly"
RETRIEVAL = "retrieval"
ORDERING = "ordering"
DISTRACTOR = "distractor"
READER = "reader"
LABEL = "source-or-label"
READER_OR_LABEL = "reader-or-label"
JOINT = "joint"

ONE_SIDED = (READER, LABEL, READER_OR_LABEL, JOINT)
"""Terms that are never negative."""

UNGATED = "B'"
NOT_OBSERVED = "not observed"

FAITHFUL = "faithful"
UNMEASURED = "unmeasured"
REFUSED = "refused_despite_evidence"
UNSUPPORTED = "unsupported"
OTHER = "other"

ZERO, ONE = Fraction(0), Fraction(1)
Parts = dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder: what is repaired, and what the loss is called."""

    name: str
    """The term."""
    before: str
    """Role of the arm without the repair."""
    after: str
    """Role of the arm with it."""
    given_evidence: bool
    """Whether it is read only where the evidence was in the context before any repair."""


def rungs(analysis: Analysis) -> tuple[Rung, ...]:
    """The steps of a ladder, in the order of the pipeline."""
    base = base_of(analysis)
    found = (
        Rung(ASSEMBLY, base, "A", False),
        Rung(RETRIEVAL, "A", "D", False),
        Rung(ORDERING, "D", "S", True),
        Rung(DISTRACTOR, "S", "O", True),
    )
    return found if base == "B" else (Rung(GATE, "B", UNGATED, False), *found)


def base_of(analysis: Analysis) -> str:
    """The role whose context the repairs start from: control, without its gate if it has one."""
    return UNGATED if UNGATED in analysis.arms else "B"


def order_of(analysis: Analysis) -> str:
    """The name of the result, which the order of the rungs is part of."""
    steps = rungs(analysis)
    return "ladder " + ">".join([steps[0].before, *(rung.after for rung in steps)])


@dataclass(frozen=True, slots=True)
class Complete:
    """One question that was measured on every rung."""

    qid: str
    """The question."""
    evidence: bool
    """Whether all gold was in the context before any repair."""
    scores: Mapping[str, tuple[Fraction, ...]]
    """By role, one score a decode."""
    oracle: tuple[str, ...]
    """How each decode answered with exactly the gold before it."""

    def mean(self, role: str) -> Fraction:
        """Mean over the decodes: whole successes added first and divided once."""
        values = self.scores[role]
        return values[0] if len(values) == 1 else sum(values, ZERO) / len(values)

    def path(self, steps: Sequence[Rung]) -> list[Fraction]:
        """The score before the first rung and after each; a rung that is not read adds 0."""
        found = [self.mean(steps[0].before)]
        for rung in steps:
            read = self.evidence or not rung.given_evidence
            found.append(self.mean(rung.after) if read else found[-1])
        return found

    def losses(self, steps: Sequence[Rung]) -> Parts:
        """Every term; they add up to 1 minus control's score."""
        path = self.path(steps)
        found = {rung.name: path[i + 1] - path[i] for i, rung in enumerate(steps)}
        found |= {READER: ZERO, LABEL: ZERO, READER_OR_LABEL: ZERO, JOINT: ZERO}
        if not self.evidence:
            found[JOINT] = ONE - path[-1]
            return found
        for outcome, lost in self.short().items():
            charged = {FAITHFUL: LABEL, UNMEASURED: READER_OR_LABEL}.get(outcome, READER)
            found[charged] += lost
        return found

    def short(self) -> Parts:
        """What is lacking with exactly the gold, by how it was answered."""
        found: Parts = {}
        for score, outcome in zip(self.scores["O"], self.oracle, strict=True):
            found[outcome] = found.get(outcome, ZERO) + (ONE - score) / len(self.oracle)
        return {outcome: lost for outcome, lost in found.items() if lost}

    def more_than_one_fix(self) -> Parts:
        """What became of the joint loss as the gold was moved to the front, then left alone."""
        if self.evidence:
            return {}
        return {
            "mended by moving the gold first": self.mean("S") - self.mean("D"),
            "mended by the gold alone": self.mean("O") - self.mean("S"),
            "left with the gold alone": ONE - self.mean("O"),
        }


@dataclass(frozen=True, slots=True)
class Incomplete:
    """One question that is unmeasured on some rung: only bounds of its terms are known."""

    qid: str
    """The question."""
    evidence: bool | None
    """As for complete ones; ``None`` where it was not measured."""
    scores: Mapping[str, tuple[Fraction, Fraction]]
    """Lowest and highest mean by role."""

    def bounds(self, steps: Sequence[Rung]) -> dict[str, tuple[Fraction, Fraction]]:
        """Lowest and highest value of every term."""
        found = {rung.name: self._rung(rung) for rung in steps}
        oracle = ONE - self.scores["O"][0]
        short = (ZERO, ZERO if self.evidence is False else oracle)
        low, high = self.scores["D"]
        joint = (ONE - high if self.evidence is False else ZERO, ONE - low)
        found[JOINT] = (ZERO, ZERO) if self.evidence else joint
        return found | dict.fromkeys((READER, LABEL, READER_OR_LABEL), short)

    def _rung(self, rung: Rung) -> tuple[Fraction, Fraction]:
        if rung.given_evidence and self.evidence is False:
            return ZERO, ZERO
        before, after = self.scores[rung.before], self.scores[rung.after]
        low, high = after[0] - before[1], after[1] - before[0]
        if rung.given_evidence and self.evidence is None:
            return min(ZERO, low), max(ZERO, high)
        return low, high


@dataclass(frozen=True)
class Climb:
    """The answerable questions of a ladder, measured on its rungs."""

    steps: tuple[Rung, ...]
    """The rungs."""
    complete: tuple[Complete, ...]
    """Measured on every rung, by qid: the questions every term is a mean over."""
    incomplete: tuple[Incomplete, ...]
    """The others, by qid."""
    replicates: int
    """Decodes per question and arm."""
    whole: bool
    """Every score is 0 or 1."""
    supported: bool
    """Whether it was measured that an oracle answer is faithful to the gold."""

    @cached_property
    def qids(self) -> tuple[str, ...]:
        """The common question set."""
        return tuple(q.qid for q in self.complete)

    @cached_property
    def columns(self) -> dict[str, tuple[Fraction, ...]]:
        """Every term of every common question."""
        losses = [q.losses(self.steps) for q in self.complete]
        names = [*(rung.name for rung in self.steps), *ONE_SIDED]
        return {name: tuple(each[name] for each in losses) for name in names}

    def only(self, qids: Iterable[str]) -> Climb:
        """The same ladder on some of the questions."""
        kept = frozenset(qids)
        return Climb(
            self.steps,
            tuple(q for q in self.complete if q.qid in kept),
            tuple(q for q in self.incomplete if q.qid in kept),
            self.replicates,
            self.whole,
            self.supported,
        )

    def mean(self, role: str) -> Fraction:
        """Mean score of one arm on the common questions."""
        return sum((q.mean(role) for q in self.complete), ZERO) / len(self.complete)


def climb(table: ScoreTable, analysis: Analysis) -> Climb:
    """Read every answerable question with usable gold on every rung.

    An oracle answer is *faithful* where every one of its claims is supported by the gold; a
    refusal and a failed answer never are.
    """
    steps = rungs(analysis)
    roles = [steps[0].before, *(rung.after for rung in steps)]
    arms = {role: analysis.arms[role] for role in roles}
    rows = {
        qid: {role: table.values(arm, analysis.measure, qid) for role, arm in arms.items()}
        for qid in answerable(table.study)
    }
    replicates = max((len(v) for row in rows.values() for v in row.values()), default=1)
    complete: list[Complete] = []
    incomplete: list[Incomplete] = []
    for qid, row in rows.items():
        evidence = evidence_full(table, analysis.arms[base_of(analysis)], qid)
        scores = {role: tuple(_exact(values)) for role, values in row.items()}
        if evidence is not None and all(len(s) == replicates for s in scores.values()):
            oracle = tuple(_oracle(table, arms["O"], qid, replicates))
            complete.append(Complete(qid, evidence, scores, oracle))
        else:
            bounds = {role: _extremes(values, replicates) for role, values in row.items()}
            incomplete.append(Incomplete(qid, evidence, bounds))
    return Climb(
        steps,
        tuple(complete),
        tuple(incomplete),
        max(1, replicates),
        all(v.is_integer() for row in rows.values() for vs in row.values() for v in vs if v),
        FAITHFULNESS in table.study.scores.get(arms["O"], {}),
    )


def _exact(values: Replicates) -> Iterator[Fraction]:
    return (Fraction(value) for value in values if value is not None)


def _extremes(values: Replicates, replicates: int) -> tuple[Fraction, Fraction]:
    low, high = extremes(values, replicates)
    return Fraction(low), Fraction(high)


def _oracle(table: ScoreTable, arm: str, qid: str, replicates: int) -> Iterator[str]:
    """How each decode of the oracle arm answered, whether rightly or not."""
    refused = table.values(arm, ABSTAINED, qid)
    faithful = table.values(arm, FAITHFULNESS, qid)
    failed = qid in table.study.errors.get(arm, {})
    for k in range(replicates):
        if k < len(refused) and refused[k] == 1.0:
            yield REFUSED
            continue
        support = faithful[k] if k < len(faithful) else None
        if support is None:
            yield OTHER if failed else UNMEASURED
        else:
            yield FAITHFUL if support == 1.0 else UNSUPPORTED

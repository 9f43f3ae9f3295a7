"""What the tiers found in a set of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ragablate.diagnose.tiers.causes import ADVICE, PIPELINE_ERROR

_MANY_VALUES = 20


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """One failing question."""

    qid: str
    """The question."""
    cause: str
    """What is suspected."""
    tier: Literal["metrics", "judge"]
    """What it was told by."""
    evidence: Mapping[str, Any]
    """Metric values, missing passages, the judge's verdicts, the error."""


@dataclass(frozen=True)
class TierReport:
    """Every question looked at, and what is suspected of those that fail.

    Args:
        metadata: By qid, the question's metadata; every question that was looked at.
        diagnoses: Failing questions, in the order of the log.
        inconclusive: By qid, why the judge decided nothing; no failures.
        notes: What could not be looked at.
    """

    metadata: Mapping[str, Mapping[str, str]]
    diagnoses: tuple[Diagnosed, ...]
    inconclusive: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def questions(self) -> int:
        """How many were looked at."""
        return len(self.metadata)

    @cached_property
    def failure_rate(self) -> float:
        """Failing questions over all questions."""
        return len(self.diagnoses) / self.questions if self.questions else 0.0

    @cached_property
    def breakdown(self) -> dict[str, int]:
        """Failing questions by cause, the most frequent first."""
        counts = Counter(one.cause for one in self.diagnoses)
        order = list(ADVICE)
        return dict(sorted(counts.items(), key=lambda kv: (-kv[1], order.index(kv[0]))))

    @cached_property
    def shares(self) -> dict[str, float]:
        """Causes as shares of the failures."""
        return {cause: n / len(self.diagnoses) for cause, n in self.breakdown.items()}

    @cached_property
    def patterns(self) -> dict[str, dict[str, float]]:
        """Failures over questions by every value of the questions' metadata.

        Fields with a single value, or with more than 20, group nothing and are left out.
        """
        failing = {one.qid for one in self.diagnoses}
        asked: dict[str, Counter[str]] = {}
        failed: Counter[tuple[str, str]] = Counter()
        for qid, metadata in self.metadata.items():
            for name, value in metadata.items():
                asked.setdefault(name, Counter())[value] += 1
                failed[name, value] += qid in failing
        return {
            name: {value: failed[name, value] / n for value, n in sorted(counts.items())}
            for name, counts in sorted(asked.items())
            if 1 < len(counts) <= _MANY_VALUES
        }

    @cached_property
    def recommendations(self) -> tuple[str, ...]:
        """What to look at, by the dominant cause; failing calls first, which hide the rest."""
        causes = sorted(self.breakdown, key=lambda cause: cause != PIPELINE_ERROR)
        return tuple(ADVICE[cause] for cause in causes)

    def summary(self) -> str:
        """The report in a few lines."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterable[str]:
        n = len(self.diagnoses)
        yield f"{n:,}/{self.questions:,} questions fail ({self.failure_rate:.0%})"
        if self.inconclusive:
            yield f"{len(self.inconclusive):,} inconclusive: the judge decided nothing of them"
        if self.diagnoses:
            yield from ("", "Suspected, as shares of the failures:")
            wide = max(map(len, self.breakdown))
            for cause, count in self.breakdown.items():
                yield f"  {cause:<{wide}}  {count:>5,}  ({self.shares[cause]:.0%})"
        for name, rates in self.patterns.items():
            said = ", ".join(f"{value} {rate:.0%}" for value, rate in rates.items())
            yield from ("", f"Failures by {name}: {said}")
        if self.recommendations:
            yield from ("", "What to look at:")
            yield from (f"  {n}. {text}" for n, text in enumerate(self.recommendations, 1))
        yield from (f"Note: {note}" for note in self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {
            "questions": self.questions,
            "failures": len(self.diagnoses),
            "failure_rate": self.failure_rate,
            "breakdown": self.breakdown,
            "shares": self.shares,
            "patterns": self.patterns,
            "recommendations": list(self.recommendations),
            "inconclusive": dict(self.inconclusive),
            "notes": list(self.notes),
            "diagnoses": [
                {"qid": d.qid, "cause": d.cause, "tier": d.tier, "evidence": dict(d.evidence)}
                for d in self.diagnoses
            ],
        }

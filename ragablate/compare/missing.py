"""Answers that are missing: how many in each arm, and what they could do to an effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.compare.inference.randomization import sign_flip
from ragablate.compare.populations import clusters
from ragablate.compare.scores import Pairs, Reading, extremes
from ragablate.records import Study

TOLERATED = 0.05
"""Share of missing answers in an arm above which a difference is no longer called causal."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What is missing in the two arms of a contrast, on the questions of its primary effect."""

    questions: int
    """Questions asked for."""
    unmeasured: tuple[int, int]
    """Without a complete score, in control and treatment."""
    errors: tuple[int, int]
    """With a failure of any kind, scored or not, in control and treatment."""
    p: float
    """Exact test of *errored or not*: whether failures fall on one arm."""

    @property
    def share(self) -> float:
        """Missing scores in the worse arm, as a share."""
        return max(self.unmeasured) / self.questions

    @property
    def everything(self) -> int | None:
        """0 or 1 where all answers of control or treatment are missing or errors, else ``None``."""
        for arm in (0, 1):
            if self.questions in (self.unmeasured[arm], self.errors[arm]):
                return arm
        return None


def missing(study: Study, read: Reading, arms: tuple[str, str], qids: Sequence[str]) -> Missing:
    """Count what is missing in two arms over the given questions."""
    unmeasured = tuple(sum(_incomplete(read(arm, qid)) for qid in qids) for arm in arms)
    errored = [[float(qid in study.errors.get(arm, {})) for qid in qids] for arm in arms]
    differences = [t - c for c, t in zip(*errored, strict=True)]
    flip = sign_flip(differences, clusters=clusters(study, qids), denominator=1, seed=study.seed)
    return Missing(
        questions=len(qids),
        unmeasured=(unmeasured[0], unmeasured[1]),
        errors=(int(sum(errored[0])), int(sum(errored[1]))),
        p=flip.p,
    )


def worst_cases(
    read: Reading, arms: tuple[str, str], qids: Sequence[str], complete: Pairs
) -> tuple[Pairs, Pairs]:
    """All questions, with what is missing scored most against and most for the treatment."""
    k = complete.replicates
    control = [extremes(read(arms[0], qid)[:k], k) for qid in qids]
    treatment = [extremes(read(arms[1], qid)[:k], k) for qid in qids]

    def bound(side: int) -> Pairs:
        return Pairs(
            qids=tuple(qids),
            control=tuple(c[1 - side] for c in control),
            treatment=tuple(t[side] for t in treatment),
            unmeasured=0,
            replicates=k,
            whole=complete.whole,
        )

    return bound(0), bound(1)


def _incomplete(values: Sequence[float | None]) -> bool:
    return not values or any(v is None for v in values)

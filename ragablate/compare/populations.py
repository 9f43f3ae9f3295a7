"""The questions an effect is about: answerable, unanswerable, strata of control's evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragablate.compare.scores import EVIDENCE_IN_CONTEXT, ScoreTable
from ragablate.records import Study

ANSWERABLE = "answerable"
UNANSWERABLE = "unanswerable"
EVIDENCE_FULL = "evidence full"
EVIDENCE_NOT_FULL = "evidence not full"
KEPT_PRESENT = "kept present"
RETRIEVAL_DEPENDENT = "retrieval-dependent"


def answerable(study: Study) -> tuple[str, ...]:
    """Answerable questions with usable gold, sorted; eval gaps are out."""
    return tuple(sorted(q for q in study.qids if study.answerable[q] and q not in study.eval_gaps))


def unanswerable(study: Study) -> tuple[str, ...]:
    """Questions whose right answer is to abstain, sorted."""
    return tuple(sorted(q for q in study.qids if not study.answerable[q]))


def evidence_full(table: ScoreTable, arm: str, qid: str) -> bool | None:
    """Whether every gold part was in the context; ``None`` where it was not measured."""
    value = table.mean(arm, EVIDENCE_IN_CONTEXT, qid)
    return None if value is None else value == 1.0


def strata(table: ScoreTable, arms: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    """Answerable questions by the evidence in the context of control, and of both arms."""
    qids = answerable(table.study)
    control = {q: evidence_full(table, arms[0], q) for q in qids}
    treatment = {q: evidence_full(table, arms[1], q) for q in qids}
    return {
        EVIDENCE_FULL: tuple(q for q in qids if control[q] is True),
        EVIDENCE_NOT_FULL: tuple(q for q in qids if control[q] is False),
        KEPT_PRESENT: tuple(q for q in qids if control[q] is True and treatment[q] is True),
    }


def clusters(study: Study, qids: Sequence[str]) -> tuple[str, ...] | None:
    """The cluster of each question, or ``None`` where no key repeats among them.

    A question without a key is a cluster of its own.
    """
    keys = [study.clusters.get(qid) for qid in qids]
    counts = Counter(key for key in keys if key is not None)
    if all(count == 1 for count in counts.values()):
        return None
    return tuple(
        f"question {qid}" if key is None else f"key {key}"
        for qid, key in zip(qids, keys, strict=True)
    )

"""What logs alone would have blamed against what the repairs show, and how often they work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ragablate.compare.arms import sibling
from ragablate.compare.ladder_rungs import UNGATED, Climb, Complete, base_of
from ragablate.compare.ladder_terms import contrast_of
from ragablate.compare.populations import answerable, evidence_full, unanswerable
from ragablate.compare.scores import ABSTAINED, Replicates, ScoreTable
from ragablate.diagnose.traversal import BUCKETS, RETRIEVAL
from ragablate.records import Agreement, Analysis, Share

SUFFICIENCY = "PS"
SUFFICIENCY_IN_LOG = "PS (log says retrieval)"
NECESSITY = "PN"
CORRECT_REFUSALS = "correct refusals"
INDUCED = "fabrications with the context, none without"
UNPROMPTED = "fabrications without any context"
PREVENTED = "fabrications the gate prevents"
WRONG_REFUSALS = "wrong refusals"

NONE = "none"
SEVERAL = "more than one fix"
NOT_LOGGED = "no log"

_HALF = 0.5

Test = Callable[[float], bool]


def failing(climbed: Climb) -> tuple[Complete, ...]:
    """Common questions that control gets wrong in more than half of its decodes."""
    first = climbed.steps[0].before
    return tuple(q for q in climbed.complete if q.mean(first) < _HALF)


def agreement(climbed: Climb, table: ScoreTable) -> tuple[Agreement, ...]:
    """How many failing questions of each log bucket each rung is the first to fix.

    A question is fixed where at least half of its decodes are right. One whose evidence was
    missing and that is right only once the gold is moved or left alone takes more than one
    fix.
    """
    buckets = table.study.buckets
    rungs = [*(rung.name for rung in climbed.steps), SEVERAL, NONE]
    counts = Counter(
        (buckets.get(q.qid, NOT_LOGGED), first_fix(climbed, q)) for q in failing(climbed)
    )
    order = {bucket: place for place, bucket in enumerate((*BUCKETS, NOT_LOGGED))}
    rows = sorted(counts, key=lambda row: (order.get(row[0], len(order)), row[0]))
    return tuple(
        Agreement(bucket, rung, counts[bucket, rung])
        for bucket in dict.fromkeys(row[0] for row in rows)
        for rung in rungs
        if counts[bucket, rung]
    )


def first_fix(climbed: Climb, question: Complete) -> str:
    """The first repair with which at least half of a question's decodes are right."""
    for rung in climbed.steps:
        if question.mean(rung.after) >= _HALF:
            together = rung.given_evidence and not question.evidence
            return SEVERAL if together else rung.name
    return NONE


# ── shares ──────────────────────────────────────────────────────────────────────────────


def shares(climbed: Climb, table: ScoreTable, analysis: Analysis) -> tuple[Share, ...]:
    """How often supplying the evidence is enough and having it needed, and refusals apart.

    Shares count decodes where each question has several. Those that select questions by how
    control answered them have beside them what asking again turns around alone, where the
    plan asks again the arm they were selected in.
    """
    return (
        *_sufficiency(climbed, table, analysis),
        *_necessity(table, analysis),
        *_wrong_refusals(table, analysis),
        *_unanswerable(table, analysis),
    )


def _sufficiency(climbed: Climb, table: ScoreTable, analysis: Analysis) -> Iterator[Share]:
    base = base_of(analysis)
    lacking = [q.qid for q in climbed.complete if not q.evidence and not q.mean(base)]
    logged = [qid for qid in lacking if table.study.buckets.get(qid) == RETRIEVAL]
    for name, qids in ((SUFFICIENCY, lacking), (SUFFICIENCY_IN_LOG, logged)):
        if qids and (name == SUFFICIENCY or table.study.buckets):
            yield _share(name, table, analysis, analysis.arms["D"], qids, _right)


def _necessity(table: ScoreTable, analysis: Analysis) -> Iterator[Share]:
    """Right answers with full evidence that turn wrong where the plan takes the gold away."""
    base = analysis.arms[base_of(analysis)]
    other = sibling(table.study, contrast_of(analysis, "B", "O"), "necessity")
    if other is None:
        return
    right = [
        qid
        for qid in answerable(table.study)
        if evidence_full(table, base, qid)
        and table.mean(base, analysis.measure, qid) == 1.0
        and table.mean(other.treatment, analysis.measure, qid) is not None
    ]
    if right:
        yield _share(NECESSITY, table, analysis, other.treatment, right, _not_right)


def _share(
    name: str, table: ScoreTable, analysis: Analysis, arm: str, qids: Sequence[str], test: Test
) -> Share:
    values = _decodes(table.values(arm, analysis.measure, qid) for qid in qids)
    return Share(name, sum(map(test, values)), len(values), _again(table, analysis, qids, test))


def _again(table: ScoreTable, analysis: Analysis, qids: Sequence[str], test: Test) -> float | None:
    """The same share when nothing but asking again is done."""
    placebo = sibling(table.study, contrast_of(analysis, "B", "O"), "placebo")
    if placebo is None or base_of(analysis) != "B":
        return None
    values = _decodes(table.values(placebo.treatment, analysis.measure, qid) for qid in qids)
    return sum(map(test, values)) / len(values) if values else None


def _wrong_refusals(table: ScoreTable, analysis: Analysis) -> Iterator[Share]:
    control = analysis.arms["B"]
    values = _decodes(table.values(control, ABSTAINED, qid) for qid in answerable(table.study))
    if values:
        yield Share(WRONG_REFUSALS, sum(map(_right, values)), len(values), None)


def _unanswerable(table: ScoreTable, analysis: Analysis) -> Iterator[Share]:
    """Where the right answer is to abstain: what control does, and what brings it about."""
    arms = {role: analysis.arms[role] for role in ("B", UNGATED, "N") if role in analysis.arms}
    rows = [
        {role: table.values(arm, analysis.measure, qid) for role, arm in arms.items()}
        for qid in unanswerable(table.study)
    ]
    rows = [row for row in rows if all(_measured(values) for values in row.values())]
    decodes = [
        {role: values[k] == 1.0 for role, values in row.items()}
        for row in rows
        for k in range(min(map(len, row.values())))
    ]
    if not decodes:
        return
    n = len(decodes)
    yield Share(CORRECT_REFUSALS, sum(d["B"] for d in decodes), n, None)
    if "N" in arms:
        yield Share(INDUCED, sum(d["N"] and not d["B"] for d in decodes), n, None)
        yield Share(UNPROMPTED, sum(not d["N"] for d in decodes), n, None)
    if UNGATED in arms:
        yield Share(PREVENTED, sum(d["B"] and not d[UNGATED] for d in decodes), n, None)


def _measured(values: Replicates) -> bool:
    return bool(values) and None not in values


def _decodes(rows: Iterable[Replicates]) -> list[float]:
    return [value for values in rows for value in values if value is not None]


def _right(value: float) -> bool:
    return value == 1.0


def _not_right(value: float) -> bool:
    return value != 1.0

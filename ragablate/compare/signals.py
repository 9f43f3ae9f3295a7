"""Stage signals side by side: every arm's evidence, faithfulness, abstention and score."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.compare.contrasts import STAGE_SIGNALS
from ragablate.compare.inference.intervals import rate_interval
from ragablate.compare.populations import (
    ANSWERABLE,
    UNANSWERABLE,
    answerable,
    clusters,
    unanswerable,
)
from ragablate.compare.scores import (
    EVIDENCE_IN_CONTEXT,
    EVIDENCE_RETRIEVED,
    FAITHFULNESS,
    ScoreTable,
    mean_of,
)
from ragablate.records import Signal

EVIDENCE = (EVIDENCE_RETRIEVED, EVIDENCE_IN_CONTEXT)
"""Measures that do not exist where a question has no evidence."""


def signals(table: ScoreTable) -> tuple[Signal, ...]:
    """One row an arm, measure and population, control first, measures in pipeline order.

    A rate over the questions an arm happens to answer (faithfulness) is shown with its own
    n; two of them are never a comparison.
    """
    groups = (
        (ANSWERABLE, answerable(table.study)),
        (UNANSWERABLE, unanswerable(table.study)),
    )
    return tuple(
        _signal(table, arm, measure, population, qids)
        for arm in arms_in_order(table)
        for measure in STAGE_SIGNALS
        if measure in table.study.scores[arm]
        for population, qids in groups
        if qids and not (population == UNANSWERABLE and measure in EVIDENCE)
    )


def arms_in_order(table: ScoreTable) -> tuple[str, ...]:
    """Controls first, then the other arms as the study lists them."""
    study = table.study
    controls = [contrast.control for contrast in study.contrasts]
    listed = [*controls, *study.arms, *sorted(study.scores)]
    return tuple(arm for arm in dict.fromkeys(listed) if arm in study.scores)


def different_questions(table: ScoreTable) -> tuple[str, ...]:
    """A warning where arms' rates of faithfulness rest on different questions."""
    measured = {
        frozenset(
            qid
            for qid in answerable(table.study)
            if any(v is not None for v in table.values(arm, FAITHFULNESS, qid))
        )
        for arm in arms_in_order(table)
        if FAITHFULNESS in table.study.scores[arm]
    }
    if len(measured) < 2:
        return ()
    sizes = [len(qids) for qids in measured]
    return (
        f"Each arm's rate of faithfulness rests on the questions it answered ({min(sizes)} to "
        f"{max(sizes)} of them), so the rates are of different questions and not comparable; "
        "effects on faithfulness use the questions whose evidence both arms had.",
    )


def _signal(
    table: ScoreTable, arm: str, measure: str, population: str, qids: Sequence[str]
) -> Signal:
    rows: list[tuple[str, float]] = []
    for qid in qids:
        measured = [v for v in table.values(arm, measure, qid) if v is not None]
        if measured:
            rows.append((qid, mean_of(measured)))
    values = [value for _, value in rows]
    binary = bool(values) and all(value in (0.0, 1.0) for value in values)
    keys = clusters(table.study, [qid for qid, _ in rows])
    return Signal(
        arm=arm,
        measure=measure,
        population=population,
        mean=mean_of(values) if values else None,
        n=len(rows),
        unmeasured=len(qids) - len(rows),
        ci95=rate_interval(values, clusters=keys) if binary else None,
    )

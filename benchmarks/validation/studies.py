"""Studies written from draws, as a bundle would give them to the comparator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from validation.worlds import Draws

from ragablate.compare import compare
from ragablate.records import (
    Analysis,
    AnalysisKind,
    Comparison,
    Contrast,
    ContrastKind,
    Effect,
    Factor,
    Measure,
    Proof,
    Study,
)

CORRECT, EVIDENCE, FAITHFULNESS = "correct", "evidence_in_context", "faithfulness"
MEASURES = {
    CORRECT: Measure(CORRECT, "read", "right answers"),
    EVIDENCE: Measure(EVIDENCE, "assemble", "evidence in context"),
    FAITHFULNESS: Measure(FAITHFULNESS, "read", "supported claims"),
}
PROVEN = (Proof("INV-3", "pass", "", "reader equal"),)
RUNGS = {"B": "control", "A": "with_evicted_gold", "D": "with_gold", "S": "with_gold_first",
         "O": "oracle"}  # fmt: skip

Columns = Mapping[tuple[str, str], np.ndarray]
"""By arm and measure one score a question, or one row of replicates; NaN is missing."""


def study(
    columns: Columns,
    contrasts: Sequence[Contrast] = (),
    analyses: Sequence[Analysis] = (),
    documents: np.ndarray | None = None,
) -> Study:
    """A study of answerable questions.

    Args:
        columns: Scores.
        contrasts: Declared contrasts.
        analyses: Declared designs of several arms.
        documents: Number of the document each question is about; none are independent.
    """
    qids = tuple(f"q{i:04d}" for i in range(len(next(iter(columns.values())))))
    scores: dict[str, dict[str, dict[str, tuple[float | None, ...]]]] = {}
    for (arm, measure), values in columns.items():
        rows = np.asarray(values, float).reshape(len(qids), -1).tolist()
        scores.setdefault(arm, {})[measure] = {
            qid: tuple(None if v != v else v for v in row)
            for qid, row in zip(qids, rows, strict=True)
        }
    of = {} if documents is None else {q: f"d{d}" for q, d in zip(qids, documents, strict=True)}
    return Study(
        qids=qids,
        answerable=dict.fromkeys(qids, True),
        eval_gaps=frozenset(),
        clusters=of,
        slices={},
        measures={m: MEASURES[m] for _, m in columns},
        scores=scores,
        errors={},
        contrasts=tuple(contrasts),
        proofs={name: PROVEN for name in (*(c.id for c in contrasts), *(a.id for a in analyses))},
        arms={arm: arm for arm, _ in columns},
        reader="scripted",
        top_k=10,
        analyses=tuple(analyses),
    )


def contrast(
    margin: float = 0.05, kind: ContrastKind = "upstream", variable: str = "retriever"
) -> Contrast:
    """Two arms called control and treatment."""
    return Contrast("c", "c", "?", kind, variable, "new", "control", "treatment", CORRECT, margin)


def analysis(kind: AnalysisKind, arms: Mapping[str, str], *variables: str) -> Analysis:
    """A design of several arms."""
    factors = tuple(Factor(v, "old", "new") for v in variables)
    return Analysis("a", "?", kind, dict(arms), CORRECT, 0.05, factors)


def ladder(draws: Draws) -> Comparison:
    """The ladder of one set of a world."""
    scores = draws.scores()
    columns = {(arm, CORRECT): scores[role] for role, arm in RUNGS.items()}
    columns["control", EVIDENCE] = draws.full
    columns["oracle", FAITHFULNESS] = draws.faithful
    return compare(study(columns, analyses=[analysis("ladder", RUNGS)]))


def two_arms(
    control: np.ndarray,
    treatment: np.ndarray,
    documents: np.ndarray | None = None,
    margin: float = 0.05,
) -> Effect:
    """The headline effect of a contrast."""
    columns = {("control", CORRECT): control, ("treatment", CORRECT): treatment}
    return compare(study(columns, [contrast(margin)], documents=documents)).effects[0]


def combined(
    kind: AnalysisKind, cells: Mapping[str, np.ndarray], *variables: str
) -> dict[str, Effect]:
    """Effects of a design of several arms, by what they measure."""
    columns = {(role, CORRECT): values for role, values in cells.items()}
    found = compare(study(columns, analyses=[analysis(kind, {r: r for r in cells}, *variables)]))
    return {effect.measure: effect for effect in found.effects}

"""Two logs of the same questions: how evidence and faithfulness moved, overall and by slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragablate.compare import compare
from ragablate.compare.populations import ANSWERABLE, KEPT_PRESENT
from ragablate.compare.scores import (
    ABSTAINED,
    CORRECT,
    EVIDENCE_IN_CONTEXT,
    EVIDENCE_RETRIEVED,
    FAITHFULNESS,
)
from ragablate.compare.shapes import Shape, shape
from ragablate.diagnose.facts import Fact, Facts
from ragablate.records import Comparison, Contrast, Measure, MeasureStage, Study

BEFORE, AFTER = "before", "after"
FEWEST = 10
"""Fewer questions of a slice are not looked at by themselves."""

_STAGE: Mapping[str, MeasureStage] = {
    EVIDENCE_RETRIEVED: "retrieve", EVIDENCE_IN_CONTEXT: "assemble", FAITHFULNESS: "read",
    ABSTAINED: "read", CORRECT: "read",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shaped:
    """What two logs look like side by side."""

    questions: int
    """Answerable questions with gold that both have."""
    overall: Shape
    """Of all of them."""
    slices: Mapping[str, Shape]
    """By ``name=value``; exploratory, for where to look first."""


def shaped(before: Facts, after: Facts, margin: float = 0.05, seed: int = 0) -> Shaped | None:
    """The shape of a change, on the questions of both logs; ``None`` where these are fewer than 2.

    Each log is compared with its own verdicts. What else changed between two logs is not looked
    at, so a shape is a description.

    Args:
        before: The old log.
        after: The new one.
        margin: Smallest difference of a rate that matters.
        seed: Of Monte Carlo tests.
    """
    old, new = _by_question(before), _by_question(after)
    qids = [q for q, facts in old.items() if q in new and len(facts) == len(new[q])
            and facts[0].answerable and facts[0].gold]  # fmt: skip
    if len(qids) < 2:
        return None
    study = _study(qids, {BEFORE: (before, old), AFTER: (after, new)}, margin, seed)
    by_slice: dict[str, list[str]] = {}
    for qid in qids:
        for name, value in old[qid][0].slices:
            by_slice.setdefault(f"{name}={value}", []).append(qid)
    large = {k: v for k, v in sorted(by_slice.items()) if FEWEST <= len(v) < len(qids)}
    parts = {name: _shape(compare(_only(study, members))) for name, members in large.items()}
    return Shaped(len(qids), _shape(compare(study)), parts)


def _by_question(facts: Facts) -> dict[str, tuple[Fact, ...]]:
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts.answers, key=lambda f: f.replicate):
        found.setdefault(fact.qid, []).append(fact)
    return {qid: tuple(members) for qid, members in found.items()}


def stage_scores(
    facts: Facts, by_question: Mapping[str, Sequence[Fact]]
) -> dict[str, dict[str, tuple[float | None, ...]]]:
    """By measure and qid, one value a decode; what no answer has is left out."""
    found = {
        EVIDENCE_RETRIEVED: {q: tuple(f.ranked for f in fs) for q, fs in by_question.items()},
        EVIDENCE_IN_CONTEXT: {q: tuple(f.shown for f in fs) for q, fs in by_question.items()},
        FAITHFULNESS: {
            q: tuple(None if f.abstained else f.support for f in fs)
            for q, fs in by_question.items()
        },
        ABSTAINED: {
            q: tuple(None if f.abstained is None else float(f.abstained) for f in fs)
            for q, fs in by_question.items()
        },
        CORRECT: {q: tuple(facts.score(f) for f in fs) for q, fs in by_question.items()},
    }
    return {
        measure: values
        for measure, values in found.items()
        if any(value is not None for each in values.values() for value in each)
    }


def _study(
    qids: Sequence[str],
    logs: Mapping[str, tuple[Facts, Mapping[str, Sequence[Fact]]]],
    margin: float,
    seed: int,
) -> Study:
    scores = {
        arm: stage_scores(facts, {qid: by_question[qid] for qid in qids})
        for arm, (facts, by_question) in logs.items()
    }
    both = [m for m in _STAGE if all(m in scores[arm] for arm in scores)]
    primary = next((m for m in (CORRECT, EVIDENCE_IN_CONTEXT) if m in both), ABSTAINED)
    contrast = Contrast(
        id="logs", experiment="logs", question="What changed between the two logs?",
        kind="upstream", variable="", level=AFTER, control=BEFORE, treatment=AFTER,
        measure=primary, margin=margin, control_level=BEFORE,
    )  # fmt: skip
    return Study(
        qids=tuple(qids),
        answerable=dict.fromkeys(qids, True),
        eval_gaps=frozenset(),
        clusters={},
        slices={},
        measures={m: Measure(m, _STAGE[m], m) for m in both},
        scores={arm: {m: scores[arm][m] for m in both} for arm in scores},
        errors={arm: {} for arm in logs},
        contrasts=(contrast,),
        proofs={contrast.id: ()},
        arms={arm: arm for arm in logs},
        reader="of the logs",
        top_k=0,
        seed=seed,
    )


def _only(study: Study, qids: Sequence[str]) -> Study:
    kept = frozenset(qids)
    scores = {
        arm: {
            measure: {qid: values for qid, values in by_qid.items() if qid in kept}
            for measure, by_qid in by_measure.items()
        }
        for arm, by_measure in study.scores.items()
    }
    return replace(study, qids=tuple(qids), slices={}, scores=scores)


def _shape(comparison: Comparison) -> Shape:
    found = {(e.measure, e.population): e for e in comparison.effects}
    return shape(
        found.get((EVIDENCE_IN_CONTEXT, ANSWERABLE)),
        found.get((FAITHFULNESS, KEPT_PRESENT)),
        found.get((CORRECT, ANSWERABLE)),
        found.get((EVIDENCE_RETRIEVED, ANSWERABLE)),
    )

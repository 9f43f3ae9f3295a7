"""How strongly a ladder may speak: the proofs of its steps, and what was found beside."""

from __future__ import annotations

from collections.abc import Iterator

from ragablate.compare.arms import sibling
from ragablate.compare.effects import Sample, effects_of
from ragablate.compare.inference.states import FEWEST_QUESTIONS
from ragablate.compare.labels import Licence, licence
from ragablate.compare.ladder_rungs import ASSEMBLY, RETRIEVAL, Climb, base_of
from ragablate.compare.ladder_terms import contrast_of
from ragablate.compare.limits import FEW_CLUSTERS, Finding
from ragablate.compare.memory import Memory, memory, memory_limit
from ragablate.compare.missing import TOLERATED
from ragablate.compare.necessity import HALF, needed
from ragablate.compare.numbers import count, percent
from ragablate.compare.populations import ANSWERABLE, answerable, clusters
from ragablate.compare.scores import EVIDENCE_IN_CONTEXT, ScoreTable
from ragablate.records import Analysis


def refusal_of(climbed: Climb, table: ScoreTable, analysis: Analysis) -> str:
    """Why there are no terms; empty where there are."""
    base = analysis.arms[base_of(analysis)]
    known = table.study.measures.get(analysis.measure)
    if known is not None and not (known.stage == "read" and known.higher_is_better):
        return (
            f"A ladder splits what answers lack, and {analysis.measure} does not say how good "
            "they are: give it a measure that does, such as correct"
        )
    if EVIDENCE_IN_CONTEXT not in table.study.scores.get(base, {}):
        return (
            f"A ladder needs to know whether the evidence was in the context of '{base}': add "
            "the judge evidence"
        )
    if len(climbed.complete) < 2:
        worst = max(analysis.arms.values(), key=lambda arm: _unmeasured(table, analysis, arm))
        return (
            f"{count(len(climbed.complete), 'question')} measured on every rung, and a ladder "
            f"needs at least 2 (arm '{worst}' lacks the most)"
        )
    for proof in table.study.proofs.get(analysis.id, ()):
        if proof.status == "fail" and proof.consequence == "refuse":
            return proof.text.rstrip(".")
    return ""


def licence_of(climbed: Climb, table: ScoreTable, analysis: Analysis) -> Licence:
    """The label its steps' proofs and everything found beside allow."""
    found = (
        *_missing(climbed, table, analysis),
        *_few(climbed, table),
        *_drift(table, analysis),
        *_answers_without_evidence(table, analysis),
        *_order(climbed, table),
    )
    return licence(table.study.proofs.get(analysis.id, ()), found)


def _unmeasured(table: ScoreTable, analysis: Analysis, arm: str) -> int:
    qids = answerable(table.study)
    return sum(table.mean(arm, analysis.measure, qid) is None for qid in qids)


def _missing(climbed: Climb, table: ScoreTable, analysis: Analysis) -> Iterator[Finding]:
    total = len(climbed.complete) + len(climbed.incomplete)
    if climbed.incomplete:
        arms = [arm for role, arm in analysis.arms.items() if role != "N"]
        share = max(_unmeasured(table, analysis, arm) for arm in arms) / total
        text = (
            f"{count(len(climbed.incomplete), 'question')} of {total:,} not measured on every "
            "rung and left out of all terms"
        )
        if share > TOLERATED:
            yield "descriptive", f"{text} ({percent(share)} in the worst arm)"
        else:
            yield "causal with limits", text
    failures = {arm: len(table.study.errors.get(arm, {})) for arm in analysis.arms.values()}
    if any(failures.values()):
        listed = ", ".join(f"{n} in {arm}" for arm, n in failures.items() if n)
        yield "causal with limits", f"failures: {listed}"


def _few(climbed: Climb, table: ScoreTable) -> Iterator[Finding]:
    n = len(climbed.complete)
    if n < FEWEST_QUESTIONS:
        yield "causal with limits", f"pilot: only {count(n, 'question')}"
    keys = clusters(table.study, climbed.qids)
    if keys is None:
        return
    for rung in climbed.steps:
        column = zip(climbed.columns[rung.name], keys, strict=True)
        changed = len({key for loss, key in column if loss})
        if 0 < changed < FEW_CLUSTERS:
            yield (
                "causal with limits",
                f"the changes of {rung.name} lie in only {count(changed, 'cluster')}",
            )


def _drift(table: ScoreTable, analysis: Analysis) -> Iterator[Finding]:
    """A placebo that moved limits everything that is compared with the same control."""
    placebo = sibling(table.study, contrast_of(analysis, "B", "O"), "placebo")
    if placebo is None:
        return
    arms = placebo.control, placebo.treatment
    pairs = table.pairs(table.reading(analysis.measure), arms, answerable(table.study))
    sample = Sample(placebo, arms, analysis.measure, ANSWERABLE, "signal", pairs)
    if any(effect.state in ("up", "down") for effect in effects_of([sample], table.study)):
        yield "causal with limits", "the placebo moved, though nothing was changed in it"


def memory_of(table: ScoreTable, analysis: Analysis) -> Memory | None:
    """What the reader knows without passages, beside control without its gate."""
    if "N" not in analysis.arms:
        return None
    contrast = contrast_of(analysis, base_of(analysis), "N", kind="closed_book")
    return memory(table, contrast)


def _answers_without_evidence(table: ScoreTable, analysis: Analysis) -> Iterator[Finding]:
    text = memory_limit(memory_of(table, analysis))
    if text:
        yield "causal with limits", text
    need = needed(table, contrast_of(analysis, "B", "O"))
    if need is not None and need.interval.high < HALF:
        yield (
            "causal with limits",
            f"only {percent(need.share)} of the {need.n} answers that were right with all the "
            "evidence turn wrong without it",
        )


def _order(climbed: Climb, table: ScoreTable) -> Iterator[Finding]:
    """Where evidence was lost twice, the order of the repairs decides who is charged."""
    lost = [table.study.reasons.get(stage, {}) for stage in (ASSEMBLY, RETRIEVAL)]
    both = [q.qid for q in climbed.complete if all(q.qid in stage for stage in lost)]
    if both:
        yield (
            "causal with limits",
            f"on {count(len(both), 'question')} both assembly and retrieval lost evidence: what "
            "each of the two is charged there depends on the order of the repairs",
        )

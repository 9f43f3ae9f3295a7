"""Two bundles side by side: their arms paired, proven as far as they go, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragablate.bundle.exhibits import Evidence, across
from ragablate.bundle.read import Bundle
from ragablate.compare import compare
from ragablate.compare.moves import Moves, moves
from ragablate.compare.populations import KEPT_PRESENT
from ragablate.compare.scores import EVIDENCE_IN_CONTEXT, EVIDENCE_RETRIEVED, FAITHFULNESS
from ragablate.compare.shapes import Shape, shape
from ragablate.config import STAGES
from ragablate.edges import STAGE_KINDS
from ragablate.errors import EvidenceError
from ragablate.proofs import prove
from ragablate.records import Change, Comparison, Contrast, ContrastKind, Effect, Proof, Study

PLACEBO = "placebo"
OLD, NEW = "old", "new"
_OF_ONE_VARIABLE = ("INV-2", "INV-3", "INV-20")


@dataclass(frozen=True, slots=True)
class Between:
    """What separates two bundles."""

    study: Study
    """Every arm that both have, as a contrast of the old bundle's with the new one's."""
    comparison: Comparison
    """What it shows."""
    changes: Mapping[str, tuple[Change, ...]]
    """By arm that both have, the leaves of the config that differ."""
    settings: tuple[Change, ...]
    """Leaves outside the pipeline that differ, such as the seed."""
    only: tuple[tuple[str, ...], tuple[str, ...]]
    """Arms that one of the two lacks: of the old bundle, and of the new one."""
    shape: Shape
    """How control's evidence and faithfulness moved, read together."""
    moves: Moves | None
    """What became of control's failures, by the logs; ``None`` where nothing was judged."""


def between(before: Bundle, after: Bundle, measure: str, margin: float = 0.05) -> Between:
    """Compare the arms two bundles share, from the old to the new one.

    An arm that differs in one stage, with everything held fixed proven from what both bundles
    record, is an effect of that stage; one that differs in more is a number without a cause.

    Args:
        before: The old bundle.
        after: The new one.
        measure: What is compared.
        margin: Smallest difference that matters.

    Raises:
        EvidenceError: The question sets differ, no arm is in both, or the measure is not.
    """
    _same_questions(before, after)
    shared = [arm for arm in before.arms if arm in after.arms and arm != PLACEBO]
    if not shared:
        raise EvidenceError(
            f"{before.folder} and {after.folder} share no arm: run the same experiment in both."
        )
    measures = _measures(before, after, measure)
    contrasts, proofs, changes = [], {}, {}
    for arm in shared:
        moved = _changes(before, after, arm)
        contrast = _contrast(arm, moved, measure, margin)
        contrasts.append(replace(contrast, control=f"{OLD} {arm}", treatment=f"{NEW} {arm}"))
        proofs[contrast.id] = _proofs(contrast, before, after, moved)
        changes[arm] = moved
    study = _study(before, after, shared, contrasts, proofs, measures)
    comparison = compare(study)
    return Between(
        study,
        comparison,
        changes,
        _settings(before, after),
        (_lone(before, after), _lone(after, before)),
        _shape(comparison, contrasts[0]),
        _moves(before, after, measure, margin, study),
    )


def _same_questions(before: Bundle, after: Bundle) -> None:
    lone = sorted(set(before.questions) ^ set(after.questions))
    texts = sorted(
        qid
        for qid, line in before.questions.items()
        if qid in after.questions
        and (line.digest, line.gold_digest)
        != (after.questions[qid].digest, after.questions[qid].gold_digest)
    )
    differ = [
        *(f"{qid} (in one only)" for qid in lone),
        *(f"{qid} (text or gold)" for qid in texts),
    ]
    if differ:
        listed = ", ".join(differ[:5]) + (", …" if len(differ) > 5 else "")
        raise EvidenceError(
            f"{len(differ)} questions differ between {before.folder} and {after.folder}: {listed}. "
            "Paired effects need the same questions: run both on the same data set and limit."
        )


def _measures(before: Bundle, after: Bundle, measure: str) -> list[str]:
    known = [{m["name"] for m in bundle.plan["measures"]} for bundle in (before, after)]
    both = sorted(known[0] & known[1])
    if measure not in both:
        raise EvidenceError(
            f"'{measure}' was not measured in both bundles; in both are {', '.join(both)}."
        )
    return both


def _changes(before: Bundle, after: Bundle, arm: str) -> tuple[Change, ...]:
    left, right = Evidence(before).leaves(arm), Evidence(after).leaves(arm)
    return _differing(left, right)


def _differing(left: Mapping[str, object], right: Mapping[str, object]) -> tuple[Change, ...]:
    return tuple(
        Change(key, left.get(key), right.get(key))
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    )


def _contrast(arm: str, moved: Sequence[Change], measure: str, margin: float) -> Contrast:
    stages = [s for s in STAGES if any(c.key.split(".")[0] == s for c in moved)]
    kind: ContrastKind = STAGE_KINDS[stages[0]] if stages else "placebo"
    return Contrast(
        id=arm,
        experiment=arm,
        question="What changed between the two bundles?",
        kind=kind,
        variable=stages[0] if stages else "",
        level="new",
        control=arm,
        treatment=arm,
        measure=measure,
        margin=margin,
        control_level="old",
    )


def _proofs(
    contrast: Contrast, before: Bundle, after: Bundle, moved: Sequence[Change]
) -> tuple[Proof, ...]:
    """What both bundles show of a pair of arms.

    Where more than one stage moved there is no variable whose treatment could be missing or
    whose surroundings could be held fixed: the number is shown, and put down to nothing.
    """
    proofs = prove(across(contrast, before, after))
    if len({c.key.split(".")[0] for c in moved}) < 2:
        return proofs
    return tuple(
        replace(p, consequence="confounded")
        if p.consequence == "refuse" and p.invariant in _OF_ONE_VARIABLE
        else p
        for p in proofs
        if not (p.invariant == "INV-12" and p.status == "fail")
    )


def _study(
    before: Bundle,
    after: Bundle,
    shared: Sequence[str],
    contrasts: Sequence[Contrast],
    proofs: Mapping[str, tuple[Proof, ...]],
    measures: Sequence[str],
) -> Study:
    old, new = before.study(), after.study()
    sides = ((OLD, old), (NEW, new))
    return replace(
        old,
        measures={name: old.measures[name] for name in measures},
        scores={
            f"{side} {arm}": {m: study.scores[arm][m] for m in measures if m in study.scores[arm]}
            for side, study in sides
            for arm in shared
        },
        errors={f"{side} {arm}": study.errors[arm] for side, study in sides for arm in shared},
        contrasts=tuple(contrasts),
        proofs=proofs,
        arms={f"{side} {arm}": f"{side} {arm}" for side, _ in sides for arm in shared},
        analyses=(),
        reasons={},
        buckets={},
    )


def _settings(before: Bundle, after: Bundle) -> tuple[Change, ...]:
    names = ("seed", "replicates", "limit", "alpha", "power", "cluster_by", "judges")
    left, right = ({k: b.plan.get(k) for k in names} for b in (before, after))
    return _differing(left, right)


def _lone(one: Bundle, other: Bundle) -> tuple[str, ...]:
    return tuple(arm for arm in one.arms if arm not in other.arms)


def _shape(comparison: Comparison, control: Contrast) -> Shape:
    found: dict[tuple[str, str], Effect] = {
        (e.measure, e.population): e for e in comparison.effects if e.contrast == control.id
    }
    score = next((e for e in comparison.effects if e.contrast == control.id), None)
    return shape(
        found.get((EVIDENCE_IN_CONTEXT, "answerable")),
        found.get((FAITHFULNESS, KEPT_PRESENT)),
        score,
        found.get((EVIDENCE_RETRIEVED, "answerable")),
    )


def _moves(
    before: Bundle, after: Bundle, measure: str, margin: float, study: Study
) -> Moves | None:
    """Buckets of the first arm, on the questions that both have one for."""
    old, new = before.buckets(measure), after.buckets(measure)
    qids = sorted(old.keys() & new.keys())
    if len(qids) < 2:
        return None
    keys = [study.clusters.get(qid, qid) for qid in qids]
    return moves(
        {q: old[q] for q in qids},
        {q: new[q] for q in qids},
        margin=margin,
        alpha=study.alpha,
        clusters=keys if len(set(keys)) < len(keys) else None,
        seed=study.seed,
    )

"""What is shown of the questions: usable gold, no leakage, no choice by the outcome."""

from __future__ import annotations

from math import fsum

from ragablate.proofs.exhibit import Exhibit, failed, first, passed, questions, unchecked
from ragablate.records import Proof

RETRIEVAL = ("oracle", "upstream", "context", "necessity", "closed_book")
"""Kinds of contrast whose claim is about what retrieval brings."""
_KNOWN_APART = ("oracle", "upstream", "context")


def gold_resolves(x: Exhibit) -> Proof:
    """INV-11: gold is in the corpus as text; what is not is an eval gap, question by question."""
    gaps = [q.qid for q in x.before.questions.values() if q.eval_gap]
    if gaps:
        text = f"{len(gaps)} eval gaps (no usable gold) left out (first: {first(gaps, 1)})"
        return passed("INV-11", text)
    return passed("INV-11", "the gold of every answerable question resolves to passages")


def memory_is_known(x: Exhibit) -> Proof | None:
    """INV-13: how much the reader answers without any passage."""
    if x.contrast.kind not in _KNOWN_APART:
        return None
    if x.beside.closed_book is None:
        return unchecked(
            "INV-13",
            "what the reader knows without passages was not measured; add experiment=closed_book",
        )
    # The comparator needs scipy, which reading a bundle does not.
    from ragablate.compare.memory import Memory, memory_limit

    control, closed = (_means(x, arm) for arm in x.beside.closed_book)
    both = sorted(control.keys() & closed.keys())
    if not both:
        return unchecked("INV-13", "no question is measured both with and without passages")
    right = fsum(control[qid] for qid in both)
    also = fsum(control[qid] * closed[qid] for qid in both)
    known = fsum(closed[qid] for qid in both)
    found = Memory(
        closed=known / len(both),
        control=right / len(both),
        also_right=also / right if right else 0.0,
        dependent=sum(closed[qid] == 0.0 for qid in both),
        n=len(both),
    )
    limit = memory_limit(found)
    if limit:
        return failed("INV-13", "warn", limit)
    text = f"without passages {known:g} of {questions(len(both))} are right, with them {right:g}"
    return passed("INV-13", text)


def _means(x: Exhibit, arm: str) -> dict[str, float]:
    """Mean score by answerable question with usable gold, where every decode has one."""
    found: dict[str, list[float | None]] = {}
    for (qid, _), value in sorted(x.beside.scores.get(arm, {}).items()):
        line = x.before.questions[qid]
        if line.gold.answerable and not line.eval_gap:
            found.setdefault(qid, []).append(value)
    return {
        qid: sum(v for v in values if v is not None) / len(values)
        for qid, values in found.items()
        if None not in values
    }


def nothing_leaked(x: Exhibit) -> Proof | None:
    """INV-14: no question stands in the corpus together with its answer."""
    if x.contrast.kind not in RETRIEVAL:
        return None
    if x.before.observed is None:
        return unchecked("INV-14", "whether the corpus holds the questions was not looked for")
    leaked, short = x.before.observed.leaked, x.before.observed.too_short
    if leaked:
        return failed(
            "INV-14",
            "confounded",
            f"the corpus holds {questions(len(leaked))} together with the answer (first: "
            f"{first(leaked)}): take the evaluation file out of what is searched",
        )
    aside = f" ({questions(short)} of fewer than four words not looked for)" if short else ""
    return passed("INV-14", f"no question stands in the corpus with its answer{aside}")


def plan_came_first(x: Exhibit) -> Proof:
    """INV-17: what is compared, and by which rule, was fixed before anything was scored."""
    if not x.beside.plan:
        return unchecked("INV-17", "no plan was fixed before scoring")
    if x.beside.judged_late:
        return failed(
            "INV-17",
            "exploratory",
            f"the judge of {x.contrast.measure} was chosen after other judges had scored the same "
            "answers",
        )
    return passed("INV-17", f"plan {x.beside.plan[:12]} was fixed before scoring")


def not_chosen_by_failure(x: Exhibit) -> Proof:
    """INV-22: questions were not chosen by what control did, or it was decoded anew since."""
    observed = x.before.observed
    if observed is None or not observed.selected_by_failure:
        return passed("INV-22", "the questions are not declared as chosen by control's failures")
    if observed.fresh_control:
        return passed("INV-22", "chosen by control's failures, and decoded anew since")
    return failed(
        "INV-22",
        "confounded",
        f"{questions(len(x.before.questions))} were chosen because a control failed on them, so "
        "some recover by chance; decode control anew: fresh_control=true",
    )

"""The verdict of a closed book: what retrieval adds over what the reader knows by heart."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

from ragablate.compare import phrases, sentences
from ragablate.compare.arms import sibling
from ragablate.compare.case import Case, Ruling
from ragablate.compare.inference.ratios import ratio_interval
from ragablate.compare.numbers import confidence_text, count, margin_text, percent, plain, signed
from ragablate.compare.owners import CONTEXT
from ragablate.compare.populations import UNANSWERABLE, answerable, clusters, unanswerable
from ragablate.compare.scores import ScoreTable, mean_of
from ragablate.records import Contrast, State

CONTAMINATED = 0.5
"""Share of control's score that a closed book may reach before retrieval claims are limited."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a closed book answers on the answerable questions."""

    closed: float
    """Mean score without passages."""
    control: float
    """Mean score of control on the same questions."""
    also_right: float
    """Share of control's right answers that are right without passages too."""
    dependent: int
    """Questions never answered right without passages: where retrieval can show its effect."""
    n: int
    """Complete pairs."""

    @property
    def contaminated(self) -> bool:
        """Whether memory alone reaches more than half of control's score."""
        return self.closed > CONTAMINATED * self.control


def memory(table: ScoreTable, contrast: Contrast) -> Memory | None:
    """What the closed book beside a contrast knows; ``None`` where the plan has none."""
    closed = contrast if contrast.kind == "closed_book" else None
    closed = closed or sibling(table.study, contrast, "closed_book")
    if closed is None:
        return None
    pairs = table.pairs(
        table.reading(closed.measure),
        (closed.control, closed.treatment),
        answerable(table.study),
    )
    if not pairs.qids:
        return None
    both = [c * n for c, n in zip(pairs.control, pairs.treatment, strict=True)]
    right = mean_of(pairs.control)
    return Memory(
        closed=mean_of(pairs.treatment),
        control=right,
        also_right=mean_of(both) / right if right else 0.0,
        dependent=sum(n == 0.0 for n in pairs.treatment),
        n=len(pairs.qids),
    )


def memory_limit(found: Memory | None) -> str:
    """What memory does to retrieval claims, as a phrase; empty where it does little."""
    if found is None or not found.contaminated:
        return ""
    return (
        f"{percent(found.also_right)} of right answers are also right with no context: effects "
        f"of retrieval can only show on the {count(found.dependent, 'question')} of {found.n} "
        "that the reader cannot answer without context"
    )


def closed_book_reading(effect: State) -> str:
    """What closed book minus control says of the context."""
    readings = {
        "down": "context adds over memory",
        "flat": "context adds nothing over memory",
        "up": "context hurts",
    }
    return readings.get(effect, "not enough evidence")


def closed_book(case: Case) -> Ruling:
    """The verdict on what the context adds over memory, and what it makes the reader invent."""
    verdict = closed_book_reading(case.primary.state)
    return Ruling(
        verdict=verdict,
        sentences=(
            *sentences.headline(case),
            _value(case, verdict),
            *_stratum(case),
            *_realized(case),
            *_fabrication(case),
        ),
        settle=sentences.more_questions(case, case.primary),
        owner=CONTEXT if verdict == "context hurts" else "",
        rests_on=((case.contrast.measure, UNANSWERABLE),),
    )


def _value(case: Case, verdict: str) -> str:
    effect = case.primary
    added = signed(-(effect.effect or 0.0), phrases.places(effect))
    closed, control = (plain(m or 0.0) for m in (effect.treatment_mean, effect.control_mean))
    rates = f"({effect.measure} {closed} without passages, {control} with them)"
    if verdict == "context adds over memory":
        return f"So retrieval adds {added} over what the reader knows by heart {rates}."
    if verdict == "context adds nothing over memory":
        margin = margin_text(effect.margin)
        return f"So retrieval adds less than {margin} over what the reader knows by heart {rates}."
    if verdict == "context hurts":
        return f"The context it is given makes this reader worse than no context {rates}."
    return f"What retrieval adds over memory is not decided: {added} {rates}."


def _stratum(case: Case) -> tuple[str, ...]:
    found = memory(case.table, case.contrast)
    if found is None:
        return ()
    return (
        f"{found.dependent} of {found.n} questions are never right without context: there alone "
        "can retrieval show what it is worth.",
    )


def _realized(case: Case) -> tuple[str, ...]:
    """Which part of what exact evidence adds over memory the pipeline's context adds.

    The ratio of two mean differences on the same questions; said only where the denominator
    is shown not to be 0.
    """
    oracle = sibling(case.study, case.contrast, "oracle")
    if oracle is None:
        return ()
    rows = _over_memory(case, oracle.treatment)
    if len(rows) < 2:
        return ()
    keys = clusters(case.study, [qid for qid, _, _ in rows])
    added, possible = [row[1] for row in rows], [row[2] for row in rows]
    limits = ratio_interval(
        added,
        possible,
        replicates=case.pairs.replicates,
        clusters=keys,
        confidence=1 - case.study.alpha,
        seed=case.study.seed,
    )
    if limits is None or fsum(possible) <= 0:
        return ()
    share = fsum(added) / fsum(possible)
    return (
        f"Of what the gold alone adds over memory ({signed(mean_of(possible))}), the context of "
        f"the control realizes {percent(share)} ({confidence_text(limits)} "
        f"{percent(limits.low)} to {percent(limits.high)}, bootstrap; n = {len(rows)}).",
    )


def _over_memory(case: Case, oracle: str) -> list[tuple[str, float, float]]:
    """By qid, what control and what the oracle context add over the closed book."""
    control, closed = case.arms
    found = []
    for qid in answerable(case.study):
        b, n, o = (
            case.table.mean(arm, case.contrast.measure, qid) for arm in (control, closed, oracle)
        )
        if b is not None and n is not None and o is not None:
            found.append((qid, b - n, o - n))
    return found


def _fabrication(case: Case) -> tuple[str, ...]:
    """On unanswerable questions: inventions brought about by the context, and unprompted ones."""
    qids = unanswerable(case.study)
    pairs = case.table.pairs(case.table.reading(case.contrast.measure), case.arms, qids)
    if not pairs.qids:
        return ()
    n = len(pairs.qids)
    both = zip(pairs.control, pairs.treatment, strict=True)
    induced = fsum(max(0.0, closed - given) for given, closed in both)
    unprompted = fsum(1.0 - closed for closed in pairs.treatment)
    owner = "; that is for the reader's instruction or the gate to mend, not for retrieval"
    return (
        f"On {count(n, 'unanswerable question')}, where the right answer is to abstain and "
        f"which count apart, the context made the reader invent an answer on {_some(induced)}, "
        f"and it invents one without any context on {_some(unprompted)}"
        f"{owner if induced else ''}.",
    )


def _some(questions: float) -> str:
    return f"{questions:.1f}".removesuffix(".0") if questions else "none"

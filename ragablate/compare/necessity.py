"""Verdicts on evidence taken away or supplied: is it needed, and is it enough?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.compare import phrases, sentences
from ragablate.compare.arms import sibling
from ragablate.compare.case import Case, Ruling
from ragablate.compare.inference.intervals import rate_interval
from ragablate.compare.numbers import confidence_text, percent
from ragablate.compare.owners import GOLD
from ragablate.compare.populations import (
    ANSWERABLE,
    answerable,
    clusters,
    evidence_full,
)
from ragablate.compare.scores import EVIDENCE_IN_CONTEXT, Pairs, ScoreTable, mean_of
from ragablate.records import Contrast, Interval, State

NOT_ENOUGH = "not enough evidence"
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Turned:
    """Questions of one kind in control, and the share of them that an arm turns around."""

    n: int
    """Questions of that kind."""
    share: float
    """Share that turned; fractions where a question was decoded several times."""
    interval: Interval
    """Wilson interval of the share."""
    noise: float | None
    """Share of the same questions that a mere repetition turns; ``None`` without a placebo."""


def turned(
    table: ScoreTable, contrast: Contrast, pairs: Pairs, arm: str, *, was_right: bool
) -> Turned | None:
    """Share of questions that turn, among those where evidence and answer agreed in control.

    ``was_right`` selects questions with full evidence and a right answer (does taking the
    evidence away turn them wrong?), otherwise those without full evidence and a wrong answer
    (does supplying it turn them right?). Both select on a noisy outcome, so the share that a
    placebo turns stands beside it. ``None`` where there is no such question.
    """
    wanted = 1.0 if was_right else 0.0
    rows = [
        (qid, abs(treatment - wanted))
        for qid, control, treatment in zip(pairs.qids, pairs.control, pairs.treatment, strict=True)
        if control == wanted and evidence_full(table, arm, qid) is was_right
    ]
    if not rows:
        return None
    qids, shares = [row[0] for row in rows], [row[1] for row in rows]
    return Turned(
        n=len(rows),
        share=mean_of(shares),
        interval=rate_interval(shares, clusters=clusters(table.study, qids)),
        noise=_noise(table, contrast, qids, wanted),
    )


def _noise(
    table: ScoreTable, contrast: Contrast, qids: Sequence[str], wanted: float
) -> float | None:
    placebo = sibling(table.study, contrast, "placebo")
    if placebo is None:
        return None
    again = [table.mean(placebo.treatment, contrast.measure, qid) for qid in qids]
    asked = [abs(y - wanted) for y in again if y is not None]
    return mean_of(asked) if asked else None


def necessity_reading(effect: State, share: Interval | None) -> str:
    """Whether the evidence is what makes the answers right.

    Args:
        effect: State of the score without the gold minus the score with it.
        share: Interval of the share of right answers with full evidence that turn wrong.
    """
    if effect == "up":
        return "gold suspect"
    if share is not None and share.high < HALF:
        return "evidence is not what makes most answers right"
    if effect == "flat":
        return "evidence is not what makes these answers right"
    if effect == "down":
        return "answers need the evidence"
    return NOT_ENOUGH


def without_gold(case: Case) -> Ruling:
    """The verdict on a context from which all gold was taken."""
    found = turned(case.table, case.contrast, case.pairs, case.arms[0], was_right=True)
    verdict = necessity_reading(case.primary.state, None if found is None else found.interval)
    suspect = "Without the gold the answers are better: audit the gold evidence."
    return Ruling(
        verdict=verdict,
        sentences=(
            *sentences.headline(case),
            *((suspect,) if verdict == "gold suspect" else ()),
            *_necessity(found),
        ),
        settle=sentences.more_questions(case, case.primary),
        owner=GOLD if verdict == "gold suspect" else "",
    )


def _necessity(found: Turned | None) -> tuple[str, ...]:
    if found is None:
        return ("No question was answered right with all the evidence in its context.",)
    text = (
        f"Of the {found.n} answered right with all the evidence in the context, "
        f"{_share(found)} turn wrong without it"
    )
    if found.interval.high < HALF:
        text += (
            ": most of them do not depend on the passages (memory, or a second source that is "
            "not labelled), so retrieval numbers on this set say little about new questions"
        )
    return (f"{text}.",)


def _share(found: Turned) -> str:
    low, high = round(100 * found.interval.low), round(100 * found.interval.high)
    text = f"{percent(found.share)} ({confidence_text(found.interval)} {low} to {high} %)"
    if not found.noise:
        return text
    less = percent(max(0.0, found.share - found.noise))
    return f"{text}, {less} beyond the {percent(found.noise)} that turn when merely asked again,"


def edited_context(case: Case) -> Ruling:
    """The verdict on a context edited by intervention, such as gold put back into it."""
    _, new = phrases.names(case.study, case.contrast)
    verdict = {
        "up": f"{new} improves answers",
        "down": f"{new} makes answers worse",
        "flat": "no material change",
    }.get(case.primary.state, NOT_ENOUGH)
    evidence = phrases.brief(case, case.effect(EVIDENCE_IN_CONTEXT), "evidence in the context")
    return Ruling(
        verdict=verdict,
        sentences=(
            *sentences.headline(case),
            phrases.sentence(evidence),
            *_sufficiency(case),
        ),
        settle=sentences.more_questions(case, case.primary),
        rests_on=((EVIDENCE_IN_CONTEXT, ANSWERABLE),),
    )


def _sufficiency(case: Case) -> tuple[str, ...]:
    found = turned(case.table, case.contrast, case.pairs, case.arms[0], was_right=False)
    if found is None:
        return ()
    return (
        f"Of the {found.n} answered wrong without all the evidence in the context, "
        f"{_share(found)} turn right.",
    )


def needed(table: ScoreTable, contrast: Contrast) -> Turned | None:
    """How many right answers need the evidence, if the plan takes it away from this control."""
    other = sibling(table.study, contrast, "necessity")
    if other is None:
        return None
    arms = (other.control, other.treatment)
    pairs = table.pairs(table.reading(other.measure), arms, answerable(table.study))
    return turned(table, other, pairs, other.control, was_right=True)

"""The verdict of an oracle context: is it the reader that loses answers, or what feeds it?"""

from __future__ import annotations

from dataclasses import replace

from ragablate.compare import phrases, sentences
from ragablate.compare.arms import without_gate
from ragablate.compare.case import Case, Ruling
from ragablate.compare.contrasts import UPSTREAM_MINUS_READER
from ragablate.compare.inference.intervals import rate_interval
from ragablate.compare.numbers import (
    between,
    confidence_text,
    count,
    margin_text,
    percent,
    plain,
    rate_between,
    signed,
)
from ragablate.compare.owners import GOLD, READER, UPSTREAM
from ragablate.compare.populations import ANSWERABLE, clusters, evidence_full
from ragablate.compare.scores import mean_of
from ragablate.records import Interval, State

GOLD_SUSPECT = "gold suspect"
NO_SHORTFALL = "no material shortfall"
UPSTREAM_IS = "upstream is the bottleneck"
READER_IS = "reader is the bottleneck"
READER_LARGER = "reader is the larger loss"
BOTH = "both"
NOT_ENOUGH = "not enough evidence"


def bottleneck(
    gap: State, weighing: State, control: Interval, oracle: Interval, margin: float
) -> str:
    """The first row of the decision table that applies.

    Args:
        gap: State of oracle minus control.
        weighing: State of what is lost upstream minus what the reader loses.
        control: Interval of control's shortfall from 1.
        oracle: Interval of the oracle context's shortfall from 1.
        margin: Declared smallest difference that matters.
    """
    rows = (
        (gap == "down", GOLD_SUSPECT),
        (control.high <= margin, NO_SHORTFALL),
        (gap == "up" and weighing == "up", UPSTREAM_IS),
        (gap == "flat" and oracle.low > margin, READER_IS),
        (gap == "flat" and oracle.high <= margin, NO_SHORTFALL),
        (gap in ("up", "unclear") and weighing == "down", READER_LARGER),
        (gap == "up", BOTH),
    )
    return next((verdict for holds, verdict in rows if holds), NOT_ENOUGH)


def oracle_context(case: Case) -> Ruling:
    """The verdict on which side of the reader the answers are lost."""
    ruling = either_side(case)
    return replace(
        ruling,
        sentences=(
            *sentences.headline(case),
            *ruling.sentences,
            *_beyond_one_fix(case),
            *_gate(case),
        ),
    )


def either_side(case: Case) -> Ruling:
    """The verdict alone, with the sentence that says what it rests on."""
    shortfalls = tuple(_shortfall(case, side) for side in (0, 1))
    verdict = bottleneck(
        case.primary.state,
        case.state(UPSTREAM_MINUS_READER),
        shortfalls[0],
        shortfalls[1],
        case.contrast.margin,
    )
    return Ruling(
        verdict=verdict,
        sentences=(_reading(case, verdict, shortfalls[0], shortfalls[1]),),
        settle=_settle(case, verdict),
        owner={
            UPSTREAM_IS: UPSTREAM,
            READER_IS: READER,
            READER_LARGER: READER,
            GOLD_SUSPECT: GOLD,
        }.get(verdict, ""),
        rests_on=((UPSTREAM_MINUS_READER, ANSWERABLE),),
    )


def _shortfall(case: Case, side: int) -> Interval:
    scores = (case.pairs.control, case.pairs.treatment)[side]
    return rate_interval([1.0 - y for y in scores], clusters=clusters(case.study, case.pairs.qids))


def _reading(case: Case, verdict: str, control: Interval, oracle: Interval) -> str:
    margin = margin_text(case.contrast.margin)
    score = case.contrast.measure
    ceiling = 0.0 if case.primary.treatment_mean is None else case.primary.treatment_mean
    missing = f"{plain(1 - ceiling)} ({confidence_text(oracle)} {rate_between(oracle)})"
    if verdict == GOLD_SUSPECT:
        return (
            "Exactly the gold evidence serves this reader worse than its own context: audit "
            "the gold before any stage is blamed."
        )
    if verdict == NO_SHORTFALL:
        if control.high <= case.contrast.margin:
            return (
                f"There is no material shortfall: the control lacks at most "
                f"{plain(control.high, 3)} of {score} (95 % limit), within the margin of {margin}."
            )
        return (
            f"There is no material shortfall: with the gold alone at most "
            f"{plain(oracle.high, 3)} of {score} is lacking (95 % limit), and the gold adds less "
            "than the margin."
        )
    if verdict == READER_IS:
        return (
            f"The reader is the bottleneck: with exactly the gold before it, it still falls "
            f"short by {missing}, and the gold alone adds less than the margin."
        )
    return f"{_opening(case, verdict)} {_weighing(case)}"


def _opening(case: Case, verdict: str) -> str:
    if verdict == UPSTREAM_IS:
        return (
            "The bottleneck is upstream of the reader, in what it is shown; work on the reader "
            "is premature."
        )
    if verdict == READER_LARGER:
        also = ", though answers are lost upstream of it too" if case.primary.state == "up" else ""
        return f"The reader is the larger loss{also}."
    if verdict == BOTH:
        return (
            "Answers are lost upstream of the reader; whether the reader loses as many is not "
            "decided."
        )
    return "Which side of the reader loses more cannot be said yet."


def _weighing(case: Case) -> str:
    """What is lost on either side of the reader, side by side."""
    effect = case.effect(UPSTREAM_MINUS_READER)
    if effect is None or effect.ci95 is None:
        return (
            "What the reader loses where it had the evidence was not measured, so the two "
            "cannot be weighed."
        )
    upstream, reader = effect.treatment_mean or 0.0, effect.control_mean or 0.0
    return (
        f"The gold would add {signed(upstream)}, and {plain(reader)} is lost by the reader on "
        f"questions whose evidence it already had (difference {phrases.number(effect)}, "
        f"{confidence_text(effect.ci95)} {between(effect.ci95)}; "
        f"{phrases.test_text(case, effect)})."
    )


def _beyond_one_fix(case: Case) -> tuple[str, ...]:
    """Questions whose evidence was missing and that stay wrong with the gold, if they matter."""
    lost = (
        0.0 if evidence_full(case.table, case.arms[0], qid) is not False else 1.0 - y
        for qid, y in zip(case.pairs.qids, case.pairs.treatment, strict=True)
    )
    share = mean_of(list(lost))
    if share <= case.contrast.margin:
        return ()
    return (
        f"{percent(share)} of the questions need more than one fix: their evidence was not in "
        "the context, and with exactly the gold the reader fails them still.",
    )


def _gate(case: Case) -> tuple[str, ...]:
    """What the gate itself costs, where it was taken out of the comparison."""
    gate = without_gate(case.study, case.contrast)
    effect = None if gate is None else case.headlines.get(gate.id)
    if effect is None:
        return ()
    clause = phrases.brief(case, effect, phrases.measure(case.study, effect.measure))
    return (f"The gate's own part, when it is taken out: {clause}.",)


def _settle(case: Case, verdict: str) -> str:
    if verdict == UPSTREAM_IS:
        return "swap the retriever and the assembler, each alone, to see which of them loses it"
    weighing = case.effect(UPSTREAM_MINUS_READER)
    if verdict == BOTH and weighing is not None:
        return sentences.more_questions(case, weighing)
    if verdict == NOT_ENOUGH:
        return sentences.more_questions(case, case.primary) or (
            f"more questions: the shortfall with exactly the gold is not told apart from the "
            f"margin at {count(case.primary.n, 'question')}"
        )
    if verdict == GOLD_SUSPECT:
        return "read the questions that the gold made worse"
    return ""

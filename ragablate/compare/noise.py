"""The verdict of a placebo: how much moves when nothing was changed."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import beta

from ragablate.compare import phrases
from ragablate.compare.case import Case, Ruling
from ragablate.compare.inference.power import flip_rate_upper
from ragablate.compare.numbers import count, percent
from ragablate.compare.scores import ScoreTable
from ragablate.records import State

DETERMINISTIC_FROM = 59
"""Fewest unchanged answers that bound the share of changing ones below 5 %."""


def flips(table: ScoreTable, arms: tuple[str, str], measures: Sequence[str]) -> tuple[int, int]:
    """Questions with a measure that changed in at least one decode, and questions asked again."""
    changed = asked = 0
    for qid in table.study.qids:
        both = [pair for name in measures for pair in _repeated(table, arms, name, qid)]
        asked += bool(both)
        changed += any(first != again for first, again in both)
    return changed, asked


def _repeated(
    table: ScoreTable, arms: tuple[str, str], measure: str, qid: str
) -> list[tuple[float, float]]:
    first, again = (table.values(arm, measure, qid) for arm in arms)
    pairs = zip(first, again, strict=False)
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def flip_upper(changed: int, asked: int) -> float:
    """Exact one-sided 95 % upper limit of the share of questions whose score changes."""
    if not changed:
        return flip_rate_upper(asked)
    return 1.0 if changed >= asked else float(beta.ppf(0.95, changed + 1, asked - changed))


def placebo_reading(effect: State, changed: int, asked: int) -> str:
    """What the placebo says of the reader and of the run."""
    if effect in ("up", "down"):
        return "placebo moved"
    if changed:
        return "reader is stochastic"
    if asked >= DETERMINISTIC_FROM:
        return "reader is deterministic"
    return "no change seen, too few to call it deterministic"


def placebo(case: Case) -> Ruling:
    """The verdict on the control asked again."""
    score = case.contrast.measure
    changed, asked = flips(case.table, case.arms, sorted(case.study.measures))
    verdict = placebo_reading(case.primary.state, changed, asked)
    return Ruling(
        verdict=verdict,
        sentences=(
            f"Asked again with nothing changed, {changed} of {count(asked, 'question')} moved on "
            f"some measure ({flips(case.table, case.arms, [score])[0]} on {score}); the 95 % "
            f"upper limit of that share is {percent(flip_upper(changed, asked))}.",
            *_mean(case),
            *_meaning(case, verdict),
        ),
        settle=_settle(case, verdict, asked),
    )


def _mean(case: Case) -> tuple[str, ...]:
    """What the repetition did to the mean, where anything changed."""
    effect = case.primary
    if not effect.better + effect.worse:
        return ()
    clause = phrases.brief(case, effect, phrases.measure(case.study, effect.measure))
    return (f"On {phrases.questions(effect)}, {clause}.",)


def _meaning(case: Case, verdict: str) -> tuple[str, ...]:
    replicates = _replicates(case)
    if verdict == "placebo moved":
        return (
            "Something moves the score though nothing was changed (a hosted model that drifted, "
            "a cache, an order effect): no other difference of this run can be trusted yet.",
        )
    if verdict == "reader is stochastic":
        return (
            "Claims about the whole set stand, since this noise is inside their intervals; the "
            "cause of a single failure needs at least 3 replicates"
            + (f" (this run has {replicates})." if replicates < 3 else "."),
        )
    if verdict == "reader is deterministic":
        return ("The reader counts as deterministic on this set.",)
    return ("That is too few to call the reader deterministic.",)


def _replicates(case: Case) -> int:
    """Decodes per question in control, of which the placebo may hold fewer."""
    score = case.contrast.measure
    return max(len(case.table.values(case.arms[0], score, qid)) for qid in case.study.qids)


def _settle(case: Case, verdict: str, asked: int) -> str:
    if verdict == "placebo moved":
        return "run control again, arms interleaved, and compare only within that run"
    if verdict == "reader is stochastic" and _replicates(case) < 3:
        return "replicates=3"
    if asked < DETERMINISTIC_FROM and verdict != "reader is stochastic":
        return f"a placebo on at least {DETERMINISTIC_FROM} questions (this one has {asked})"
    return ""

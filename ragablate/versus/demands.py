"""What a CI run demands of a bundle: rates it must reach, and measures that must not fall."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.bundle.read import Bundle
from ragablate.compare.inference.intervals import mean_interval, rate_interval
from ragablate.compare.inference.states import worst_case
from ragablate.compare.numbers import count, plain, signed
from ragablate.compare.populations import answerable, clusters, unanswerable
from ragablate.compare.scores import ScoreTable, mean_of
from ragablate.errors import DesignError
from ragablate.records import Study

_DEMAND = re.compile(
    r"\s*(?P<measure>[^@<>=\s]+)(?:@(?P<arm>[^<>]+?))?\s*(?P<sign>>=|<=)\s*(?P<value>[-+.\deE]+)\s*"
)
CONFIDENCE = 0.90
"""Two-sided, so that each limit alone is one of 95 %."""


@dataclass(frozen=True, slots=True)
class Demand:
    """A rate that an arm must reach, or must not exceed."""

    text: str
    """As it was written."""
    measure: str
    """Of which measure."""
    arm: str
    """In which arm: its name, or the experiment whose treatment it is; empty for control."""
    least: bool
    """Whether the value is the least (or else the most) that is allowed."""
    value: float
    """The threshold, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a demand is met, and the sentence that says so."""

    demand: str
    """What was asked."""
    met: bool
    """Whether the interval shows it."""
    sentence: str
    """With the numbers."""


def parse(text: str) -> Demand:
    """``measure[@arm]>=value`` or ``…<=value``.

    Raises:
        DesignError: It does not read like that.
    """
    found = _DEMAND.fullmatch(text)
    try:
        value = float(found["value"]) if found else -1.0
    except ValueError:
        value = -1.0
    if found is None or not 0 <= value <= 1:
        raise DesignError(
            [
                f"--require '{text}' is no demand: write MEASURE@ARM>=VALUE with a value from 0 to "
                "1, such as 'correct@oracle_context>=0.80'"
            ]
        )
    return Demand(
        text, found["measure"], (found["arm"] or "").strip(), found["sign"] == ">=", value
    )


def met(demand: Demand, bundle: Bundle, study: Study, *, by_point: bool = False) -> Outcome:
    """Whether an arm's rate is shown to lie on the right side of a threshold.

    By the limit of the interval that faces the threshold (Wilson, one-sided 95 %, clusters
    for n where a key repeats): a rate that happens to lie above it in few questions does not
    pass. A question without a verdict counts as the worst it could be.

    Args:
        demand: The threshold.
        bundle: Whose arms are meant.
        study: The bundle's.
        by_point: Compare the rate itself in place of the limit.

    Raises:
        DesignError: The bundle has no such arm or measure.
    """
    arm = arm_of(demand.arm, bundle)
    if demand.measure not in study.scores.get(arm, {}):
        known = ", ".join(sorted(study.scores.get(arm, {})))
        raise DesignError(
            [f"--require '{demand.text}': '{demand.measure}' was not measured in arm '{arm}'; "
             f"measured are {known}"]
        )  # fmt: skip
    table = ScoreTable(study)
    qids = answerable(study) or unanswerable(study)
    worst = 0.0 if demand.least else 1.0
    found = [table.mean(arm, demand.measure, qid) for qid in qids]
    values = [worst if value is None else value for value in found]
    rate = mean_of(values)
    interval = rate_interval(values, clusters=clusters(study, qids), confidence=CONFIDENCE)
    limit = interval.low if demand.least else interval.high
    shown = rate if by_point else limit
    passed = shown >= demand.value if demand.least else shown <= demand.value
    missing = sum(value is None for value in found)
    aside = f", {count(missing, 'unmeasured question')} counted as {worst:g}" if missing else ""
    side = "lower" if demand.least else "upper"
    judged = "the rate itself" if by_point else f"the {side} 95 % limit"
    return Outcome(
        demand.text,
        passed,
        f"{demand.text}: {'met' if passed else 'NOT MET'}. {demand.measure} in arm '{arm}' is "
        f"{plain(rate, 3)} ({side} 95 % limit {plain(limit, 3)}, n = {len(values)}{aside}); judged "
        f"by {judged}.",
    )


def not_worse(measure: str, study: Study, arms: tuple[str, str], margin: float) -> Outcome:
    """Whether a measure is shown not to have fallen by more than the margin.

    Non-inferiority: the lower one-sided 95 % limit of new minus old must lie above -margin,
    also if every missing answer had been the worst it could be.

    Source: Schuirmann's two one-sided tests, of which this is the one that matters here.

    Args:
        measure: What must not fall.
        study: Holds both arms.
        arms: Old and new.
        margin: The largest fall that does not matter.
    """
    table = ScoreTable(study)
    qids = answerable(study) or unanswerable(study)
    sides = [[table.mean(arm, measure, qid) for qid in qids] for arm in arms]
    rows = [
        (qid, new - old)
        for qid, old, new in zip(qids, *sides, strict=True)
        if old is not None and new is not None
    ]
    asked = f"no regression of {measure} by more than {margin:g}"
    if len(rows) < 2:
        said = f"{asked}: NOT SHOWN. Fewer than two questions have it in both."
        return Outcome(asked, False, said)
    change = [moved for _, moved in rows]
    lows = [_low(change, study, [qid for qid, _ in rows])]
    missing = len(qids) - len(rows)
    if missing:
        lows.append(_low(worst_case(*sides)[0].tolist(), study, qids))
    low = min(lows)
    passed = low > -margin
    aside = f", {count(missing, 'question')} unmeasured in one and counted as lost" * bool(missing)
    return Outcome(
        asked,
        passed,
        f"{asked}: {'shown' if passed else 'NOT SHOWN'}. "
        f"New minus old is {signed(mean_of(change), 3)} (lower 95 % limit "
        f"{signed(low, 3)}, n = {len(rows)}{aside}).",
    )


def _low(change: Sequence[float], study: Study, qids: Sequence[str]) -> float:
    keys = clusters(study, qids)
    return mean_interval(change, clusters=keys, confidence=CONFIDENCE).low


def arm_of(name: str, bundle: Bundle) -> str:
    """The arm that is meant: control, an arm by its name, or an experiment's only treatment.

    Raises:
        DesignError: There is none, or there are several.
    """
    arms = list(bundle.arms)
    if not name:
        return arms[0]
    if name in arms:
        return name
    treatments = {c.treatment for c in bundle.contrasts if name in (c.experiment, c.id, c.level)}
    if len(treatments) == 1:
        return treatments.pop()
    known = ", ".join(dict.fromkeys([*arms, *(c.experiment for c in bundle.contrasts)]))
    several = "several arms" if treatments else "no arm"
    raise DesignError([f"'{name}' names {several} of {bundle.folder}: use one of {known}"])

"""What a gate decides on: numbers of the candidates and of the ranking they became."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ragablate.protocols import GateRequest
from ragablate.records import GateDecision, Question

TENTH = 10
FIRST_RERANKED = 20

Signal = Callable[[GateRequest], float | None]


def top(request: GateRequest) -> float | None:
    """The retriever's highest score; ``None`` without a candidate."""
    return request.candidates[0].score if request.candidates else None


def gap(request: GateRequest) -> float | None:
    """How far the first candidate stands above the tenth, or above the last of fewer.

    A question that the corpus answers has few passages that fit it, one that is merely near its
    subject has many that fit about as well. ``None`` without two candidates to compare.
    """
    found = request.candidates
    if len(found) < 2:
        return None
    return found[0].score - found[min(TENTH, len(found)) - 1].score


def relevance(request: GateRequest) -> float | None:
    """The reranker's highest score among its first 20; ``None`` with an empty ranking."""
    return max((hit.score for hit in request.retrieved[:FIRST_RERANKED]), default=None)


def agreement(request: GateRequest) -> float | None:
    """Share of the first ten of the ranking that the retriever had among its first ten."""
    ranked = [hit.pid for hit in request.retrieved[:TENTH]]
    if not ranked:
        return None
    before = {hit.pid for hit in request.candidates[:TENTH]}
    return sum(pid in before for pid in ranked) / len(ranked)


SIGNALS: Mapping[str, Signal] = {
    "top": top,
    "gap": gap,
    "relevance": relevance,
    "agreement": agreement,
}
"""By the name they have in a trace and in ``ragablate calibrate``."""


def signals_of(request: GateRequest) -> dict[str, float]:
    """Every signal that the request has."""
    found = {name: signal(request) for name, signal in SIGNALS.items()}
    return {name: value for name, value in found.items() if value is not None}


def floor_for(question: Question, floor: float, segment: str, floors: Mapping[str, float]) -> float:
    """The floor of a question's segment, or the one of all others."""
    # On a command line a value such as 2 is a number.
    own = {str(value): least for value, least in floors.items()}
    return own.get(question.slices.get(segment, ""), floor) if segment else floor


def by_floor(
    request: GateRequest, name: str, floor: float, outcome: str, missing: str
) -> GateDecision:
    """Go on at the floor and above it.

    Args:
        request: The question.
        name: The signal.
        floor: Its floor.
        outcome: What happens below it: ``refuse``, ``clarify`` or ``broaden``.
        missing: What is missing then, in a sentence a user may read.
    """
    found = signals_of(request)
    value = found.get(name)
    told = {**found, f"{name}_floor": floor}
    if value is None:
        return unmeasured(request, outcome, told)
    if value < floor:
        return GateDecision(outcome, missing, told)  # type: ignore[arg-type]
    return GateDecision("go", "", told)


def unmeasured(request: GateRequest, outcome: str, told: Mapping[str, float]) -> GateDecision:
    """Not to go on for want of a signal: to search again where that is what happens, else no."""
    reason = "Nothing was found for this question."
    if request.candidates and request.retrieved:
        reason = "A single passage was found, and nothing to compare it with."
    return GateDecision("broaden" if outcome == "broaden" else "refuse", reason, told)


OUTCOMES = ("refuse", "clarify", "broaden")
"""What a gate may do instead of going on."""


def floor_problems(
    floors: Mapping[str, float | None], segment: str, outcome: str, named: Sequence[str] = ()
) -> list[str]:
    """Floors that are no numbers, segments without a slice, outcomes that do not exist.

    Args:
        floors: By the knob that gives each.
        segment: The slice whose values have floors of their own; empty for none.
        outcome: What happens below a floor.
        named: Values of that slice that have one.
    """
    found = [
        f"{knob} is {value!r}: give the floor as a number, such as ragablate calibrate finds it"
        for knob, value in floors.items()
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value
    ]
    if named and not segment:
        found.append("floors are given by segment, and segment names no slice of the questions")
    if outcome not in OUTCOMES:
        found.append(f"below is {outcome!r}: give {', '.join(OUTCOMES)}")
    return found

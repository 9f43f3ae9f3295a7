"""Measuring every answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragablate.codec import digest
from ragablate.errors import AdapterError
from ragablate.protocols import JudgeRequest
from ragablate.records import Gold, Item, ResolvedGold, Trace, Verdict
from ragablate.stages import Progress, Work, run, shipped
from ragablate.store import Store

_Verdicts = Item[tuple[Verdict, ...]]


_BLOCK = 256
"""Answers that judges on this machine see at a time, of one arm after the other: the arms of a
question share most of their passages, and what was made of a passage is remembered so long."""


def judge_all(
    judges: Mapping[str, tuple[Any, str]],
    traces: Mapping[str, Sequence[Trace]],
    gold: Mapping[str, Gold],
    resolved: Mapping[str, Mapping[str, ResolvedGold]],
    store: Store,
    progress: Progress,
) -> dict[str, tuple[Verdict, ...]]:
    """Verdicts by arm, in the order of its traces; within one, of the judges and their measures.

    Args:
        judges: Judge and fingerprint by name.
        traces: By arm.
        gold: By qid.
        resolved: By arm, then by qid.
        store: Where verdicts that cost something are kept.
        progress: Told as verdicts arrive.
    """
    asked = {
        arm: [
            JudgeRequest(f"{t.qid}/{t.replicate}", replace(t, arm=""), gold[t.qid], own[t.qid])
            for t in lines
        ]
        for arm, lines in traces.items()
        for own in (resolved[arm],)
    }
    rounds, place = _distinct(asked)
    found = {
        name: _judged(name, judge, own, rounds, store, progress)
        for name, (judge, own) in judges.items()
    }

    def of(arm: str) -> Iterator[Verdict]:
        for request in asked[arm]:
            at = place[arm, request.id]
            for name, (judge, _) in judges.items():
                yield from _verdicts(judge, request, found[name][at][request.id])

    return {arm: tuple(of(arm)) for arm in traces}


def _distinct(
    asked: Mapping[str, Sequence[JudgeRequest]],
) -> tuple[list[dict[str, JudgeRequest]], dict[tuple[str, str], int]]:
    """Rounds in which no id comes twice, and the round that judges an arm's answer.

    What is the same in two arms is judged once: judges see no arm, and give equals the same.
    """
    rounds: list[dict[str, JudgeRequest]] = []
    place: dict[tuple[str, str], int] = {}
    for arm, requests in asked.items():
        for request in requests:
            at = 0
            while at < len(rounds) and rounds[at].get(request.id, request) != request:
                at += 1
            if at == len(rounds):
                rounds.append({})
            rounds[at].setdefault(request.id, request)
            place[arm, request.id] = at
    return rounds, place


def _judged(
    name: str,
    judge: Any,
    fingerprint: str,
    rounds: Sequence[Mapping[str, JudgeRequest]],
    store: Store,
    progress: Progress,
) -> list[dict[str, _Verdicts]]:
    """What one judge says, by round and id."""
    cheap = bool(getattr(judge, "cheap", False))
    work: Work[JudgeRequest, tuple[Verdict, ...]] = Work(
        f"judge.{name}",
        fingerprint,
        Item[tuple[Verdict, ...]],
        _sound(name, judge.judge),
        cheap,
        trusted=cheap and shipped(judge),
    )
    every = list(dict.fromkeys(key for one in rounds for key in one))
    size = _BLOCK if cheap else max(len(every), 1)
    total = sum(len(one) for one in rounds)
    found: list[dict[str, _Verdicts]] = [{} for _ in rounds]
    for start in range(0, len(every), size):
        for one, into in zip(rounds, found, strict=True):
            requests = [one[key] for key in every[start : start + size] if key in one]
            # A stored verdict is known by everything the judge saw, not by the arm.
            keyed = {r.id if cheap else _content(r): r for r in requests}
            told = _further(progress, sum(map(len, found)), total) if cheap else progress
            into.update((keyed[k].id, item) for k, item in run(work, keyed, store, told).items())
    return found


def _further(progress: Progress, before: int, total: int) -> Progress:
    return lambda stage, done, _: progress(stage, before + done, total)


def _sound(name: str, judge: Callable[[Sequence[JudgeRequest]], Iterator[_Verdicts]]) -> Any:
    """A judge whose values are held to [0, 1] before anything is stored."""

    def sound(requests: Sequence[JudgeRequest]) -> Iterator[_Verdicts]:
        for item in judge(requests):
            for v in item.value or ():
                if v.value is not None and not 0.0 <= v.value <= 1.0:
                    raise AdapterError(
                        f"judge.{name}: score {v.value:g} of {v.measure} on {v.qid}: scores lie "
                        "in [0, 1], and what could not be measured is None with a reason"
                    )
            yield item

    return sound


def _content(request: JudgeRequest) -> str:
    answer = request.trace.answer
    timeless = replace(answer, latency_s=None) if answer is not None else None
    return digest(
        request.id, replace(request.trace, answer=timeless), request.gold, request.resolved
    )


def _verdicts(
    judge: Any, request: JudgeRequest, item: Item[tuple[Verdict, ...]]
) -> Sequence[Verdict]:
    if item.value is not None:
        return item.value
    reason = item.failure.message if item.failure is not None else "no verdict"
    trace = request.trace
    return [Verdict(trace.qid, trace.replicate, m.name, None, reason) for m in judge.measures()]

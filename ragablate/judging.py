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


def judge_all(
    judges: Mapping[str, tuple[Any, str]],
    traces: Sequence[Trace],
    gold: Mapping[str, Gold],
    resolved: Mapping[str, ResolvedGold],
    store: Store,
    progress: Progress,
) -> tuple[Verdict, ...]:
    """Verdicts in the order of the traces; within one, of the judges and their measures."""
    requests = [
        JudgeRequest(f"{t.qid}/{t.replicate}", replace(t, arm=""), gold[t.qid], resolved[t.qid])
        for t in traces
    ]
    by_trace: dict[str, list[Verdict]] = {r.id: [] for r in requests}
    for name, (judge, own) in judges.items():
        cheap = bool(getattr(judge, "cheap", False))
        # A stored verdict is known by everything the judge saw, not by the arm.
        keyed = {r.id if cheap else _content(r): r for r in requests}
        work: Work[JudgeRequest, tuple[Verdict, ...]] = Work(
            f"judge.{name}",
            own,
            Item[tuple[Verdict, ...]],
            _sound(name, judge.judge),
            cheap,
            trusted=cheap and shipped(judge),
        )
        items = {keyed[k].id: item for k, item in run(work, keyed, store, progress).items()}
        for request in requests:
            by_trace[request.id] += _verdicts(judge, request, items[request.id])
    return tuple(v for r in requests for v in by_trace[r.id])


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

"""All reader calls of a plan, in one seeded shuffled order.

An answer is known by reader, prompt digest, decode seed and replicate. Calls of different
arms and readers are interleaved, so that a drifting endpoint cannot line up with an arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from ragablate.adapters import Pipeline
from ragablate.budget import Asking, Budget, Limits
from ragablate.design import PLACEBO, Plan
from ragablate.prepared import Prepared
from ragablate.prompts import prompt_digest
from ragablate.records import Answer, Item, Prompt, ReadRequest, Segment
from ragablate.seeds import decode_seed, derive
from ragablate.stages import Pending, Progress, Work
from ragablate.store import Store

_INTERLEAVED = 128
_INTERLEAVED_REMOTE = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """What an execution needs to know besides the plan."""

    seed: int
    """Seed of decoding and sampling."""
    replicates: int
    """Decodes per question and arm."""
    selected_by_failure: bool = False
    """Whether the questions were chosen because a control failed on them."""
    fresh_control: bool = False
    """Whether every answer is decoded anew for this question set."""
    gold_coverage: float = 1.0
    """Share of a gold span that passages must hold for it to count as covered."""
    limits: Limits = field(default_factory=Limits)
    """What may be spent on reader calls."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One decode an arm needs, with the place its answer is stored under."""

    arm: str
    prepared: Prepared
    replicate: int
    prompt: Prompt | None
    digest: str
    key: str


def readings(
    plan: Plan,
    arm: str,
    pipeline: Pipeline,
    prepared: Mapping[str, Prepared],
    settings: Settings,
    pieces: dict[Segment, Segment],
) -> Iterator[Reading]:
    """Every decode an arm needs; the placebo's is one more of control's prompts.

    Args:
        plan: Says which arm is a placebo and what it asks.
        arm: Name of the arm.
        pipeline: Its adapters.
        prepared: What the reader is shown, by qid.
        settings: Seed and replicates.
        pieces: Pieces of earlier prompts, which are used again for equal ones and added to: most
            passages stand in the prompts of many questions and arms.
    """
    replicates: Sequence[int] = range(1, settings.replicates + 1)
    qids = set(prepared)
    if arm == PLACEBO:
        replicates = [settings.replicates + 1]
        qids = _probed(plan, prepared, settings.seed)
    reader, own = pipeline["reader"], pipeline.fingerprints["reader"]
    for qid, each in prepared.items():
        if qid not in qids:
            continue
        prompt = None
        prompt_key = ""
        if each.failure is None and not each.refused:
            prompt = _shared(reader.prompt(each.question, each.context), pieces)
            prompt_key = prompt_digest(prompt)
        for replicate in replicates:
            seed = decode_seed(settings.seed, qid, replicate)
            key = f"{own}/{reading_key(prompt_key, seed, replicate)}" if prompt is not None else ""
            yield Reading(arm, each, replicate, prompt, prompt_key, key)


def _shared(prompt: Prompt, pieces: dict[Segment, Segment]) -> Prompt:
    own = (pieces.setdefault(s, s) if s.pid else s for s in prompt.segments)
    return Prompt(prompt.qid, prompt.question, tuple(own))


def reading_key(digest: str, seed: int, replicate: int) -> str:
    """What an answer is known by among those of its reader."""
    return f"{digest}:{seed}:{replicate}"


def _probed(plan: Plan, prepared: Mapping[str, Prepared], seed: int) -> set[str]:
    """The questions a placebo asks again: a seeded sample of the declared size."""
    size = next(e.questions for e in plan.experiments if e.design == "placebo")
    shuffled = sorted(prepared, key=lambda qid: (derive(seed, "placebo", qid), qid))
    return set(shuffled[:size])


def read(
    wanted: Sequence[Reading],
    pipelines: Mapping[str, Pipeline],
    store: Store,
    settings: Settings,
    budget: Budget,
    progress: Progress,
) -> dict[str, Item[Answer]]:
    """Answers by reading key.

    Raises:
        AdapterError: A reader broke its contract, or cannot be asked.
        BudgetError: The limits of the settings allow no further call.
    """
    requests = _requests(wanted, settings.seed)
    order = sorted(requests, key=lambda key: (derive(settings.seed, "order", key), key))
    readers = {p.fingerprints["reader"]: p["reader"] for p in pipelines.values()}
    pending = {
        own: Pending(
            Work("read", own, Item[Answer], reader.read, bool(getattr(reader, "cheap", False))),
            {key: requests[key][1] for key in order if requests[key][0] == own},
            store,
        )
        for own, reader in readers.items()
    }
    missing = {own: {request.id for request in each.missing} for own, each in pending.items()}
    asks = [
        (readers[own], request)
        for own, request in (requests[key] for key in order)
        if request.id in missing[own]
    ]
    owns = {id(reader): own for own, reader in readers.items()}
    done = len(order) - len(asks)
    progress("read", done, len(order))
    for stretch in _stretches(asks, list(readers.values())):
        # Where a result cannot be kept, nothing more is asked.
        with closing(budget.read(stretch, answers)) as found:
            for reader, item in found:
                pending[owns[id(reader)]].take(item)
                done += 1
                progress("read", done, len(order))
    return {k: item for each in pending.values() for k, item in each.finish().items()}


def _requests(wanted: Sequence[Reading], seed: int) -> dict[str, tuple[str, ReadRequest]]:
    """Each decode that is needed, once, with the fingerprint of its reader, by reading key."""
    requests: dict[str, tuple[str, ReadRequest]] = {}
    for reading in wanted:
        if reading.prompt is not None:
            own, _, key = reading.key.partition("/")
            decode = decode_seed(seed, reading.prompt.qid, reading.replicate)
            request = ReadRequest(key, reading.prompt, reading.replicate, decode)
            requests.setdefault(reading.key, (own, request))
    return requests


def _stretches(asks: Sequence[Asking], readers: Sequence[Any]) -> Iterator[Sequence[Asking]]:
    """The shuffled order, cut where several readers have to be asked one after the other.

    One reader gets everything at once, so that it can keep its own concurrency busy, and so do
    several that can be asked together. Between other models elsewhere, which may drift,
    stretches are short; between models that share this machine's memory they are long.
    """
    whole = len(readers) == 1 or _together(readers) is not None
    remote = all(getattr(reader, "remote", False) for reader in readers)
    stretch = _INTERLEAVED_REMOTE if remote else _INTERLEAVED
    size = max(1, len(asks)) if whole else stretch * len(readers)
    for start in range(0, len(asks), size):
        yield asks[start : start + size]


def answers(asks: Sequence[Asking]) -> Iterator[tuple[Any, Item[Answer]]]:
    """Answers with the reader that gave them."""
    by_reader: dict[int, tuple[Any, list[ReadRequest]]] = {}
    for reader, request in asks:
        by_reader.setdefault(id(reader), (reader, []))[1].append(request)
    together = _together([reader for reader, _ in by_reader.values()])
    if together is not None:
        yield from together(asks)
        return
    for reader, requests in by_reader.values():
        for item in reader.read(requests):
            yield reader, item


def _together(readers: Sequence[Any]) -> Any:
    """What asks several readers in one order; ``None`` where they have nothing of the kind."""
    ways = {getattr(type(reader), "read_together", None) for reader in readers}
    return ways.pop() if len(ways) == 1 else None

"""All reader calls of a plan, in one seeded shuffled order.

An answer is known by reader, prompt digest, decode seed and replicate. Calls of different
arms and readers are interleaved, so that a drifting endpoint cannot line up with an arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ragablate.adapters import Pipeline
from ragablate.budget import Budget, Limits
from ragablate.design import PLACEBO, Plan
from ragablate.prepared import Prepared
from ragablate.prompts import prompt_digest
from ragablate.records import Answer, Item, Prompt, ReadRequest
from ragablate.seeds import decode_seed, derive
from ragablate.stages import Progress, Work, run
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
    plan: Plan, arm: str, pipeline: Pipeline, prepared: Mapping[str, Prepared], settings: Settings
) -> Iterator[Reading]:
    """Every decode an arm needs; the placebo's is one more of control's prompts."""
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
            prompt = reader.prompt(each.question, each.context)
            prompt_key = prompt_digest(prompt)
        for replicate in replicates:
            seed = decode_seed(settings.seed, qid, replicate)
            key = f"{prompt_key}:{seed}:{replicate}" if prompt is not None else ""
            yield Reading(arm, each, replicate, prompt, prompt_key, own + "/" + key if key else "")


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
    progress: Progress,
) -> tuple[dict[str, Item[Answer]], int]:
    """Answers by reading key, and how many calls that took.

    Raises:
        BudgetError: The limits of the settings allow no further call.
    """
    seed, budget = settings.seed, Budget(settings.limits)
    requests: dict[str, tuple[str, ReadRequest]] = {}
    for reading in wanted:
        if reading.prompt is not None:
            own, _, key = reading.key.partition("/")
            decode = decode_seed(seed, reading.prompt.qid, reading.replicate)
            request = ReadRequest(key, reading.prompt, reading.replicate, decode)
            requests.setdefault(reading.key, (own, request))
    readers = {p.fingerprints["reader"]: p["reader"] for p in pipelines.values()}
    order = sorted(requests, key=lambda key: (derive(seed, "order", key), key))
    tally = _Tally(len(order), progress)
    answers: dict[str, Item[Answer]] = {}
    for batch in _batches(order, requests, readers):
        for own, keys in batch.items():
            reader = readers[own]
            counted = tally.counting(partial(budget.read, reader))
            work = Work("read", own, Item[Answer], counted, bool(getattr(reader, "cheap", False)))
            found = run(work, {k: requests[k][1] for k in keys}, store, _silent)
            answers.update(found)
            tally.done(len(keys))
    return answers, budget.calls


def _batches(
    order: Sequence[str],
    requests: Mapping[str, tuple[str, ReadRequest]],
    readers: Mapping[str, Any],
) -> Iterator[dict[str, list[str]]]:
    """The shuffled order cut into stretches, each grouped by reader.

    One reader gets everything at once, so that it can keep its own concurrency busy. Between
    models elsewhere, which may drift, stretches are short; between models that share this
    machine's memory they are long.
    """
    remote = all(getattr(reader, "remote", False) for reader in readers.values())
    stretch = _INTERLEAVED_REMOTE if remote else _INTERLEAVED
    size = stretch * len(readers) if len(readers) > 1 else max(1, len(order))
    for start in range(0, len(order), size):
        batch: dict[str, list[str]] = {}
        for key in order[start : start + size]:
            batch.setdefault(requests[key][0], []).append(key)
        yield batch


class _Tally:
    """Counts answers over all readers and batches of a plan."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._finished = 0
        self._inside = 0
        self._total = total
        self._progress = progress

    def counting(self, read: Any) -> Any:
        def counted(requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
            for item in read(requests):
                self._inside += 1
                self._progress("read", self._finished + self._inside, self._total)
                yield item

        return counted

    def done(self, count: int) -> None:
        self._finished += count
        self._inside = 0
        self._progress("read", self._finished, self._total)


def _silent(stage: str, done: int, total: int) -> None:
    pass

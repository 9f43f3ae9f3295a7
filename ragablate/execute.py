"""The plan's unique work, in order, through the store.

Arms are prepared one after the other, sharing what they have in common. All reader calls
of the plan are then made in one seeded shuffled order, so that a drifting endpoint cannot
line up with an arm. At the reader the lineage is cut: an answer is known by reader, prompt
digest, decode seed and replicate, so an arm that leaves a question's prompt unchanged
reuses the answer and its contrast is exactly 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragablate.adapters import Pipeline
from ragablate.codec import digest
from ragablate.design import PLACEBO, Plan
from ragablate.pipeline import Prepared, Upstream
from ragablate.prompts import context_digest, frame_digest, prompt_digest
from ragablate.protocols import JudgeRequest
from ragablate.records import (
    Answer,
    Dataset,
    Item,
    Prompt,
    Question,
    ReadRequest,
    ResolvedGold,
    Trace,
    Verdict,
)
from ragablate.seeds import decode_seed, derive
from ragablate.stages import Progress, Work, run
from ragablate.store import Store

_INTERLEAVED = 128


@dataclass(frozen=True, slots=True)
class Executed:
    """Everything a plan produced."""

    traces: Mapping[str, tuple[Trace, ...]]
    """By arm, in question order, replicates ascending."""
    verdicts: Mapping[str, tuple[Verdict, ...]]
    """By arm, in the order of the traces and of the judges' measures."""
    prompts: Mapping[str, Prompt]
    """Every distinct prompt by digest."""
    resolved: Mapping[str, ResolvedGold]
    """Control's gold by qid."""
    corpora: Mapping[str, tuple[str, int]]
    """By arm, digest and size of what was searched."""
    calls: int
    """Reader calls made now; answers that were stored already are not among them."""
    answered: Mapping[str, tuple[int | None, ...]]
    """By arm, when each trace's answer was stored, in nanoseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an execution needs to know besides the plan."""

    seed: int
    """Seed of decoding and sampling."""
    replicates: int
    """Decodes per question and arm."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One decode an arm needs, with the place its answer is stored under."""

    arm: str
    prepared: Prepared
    replicate: int
    prompt: Prompt | None
    digest: str
    key: str


def sample(dataset: Dataset, limit: int | None, seed: int) -> Dataset:
    """At most ``limit`` questions, a seeded sample stratified by answerable, in file order."""
    if limit is None or limit >= len(dataset.questions):
        return dataset
    strata: dict[bool, list[Question]] = {True: [], False: []}
    for question in dataset.questions:
        strata[dataset.gold[question.qid].answerable].append(question)
    share = limit / len(dataset.questions)
    unanswerable = min(limit, round(share * len(strata[False])))
    wanted = {False: unanswerable, True: limit - unanswerable}
    chosen: set[str] = set()
    for answerable, questions in strata.items():
        shuffled = sorted(questions, key=lambda q: (derive(seed, "sample", q.qid), q.qid))
        chosen.update(q.qid for q in shuffled[: wanted[answerable]])
    kept = tuple(q for q in dataset.questions if q.qid in chosen)
    return replace(dataset, questions=kept, gold={q.qid: dataset.gold[q.qid] for q in kept})


def execute(
    plan: Plan,
    pipelines: Mapping[str, Pipeline],
    judges: Mapping[str, tuple[Any, str]],
    dataset: Dataset,
    store: Store,
    settings: Settings,
    progress: Progress,
) -> Executed:
    """Run every arm of a plan and measure every answer.

    Args:
        plan: Arms and contrasts.
        pipelines: Adapters by arm name.
        judges: Judge and fingerprint by name.
        dataset: Questions, gold and what is searched.
        store: Where stage results are kept.
        settings: Seed and replicates.
        progress: Told as results arrive.

    Raises:
        AdapterError: An adapter broke its contract.
        StoreError: Results cannot be stored.
    """
    upstream = Upstream(dataset, store, progress)
    readings: list[_Reading] = []
    for arm in plan.arms:
        prepared = upstream.prepare(pipelines[arm.name])
        readings += _readings(plan, arm.name, pipelines[arm.name], prepared, settings)
    answers, calls = _read(readings, pipelines, store, settings.seed, progress)
    traces = _traces(readings, answers, [arm.name for arm in plan.arms])
    resolved = {arm.name: upstream.resolved(pipelines[arm.name]) for arm in plan.arms}
    verdicts = {
        name: _judge(judges, traces[name], dataset, resolved[name], store, progress)
        for name in traces
    }
    corpora = {arm.name: upstream.corpus(pipelines[arm.name]) for arm in plan.arms}
    return Executed(
        traces,
        verdicts,
        {r.digest: r.prompt for r in readings if r.prompt is not None},
        resolved[plan.arms[0].name],
        {name: (corpus.digest, len(corpus.passages)) for name, corpus in corpora.items()},
        calls,
        {name: tuple(_stored_at(store, r) for r in readings if r.arm == name) for name in traces},
    )


def _stored_at(store: Store, reading: _Reading) -> int | None:
    own, _, key = reading.key.partition("/")
    entry = store.shelf("read", own).entries.get(key) if key else None
    return entry.at if entry is not None else None


# ── reading ─────────────────────────────────────────────────────────────────────────────


def _readings(
    plan: Plan, arm: str, pipeline: Pipeline, prepared: Mapping[str, Prepared], settings: Settings
) -> Iterator[_Reading]:
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
            yield _Reading(arm, each, replicate, prompt, prompt_key, own + "/" + key if key else "")


def _probed(plan: Plan, prepared: Mapping[str, Prepared], seed: int) -> set[str]:
    """The questions a placebo asks again: a seeded sample of the declared size."""
    size = next(e.questions for e in plan.experiments if e.design == "placebo")
    shuffled = sorted(prepared, key=lambda qid: (derive(seed, "placebo", qid), qid))
    return set(shuffled[:size])


def _read(
    readings: Sequence[_Reading],
    pipelines: Mapping[str, Pipeline],
    store: Store,
    seed: int,
    progress: Progress,
) -> tuple[dict[str, Item[Answer]], int]:
    """Answers by reading key, and how many calls that took."""
    requests: dict[str, tuple[str, ReadRequest]] = {}
    for reading in readings:
        if reading.prompt is not None:
            own, _, key = reading.key.partition("/")
            decode = decode_seed(seed, reading.prompt.qid, reading.replicate)
            request = ReadRequest(key, reading.prompt, reading.replicate, decode)
            requests.setdefault(reading.key, (own, request))
    readers = {p.fingerprints["reader"]: p["reader"] for p in pipelines.values()}
    order = sorted(requests, key=lambda key: (derive(seed, "order", key), key))
    tally = _Tally(len(order), progress)
    answers: dict[str, Item[Answer]] = {}
    for batch in _batches(order, requests, len(readers)):
        for own, keys in batch.items():
            reader = readers[own]
            counted = tally.counting(reader.read)
            work = Work("read", own, Item[Answer], counted, bool(getattr(reader, "cheap", False)))
            found = run(work, {k: requests[k][1] for k in keys}, store, _silent)
            answers.update(found)
            tally.done(len(keys))
    return answers, tally.calls


def _batches(
    order: Sequence[str], requests: Mapping[str, tuple[str, ReadRequest]], readers: int
) -> Iterator[dict[str, list[str]]]:
    """The shuffled order cut into stretches, each grouped by reader.

    One reader gets everything at once, so that it can keep its own concurrency busy.
    """
    size = _INTERLEAVED * readers if readers > 1 else max(1, len(order))
    for start in range(0, len(order), size):
        batch: dict[str, list[str]] = {}
        for key in order[start : start + size]:
            batch.setdefault(requests[key][0], []).append(key)
        yield batch


class _Tally:
    """Counts reader calls over all readers and batches of a plan."""

    def __init__(self, total: int, progress: Progress) -> None:
        self.calls = 0
        self._finished = 0
        self._inside = 0
        self._total = total
        self._progress = progress

    def counting(self, read: Any) -> Any:
        def counted(requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
            self.calls += len(requests)
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


# ── traces and verdicts ─────────────────────────────────────────────────────────────────


def _traces(
    readings: Sequence[_Reading], answers: Mapping[str, Item[Answer]], arms: Sequence[str]
) -> dict[str, tuple[Trace, ...]]:
    traces: dict[str, list[Trace]] = {arm: [] for arm in arms}
    for reading in readings:
        each = reading.prepared
        item = answers.get(reading.key)
        traces[reading.arm].append(
            Trace(
                arm=reading.arm,
                qid=each.question.qid,
                replicate=reading.replicate,
                question=each.question.text,
                history=each.question.history,
                searches=each.searches,
                candidates=each.candidates,
                retrieved=each.retrieved,
                gate=each.gate,
                context=each.context,
                context_digest=context_digest(each.context),
                frame_digest=frame_digest(reading.prompt) if reading.prompt is not None else "",
                prompt_digest=reading.digest,
                answer=item.value if item is not None else None,
                failure=each.failure or (item.failure if item is not None else None),
            )
        )
    return {arm: tuple(found) for arm, found in traces.items()}


def _judge(
    judges: Mapping[str, tuple[Any, str]],
    traces: Sequence[Trace],
    dataset: Dataset,
    resolved: Mapping[str, ResolvedGold],
    store: Store,
    progress: Progress,
) -> tuple[Verdict, ...]:
    """Verdicts in the order of the traces; within one, of the judges and their measures."""
    requests = [
        JudgeRequest(
            f"{t.qid}/{t.replicate}", replace(t, arm=""), dataset.gold[t.qid], resolved[t.qid]
        )
        for t in traces
    ]
    by_trace: dict[str, list[Verdict]] = {r.id: [] for r in requests}
    for name, (judge, own) in judges.items():
        cheap = bool(getattr(judge, "cheap", False))
        # A stored verdict is known by everything the judge saw, not by the arm.
        keyed = {r.id if cheap else _content(r): r for r in requests}
        work: Work[JudgeRequest, tuple[Verdict, ...]] = Work(
            f"judge.{name}", own, Item[tuple[Verdict, ...]], judge.judge, cheap
        )
        items = {keyed[k].id: item for k, item in run(work, keyed, store, progress).items()}
        for request in requests:
            by_trace[request.id] += _verdicts(judge, request, items[request.id])
    return tuple(v for r in requests for v in by_trace[r.id])


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

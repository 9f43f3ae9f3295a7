"""The plan's unique work, in order, through the store.

Arms are prepared one after the other, sharing what they have in common. All reader calls
of the plan are then made in one seeded shuffled order, so that a drifting endpoint cannot
line up with an arm. At the reader the lineage is cut: an answer is known by reader, prompt
digest, decode seed and replicate, so an arm that leaves a question's prompt unchanged
reuses the answer and its contrast is exactly 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragablate.adapters import Pipeline
from ragablate.budget import Budget
from ragablate.design import Plan
from ragablate.judging import judge_all
from ragablate.lending import Lending, connect
from ragablate.observed import Observed
from ragablate.observing import Watch, identities
from ragablate.pipeline import Upstream, referred
from ragablate.prompts import context_digest, frame_digest
from ragablate.reading import Reading, Settings, read, readings
from ragablate.records import (
    Answer,
    Corpus,
    Dataset,
    Item,
    Prompt,
    Question,
    ResolvedGold,
    Segment,
    Trace,
    Verdict,
)
from ragablate.seeds import derive
from ragablate.sentinel import Sentinel
from ragablate.stages import Progress
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
    resolved: Mapping[str, Mapping[str, ResolvedGold]]
    """By arm and qid, the gold as it lies in the arm's corpus."""
    corpora: Mapping[str, tuple[str, int]]
    """By arm, digest and size of what was searched."""
    calls: int
    """Reader calls made now; answers that were stored already are not among them."""
    documents: Mapping[str, Mapping[str, str]]
    """By arm and pid, the document a passage was cut from, where it is a part of one."""
    answered: Mapping[str, tuple[int | None, ...]]
    """By arm, when each trace's answer was stored, in nanoseconds since the epoch."""
    observed: Observed
    """What the execution watched itself doing."""


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
        BudgetError: The limits of the settings allow no further reader call.
    """
    budget = Budget(settings.limits)
    lend(pipelines, judges, Lending(store, budget, progress))
    upstream = Upstream(dataset, store, progress, settings.gold_coverage)
    before = identities(pipelines)
    wanted: list[Reading] = []
    pieces: dict[Segment, Segment] = {}
    # An arm that refers to another's contexts comes after it.
    for arm in sorted(plan.arms, key=lambda arm: bool(referred(pipelines[arm.name]))):
        prepared = upstream.prepare(arm.name, pipelines[arm.name])
        wanted += readings(plan, arm.name, pipelines[arm.name], prepared, settings, pieces)
    sentinel = Sentinel(store, settings)
    watched = sentinel.watch(wanted, pipelines)
    answers = read(wanted, pipelines, store, settings, budget, progress)
    asked_again = sentinel.ask(wanted, watched, pipelines, answers, budget, progress)
    watch = Watch(dataset, upstream, store, progress)
    observed = watch.observed(pipelines, wanted, settings, before)
    observed = replace(observed, asked_again=asked_again)
    traces = _traces(wanted, answers, [arm.name for arm in plan.arms])
    resolved = {arm.name: upstream.resolved(pipelines[arm.name]) for arm in plan.arms}
    verdicts = judge_all(judges, traces, dataset.gold, resolved, store, progress)
    corpora = {arm.name: upstream.corpus(pipelines[arm.name]) for arm in plan.arms}
    return Executed(
        traces,
        verdicts,
        {r.digest: r.prompt for r in wanted if r.prompt is not None},
        resolved,
        {name: (corpus.digest, len(corpus.passages)) for name, corpus in corpora.items()},
        budget.calls,
        {name: _documents(corpus) for name, corpus in corpora.items()},
        {name: tuple(_stored_at(store, r) for r in wanted if r.arm == name) for name in traces},
        observed,
    )


def lend(
    pipelines: Mapping[str, Pipeline], judges: Mapping[str, tuple[Any, str]], lending: Lending
) -> None:
    """Have the readers that stages and judges hold asked through the store and the budget."""
    stages = [stage for pipeline in pipelines.values() for stage in pipeline.stages.values()]
    connect([*stages, *(judge for judge, _ in judges.values())], lending)


def _documents(corpus: Corpus) -> dict[str, str]:
    return {p.pid: p.doc_id for p in corpus.passages if p.doc_id not in ("", p.pid)}


def _stored_at(store: Store, reading: Reading) -> int | None:
    own, _, _ = reading.key.partition("/")
    entry = store.shelf("read", own).entries.get(reading.key) if own else None
    return entry.at if entry is not None else None


def _traces(
    wanted: Sequence[Reading], answers: Mapping[str, Item[Answer]], arms: Sequence[str]
) -> dict[str, tuple[Trace, ...]]:
    traces: dict[str, list[Trace]] = {arm: [] for arm in arms}
    for reading in wanted:
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
                signals=each.signals,
            )
        )
    return {arm: tuple(found) for arm, found in traces.items()}

"""From overrides to a bundle: check everything, execute, prove, compare, write.

Nothing is loaded or spent before the whole plan has been checked, and everything that is
wrong with it is said at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragablate import looking
from ragablate.adapters import PROTOCOLS, Workshop
from ragablate.budget import price_problems
from ragablate.bundle.read import Bundle
from ragablate.checked import Checked
from ragablate.collecting import rarely
from ragablate.dataset.digests import set_digest
from ragablate.design import UNCUT, Plan, off_in_all_arms, plan, without_gate
from ragablate.errors import DatasetError, DesignError, EvidenceError, NoAnswers
from ragablate.evidence import contents, plan_digest
from ragablate.execute import Executed, execute, sample
from ragablate.failures import UNASKED
from ragablate.gate.fitting import unfit
from ragablate.labelling import Scope, read_labels
from ragablate.ledger import looks
from ragablate.own_reader import endpoints, own_readers
from ragablate.publishing import folder_name, publish
from ragablate.records import Comparison, Dataset, Measure, Verdict
from ragablate.stages import Progress
from ragablate.store import Store
from ragablate.well_formed import name_problems, settings_problems


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an execution left."""

    folder: Path
    """The bundle."""
    bundle: Bundle
    """Its contents, read back."""
    comparison: Comparison
    """Effects and conclusions."""
    bundle_id: str
    """Over everything reproducible in it."""
    calls: int
    """Reader calls made now."""
    looks: int
    """Plans that have scored this question set so far, this one included."""


def check(overrides: Sequence[str], config_name: str = "config") -> Checked:
    """Compose and build every arm and read the data, without loading a model.

    Args:
        overrides: Hydra overrides.
        config_name: Primary config.

    Raises:
        DesignError: Everything that is wrong, in one message.
    """
    planned = plan(overrides, config_name)
    problems = settings_problems(planned.control) + _cs_problems(planned)
    workshop = Workshop()
    built = {arm.name: workshop.pipeline(planned.configs[arm.name]) for arm in planned.arms}
    judges = workshop.judges(planned.control)
    measures, doubled = measured_by(judges)
    problems += doubled
    source = workshop.adapter("dataset", planned.control["dataset"], PROTOCOLS["dataset"])
    problems += workshop.problems
    problems += _measure_problems(planned, measures)
    dataset = None
    if source is not None and not any(p.startswith("dataset") for p in problems):
        try:
            dataset = source[0].load()
        except DatasetError as error:
            problems += error.problems
    if problems or dataset is None:
        raise DesignError(list(dict.fromkeys(problems)))
    control = planned.control
    try:
        chosen = sample(looking.split(dataset, control), control["limit"], control["seed"])
    except DatasetError as error:
        raise DesignError(error.problems) from error
    pipelines = {name: pipeline for name, pipeline in built.items() if pipeline is not None}
    checked = Checked(planned, pipelines, judges, measures, chosen, workshop, tuple(overrides))
    off = off_in_all_arms(planned, pipelines, chosen)
    if off:
        again = check(without_gate(overrides), config_name)
        return replace(again, plan=replace(again.plan, remarks=(off,)), overrides=tuple(overrides))
    problems = unfit(checked.pipelines, chosen)
    checked, wrong = _labelled(checked, dataset)
    problems += wrong
    problems += looking.too_early(control["sequential"], len(chosen.questions))
    problems += _too_few(chosen) + name_problems(checked.name) + _uncut(planned, chosen)
    problems += _unpriced(checked)
    if problems:
        raise DesignError(problems)
    return checked


def _unpriced(checked: Checked) -> list[str]:
    """Readers of arms, stages and judges that cannot be priced although money is limited."""
    pipelines = checked.pipelines.values()
    readers = [pipeline["reader"] for pipeline in pipelines]
    stages = [stage for pipeline in pipelines for stage in pipeline.stages.values()]
    judges = [judge for judge, _ in checked.judges.values()]
    readers += [own.reader for own in own_readers([*stages, *judges])]
    readers += [endpoint.reader for endpoint in endpoints(judges)]
    return price_problems(checked.settings.limits, readers, checked.dataset.questions[0])


def _labelled(checked: Checked, dataset: Dataset) -> tuple[Checked, list[str]]:
    """The plan with the labels of its questions, and what is wrong with the file of them."""
    control = checked.plan.control
    known = [q.qid for q in dataset.questions]
    scope = Scope(known, list(checked.pipelines), checked.measures, control["replicates"])
    labels, problems = read_labels(control["labels"], scope)
    asked = {q.qid for q in checked.dataset.questions}
    return replace(checked, labels=tuple(x for x in labels if x.qid in asked)), problems


def _too_few(dataset: Dataset) -> list[str]:
    answerable = sum(dataset.gold[q.qid].answerable for q in dataset.questions)
    if answerable > 1:
        return []
    return [
        f"{answerable} of the {len(dataset.questions)} question(s) of {dataset.name} can be "
        "answered, and an effect needs at least 2: add answerable questions, or raise limit"
    ]


def _uncut(planned: Plan, dataset: Dataset) -> list[str]:
    """Chunkers that would silently do nothing, because the data come cut already."""
    if dataset.documents:
        return []
    return [
        f"{name} cuts documents with {config['chunker']['_target_'].rsplit('.', 1)[-1]}, but "
        f"{dataset.name} holds passages, which no chunker cuts: give a data set of documents "
        "(dataset.unit=documents), or chunker=none"
        for name, config in planned.configs.items()
        if config["chunker"]["_target_"] != UNCUT
    ][:1]


def _cs_problems(planned: Plan) -> list[str]:
    if planned.control["sequential"]["rule"] != "cs" or not planned.analyses:
        return []
    listed = ", ".join(a.id for a in planned.analyses)
    return [
        f"sequential.rule=cs covers contrasts alone: leave out {listed}, or use sequential.rule=obf"
    ]


def measured_by(judges: Mapping[str, tuple[Any, str]]) -> tuple[dict[str, Measure], list[str]]:
    """What judges measure, by name, and what is wrong with their being together."""
    found: dict[str, Measure] = {}
    problems = []
    for name, (judge, _) in judges.items():
        for measure in judge.measures():
            if measure.name in found:
                problems.append(
                    f"judge.{name} measures {measure.name}, which another judge measures too; "
                    "leave one of them out"
                )
            found[measure.name] = measure
    return found, problems


def _measure_problems(planned: Plan, measures: Mapping[str, Measure]) -> list[str]:
    if not measures:
        return []
    return [
        f"experiment '{e.name}': no judge measures '{e.measure}'; measured are "
        f"{', '.join(measures)}"
        for e in planned.experiments
        if e.measure not in measures
    ]


def writable(folder: Path) -> None:
    """Make sure results can be written before anything is spent.

    Raises:
        DesignError: The folder cannot be made or written.
    """
    probe = folder / ".writable"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise DesignError(
            [f"outputs={folder} cannot be written ({error.strerror}): give another, outputs=DIR"]
        ) from error


def run(overrides: Sequence[str], progress: Progress | None = None) -> Outcome:
    """Check, execute, prove, compare and write a bundle.

    Args:
        overrides: Hydra overrides.
        progress: Told as results arrive.

    Raises:
        RagablateError: With everything that is wrong, or what stopped the execution.
    """
    return run_checked(check(overrides), progress or (lambda stage, done, total: None))


def run_checked(checked: Checked, progress: Progress) -> Outcome:
    """Execute a checked plan; ``run`` in two steps, for callers that print the plan first."""
    writable(checked.outputs)
    started = datetime.now(UTC)
    with rarely():
        return _publish(checked, _executed(checked, progress), started)


def _executed(checked: Checked, progress: Progress) -> Executed:
    store = Store(checked.outputs / ".store")
    try:
        return execute(
            checked.plan,
            checked.pipelines,
            checked.judges,
            checked.dataset,
            store,
            checked.settings,
            progress,
        )
    finally:
        store.close()
        checked.workshop.close()


def _publish(checked: Checked, executed: Executed, started: datetime) -> Outcome:
    identity = plan_digest(checked)
    claims = [*(c.id for c in checked.plan.contrasts), *(a.id for a in checked.plan.analyses)]
    seen = looks(checked.outputs / ".store", set_digest(checked.dataset), identity, claims)
    folder = checked.outputs / checked.name / folder_name(started, identity)
    try:
        found = publish(folder, contents(checked, executed, started, seen))
    except EvidenceError as error:
        raise _explained(error, executed) from error
    return Outcome(
        folder, found.bundle, found.comparison, found.bundle_id, executed.calls, seen.count
    )


def _explained(error: EvidenceError, executed: Executed) -> EvidenceError:
    """The error with what failed most often, where anything failed."""
    failures = Counter(
        trace.failure.message
        for traces in executed.traces.values()
        for trace in traces
        if trace.failure is not None
    )
    if not failures:
        return unjudged(error, executed.verdicts)
    return _most_often(error, "answers failed", failures)


def unjudged(error: EvidenceError, by_arm: Mapping[str, Sequence[Verdict]]) -> EvidenceError:
    """The error with what kept a judge from being asked, where anything did.

    Args:
        error: Why the verdicts cannot carry the comparison.
        by_arm: The verdicts.
    """
    reasons = Counter(
        verdict.reason
        for verdicts in by_arm.values()
        for verdict in verdicts
        if verdict.value is None and verdict.reason.startswith(UNASKED)
    )
    return _most_often(error, "verdicts are missing", reasons) if reasons else error


def _most_often(error: EvidenceError, what: str, reasons: Counter[str]) -> NoAnswers:
    reason, times = reasons.most_common(1)[0]
    return NoAnswers(
        f"{error} {reasons.total()} {what}, {times} of them so: {reason.rstrip('.')}. "
        "Remove the cause and run the same command again; finished work is kept"
    )

"""Judging the answers of a bundle anew: no retriever, no reader, no corpus.

The traces of a bundle hold everything a judge is shown. They are judged by other judges, and
what comes of it is a bundle of its own with the same answers, proofs and claims.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragablate import __version__
from ragablate.adapters import Workshop
from ragablate.budget import Budget, Limits, limit_problems
from ragablate.bundle.crosschecks import stored_prompts
from ragablate.bundle.pack import opened
from ragablate.bundle.read import Bundle, load
from ragablate.bundle.verify import verify
from ragablate.bundle.write import Contents
from ragablate.codec import digest
from ragablate.collecting import rarely
from ragablate.config import compose_plain, composing, without_runtime
from ragablate.errors import BundleError, DesignError, EvidenceError
from ragablate.evidence import abstentions
from ragablate.judge_overrides import KEYS, chosen_before, concerns_judges, hydra_files
from ragablate.judging import judge_all
from ragablate.labelling import Scope, read_labels
from ragablate.ledger import looks
from ragablate.lending import Lending, connect
from ragablate.own_reader import asked_of_models
from ragablate.publishing import folder_name, publish
from ragablate.records import Analysis, Contrast, HumanLabel, Measure, Verdict
from ragablate.report.terminal import Screen
from ragablate.session import Outcome, measured_by, unjudged, writable
from ragablate.stages import Progress
from ragablate.store import Store
from ragablate.traces import trace_of


@dataclass(frozen=True, slots=True)
class Asked:
    """A bundle, and judges that can be asked about its answers."""

    bundle: Bundle
    """Whose answers are judged."""
    bundle_id: str
    """Its id."""
    values: Mapping[str, Any]
    """The resolved config of the judges and where results go."""
    choices: Mapping[str, str]
    """The option chosen in every config group."""
    overrides: tuple[str, ...]
    """What the user asked for."""
    judges: Mapping[str, tuple[Any, str]]
    """Judge and fingerprint by name."""
    measures: Mapping[str, Measure]
    """What they measure."""
    labels: tuple[HumanLabel, ...]
    """What people said of the answers."""
    workshop: Workshop
    """To be closed when done."""


def ask(folder: Path, overrides: Sequence[str]) -> Asked:
    """Read a bundle and build the judges; nothing is judged yet.

    Args:
        folder: The bundle.
        overrides: Hydra overrides of the judges, the budget and the outputs. Without a choice of
            judges they change those the bundle was judged by.

    Raises:
        BundleError: It is none, was changed since it was written, or is redacted.
        DesignError: Everything that is wrong with the judges, in one message.
    """
    found = verify(folder)
    if found.wrong:
        raise BundleError(f"{folder} does not hold, and is not judged again: {found.wrong}")
    bundle = load(folder)
    if bundle.given is not None:
        raise BundleError(
            f"{folder} is redacted: there are no texts left that could be judged. Judge the full "
            f"bundle again, {bundle.given.bundle_id[:12]}, and redact what comes of it"
        )
    foreign = [o for o in overrides if not concerns_judges(o)]
    if foreign:
        raise DesignError(
            [f"{o}: the answers of a bundle stay as they are; give judge=[…], settings of "
             f"judge.…, budget.…, or {', '.join(KEYS)}" for o in foreign]
        )  # fmt: skip
    composed = compose_plain([*chosen_before(bundle.overrides, overrides), *overrides])
    workshop = Workshop()
    judges = workshop.judges(composed.values)
    measures, problems = measured_by(judges)
    problems += [*workshop.problems, *limit_problems(composed.values["budget"])]
    problems += _unmeasured(bundle, measures) if measures else []
    labels, wrong = _labels(bundle, composed.values["labels"], measures)
    problems += wrong
    if problems:
        raise DesignError(list(dict.fromkeys(problems)))
    return Asked(
        bundle, found.bundle_id, composed.values, composed.choices, tuple(overrides), judges,
        measures, labels, workshop,
    )  # fmt: skip


def judge_command(arguments: Sequence[str]) -> int:
    """``ragablate judge BUNDLE [KEY=VALUE …]``, of a folder or a packed file.

    Raises:
        RagablateError: What is wrong with the request, or what stopped it.
    """
    parser = argparse.ArgumentParser(
        prog="ragablate judge",
        description="Judge the answers of a bundle again, without reading anything again, and "
        "write a bundle of the new verdicts.",
    )
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="a folder, or a packed file")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="judge=[…], judge.…=…")
    try:
        given = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    with opened(given.bundle) as folder, composing():
        asked = ask(folder, given.overrides)
        screen = Screen(quiet=bool(asked.values["quiet"]), as_json=bool(asked.values["json"]))
        with screen.progress() as progress:
            outcome = rejudge(asked, progress)
        screen.outcome(outcome)
    return 0


def rejudge(asked: Asked, progress: Progress) -> Outcome:
    """Judge every answer of a bundle and publish a bundle of the verdicts.

    Verdicts are stored as a run's are, so what was interrupted goes on where it stopped, and a
    judge is not asked again about an answer it has judged.

    Raises:
        RagablateError: What stopped it.
    """
    outputs = Path(asked.values["outputs"])
    writable(outputs)
    started = datetime.now(UTC)
    budget = Budget(Limits(**asked.values["budget"]))
    store = Store(outputs / ".store")
    try:
        connect([judge for judge, _ in asked.judges.values()], Lending(store, budget, progress))
        with rarely():
            verdicts = _judged(asked, store, progress)
    finally:
        store.close()
        asked.workshop.close()
    plan = asked.bundle.plan
    identity = digest("judged again", plan["plan_digest"], _fingerprints(asked))
    claims = [c["id"] for c in (*plan["contrasts"], *plan["analyses"])]
    seen = looks(outputs / ".store", plan["dataset"]["digest"], identity, claims)
    name = plan["config"].get("name") or plan["dataset"]["name"]
    folder = outputs / str(name) / folder_name(started, identity)
    try:
        with rarely():
            found = publish(folder, _contents(asked, verdicts, started))
    except EvidenceError as error:
        raise unjudged(error, verdicts) from error
    return Outcome(
        folder, found.bundle, found.comparison, found.bundle_id, budget.calls, seen.count
    )


def _unmeasured(bundle: Bundle, measures: Mapping[str, Measure]) -> list[str]:
    declared: tuple[Analysis | Contrast, ...] = (*bundle.contrasts, *bundle.analyses)
    return [
        f"'{claim.id}' was declared on {claim.measure}, which no judge measures; measured are "
        f"{', '.join(measures)}"
        for claim in declared
        if claim.measure not in measures
    ]


def _labels(
    bundle: Bundle, path: object, measures: Mapping[str, Measure]
) -> tuple[tuple[HumanLabel, ...], list[str]]:
    """Those of the file where one is given, else the bundle's own on what is still measured."""
    if path is None:
        return tuple(x for x in bundle.labels if x.measure in measures), []
    scope = Scope(bundle.questions, bundle.arms, measures, bundle.plan["replicates"])
    return read_labels(path, scope)


def _judged(asked: Asked, store: Store, progress: Progress) -> dict[str, tuple[Verdict, ...]]:
    bundle = asked.bundle
    return judge_all(
        asked.judges,
        {
            arm: [trace_of(line, bundle.contexts) for line in lines]
            for arm, lines in bundle.traces.items()
        },
        {qid: q.gold for qid, q in bundle.questions.items()},
        {
            arm: {qid: q.gold_in(corpus) for qid, q in bundle.questions.items()}
            for arm in bundle.traces
            for corpus in (bundle.corpus_of(arm),)
        },
        store,
        progress,
    )


def _fingerprints(asked: Asked) -> dict[str, str]:
    return {name: own for name, (_, own) in asked.judges.items()}


def _contents(
    asked: Asked, verdicts: Mapping[str, tuple[Verdict, ...]], started: datetime
) -> Contents:
    bundle = asked.bundle

    def lines(arm: str) -> Any:
        said = abstentions(verdicts[arm])
        return lambda: [
            replace(line, abstained=said.get((line.qid, line.replicate)))
            for line in bundle.traces[arm]
        ]

    plan = _plan(asked, started)
    return Contents(
        plan=plan,
        hydra=hydra_files(asked.bundle.overrides, asked.overrides, plan["config"]),
        questions=tuple(bundle.questions.values()),
        traces={arm: lines(arm) for arm in bundle.traces},
        verdicts=verdicts,
        contexts=tuple(bundle.contexts[key] for key in sorted(bundle.contexts)),
        labels=asked.labels,
        prompts=dict(stored_prompts(bundle.folder / "prompts.jsonl")),
    )


def _plan(asked: Asked, started: datetime) -> dict[str, Any]:
    """The bundle's plan with the judges exchanged, and what was exchanged for what."""
    plan = asked.bundle.plan
    own = {key: without_runtime(asked.values[key]) for key in ("judge", "abstention_phrases")}
    said = (
        f"Judged again: the answers are those of bundle {asked.bundle_id[:12]}, which other judges "
        "had scored before these were chosen; declare the judge beforehand where it decides."
    )
    return {
        **plan,
        "ragablate": __version__,
        "started": started.isoformat(timespec="milliseconds"),
        "command": ["ragablate", "judge", f"BUNDLE-{asked.bundle_id[:12]}", *asked.overrides],
        "remarks": [*plan.get("remarks", ()), said],
        "choices": {**plan["choices"], "judge": asked.choices.get("judge", "")},
        "measures": list(asked.measures.values()),
        "judges": _fingerprints(asked),
        "asked_of_models": asked_of_models(asked.judges),
        "judged_again": [
            *plan.get("judged_again", ()),
            {"bundle": asked.bundle_id, "judges": plan["judges"]},
        ],
        "judged_late": _judged_late(asked),
        "config": {**plan["config"], **own},
    }


def _judged_late(asked: Asked) -> list[str]:
    """Measures of judges that are not those the run itself had declared."""
    plan = asked.bundle.plan
    first = plan["judged_again"][0]["judges"] if plan.get("judged_again") else plan["judges"]
    return sorted(
        measure.name
        for judge, own in asked.judges.values()
        if own not in first.values()
        for measure in judge.measures()
    )

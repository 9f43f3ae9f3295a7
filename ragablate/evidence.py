"""From what a plan produced to what its bundle holds."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import yaml

from ragablate import __version__, looking
from ragablate.bundle.write import Contents
from ragablate.checked import Checked
from ragablate.codec import digest
from ragablate.config import without_runtime
from ragablate.dataset.clusters import cluster_keys
from ragablate.dataset.digests import gold_digest, question_digest, set_digest
from ragablate.design import CONTROL
from ragablate.execute import Executed
from ragablate.gold import is_gap
from ragablate.judge.markers import cited_pids
from ragablate.ledger import Looks
from ragablate.own_reader import asked_of_models
from ragablate.records import Arm, ResolvedGold, Verdict
from ragablate.seeds import decode_seed
from ragablate.traces import ContextLine, QuestionLine, TraceLine, gold_parts, trace_line

_DECIDING = (
    "seed", "replicates", "alpha", "power", "cluster_by", "questions_selected_by_failure",
    "fresh_control", "gold_coverage", "correction", "sequential", "confirmation",
)  # fmt: skip


def plan_digest(checked: Checked) -> str:
    """What identifies a plan: arms, contrasts, questions, judges and decision rule."""
    control = checked.plan.control
    return digest(
        {a.name: checked.pipelines[a.name].fingerprints for a in checked.plan.arms},
        checked.plan.contrasts,
        checked.plan.analyses,
        {name: own for name, (_, own) in checked.judges.items()},
        set_digest(checked.dataset),
        {key: control[key] for key in _DECIDING},
    )


def contents(checked: Checked, executed: Executed, started: datetime, seen: Looks) -> Contents:
    """Everything a bundle holds before the comparison.

    Args:
        checked: The plan.
        executed: What it produced.
        started: When the execution began.
        seen: What was asked of this question set so far.
    """
    questions = _questions(checked, executed)
    by_qid = {q.qid: q for q in questions}
    contexts: dict[str, ContextLine] = {}
    for traces in executed.traces.values():
        for t in traces:
            contexts.setdefault(t.context_digest, ContextLine(t.context_digest, t.context.passages))
    return Contents(
        plan=_plan_json(checked, executed, started, seen),
        hydra=_hydra(checked),
        questions=questions,
        traces={arm: partial(_lines, checked, executed, arm, by_qid) for arm in executed.traces},
        verdicts=executed.verdicts,
        contexts=tuple(contexts[key] for key in sorted(contexts)),
        prompts=executed.prompts,
        labels=checked.labels,
    )


def _questions(checked: Checked, executed: Executed) -> tuple[QuestionLine, ...]:
    dataset = checked.dataset
    clusters = cluster_keys(dataset, checked.plan.control["cluster_by"])
    documents = {pid: d for known in executed.documents.values() for pid, d in known.items()}
    own = executed.resolved[CONTROL]
    other = _elsewhere(executed)
    return tuple(
        QuestionLine(
            qid=q.qid,
            question=q.text,
            digest=question_digest(q),
            gold_digest=gold_digest(dataset.gold[q.qid]),
            gold=dataset.gold[q.qid],
            resolved=own[q.qid],
            eval_gap=dataset.gold[q.qid].answerable and is_gap(own[q.qid]),
            cluster=clusters[q.qid],
            slices=q.slices,
            documents={
                pid: documents[pid]
                for golds in (own, *other.values())
                for part in gold_parts(golds[q.qid])
                for pid in part
                if pid in documents
            },
            elsewhere={corpus: golds[q.qid] for corpus, golds in other.items()},
        )
        for q in dataset.questions
    )


def _elsewhere(executed: Executed) -> dict[str, Mapping[str, ResolvedGold]]:
    """The gold as it lies in the corpora of other chunkers, by the corpus's digest."""
    control, _ = executed.corpora[CONTROL]
    found: dict[str, Mapping[str, ResolvedGold]] = {}
    for arm, (corpus, _) in executed.corpora.items():
        if corpus != control:
            found.setdefault(corpus, executed.resolved[arm])
    return dict(sorted(found.items()))


def _lines(
    checked: Checked, executed: Executed, arm: str, questions: Mapping[str, QuestionLine]
) -> tuple[TraceLine, ...]:
    abstained = abstentions(executed.verdicts[arm])
    reader = checked.pipelines[arm].fingerprints["reader"]
    seed = checked.settings.seed
    corpus, _ = executed.corpora[arm]
    own = {qid: replace(q, resolved=q.gold_in(corpus)) for qid, q in questions.items()}
    return tuple(
        trace_line(
            trace,
            own[trace.qid],
            reader=reader,
            seed=decode_seed(seed, trace.qid, trace.replicate),
            abstained=abstained.get((trace.qid, trace.replicate)),
            cited=cited_pids(trace),
            answered=at,
            documents=executed.documents[arm],
        )
        for trace, at in zip(executed.traces[arm], executed.answered[arm], strict=True)
    )


def abstentions(verdicts: Sequence[Verdict]) -> dict[tuple[str, int], bool | None]:
    """Whether an answer declined, by question and replicate; ``None`` where not measured."""
    return {
        (v.qid, v.replicate): None if v.value is None else v.value == 1.0
        for v in verdicts
        if v.measure == "abstained"
    }


def _plan_json(
    checked: Checked, executed: Executed, started: datetime, seen: Looks
) -> dict[str, Any]:
    control = checked.plan.control
    return {
        "ragablate": __version__,
        "versions": _versions(),
        "started": started.isoformat(timespec="milliseconds"),
        "command": ["ragablate", "run", *checked.overrides],
        "git": _git(),
        "plan_digest": plan_digest(checked),
        "observed": executed.observed,
        "looks": seen.count,
        "added_after_looks": seen.added,
        **{key: control[key] for key in ("seed", "replicates", "limit", "alpha", "power")},
        "level": looking.level(control, len(checked.dataset.questions)),
        **{key: control[key] for key in ("correction", "sequential", "confirmation")},
        "cluster_by": control["cluster_by"],
        "decision_rule": _decision_rule(control, len(checked.dataset.questions)),
        "dataset": {
            "name": checked.dataset.name,
            "digest": set_digest(checked.dataset),
            "questions": len(checked.dataset.questions),
            "attribution": checked.dataset.attribution,
        },
        "reader": f"{checked.plan.choices['reader']} "
        f"({checked.pipelines[CONTROL].fingerprints['reader'][:8]})",
        "top_k": _top_k(checked, executed),
        "experiments": [
            {"name": e.name, "question": e.question, "design": e.design}
            for e in checked.plan.experiments
        ],
        "choices": checked.plan.choices,
        **({"remarks": checked.plan.remarks} if checked.plan.remarks else {}),
        "contrasts": checked.plan.contrasts,
        "analyses": checked.plan.analyses,
        "arms": [_arm_json(checked, executed, arm) for arm in checked.plan.arms],
        "measures": list(checked.measures.values()),
        "judges": {name: own for name, (_, own) in checked.judges.items()},
        **({"asked_of_models": asked} if (asked := asked_of_models(checked.judges)) else {}),
        "config": without_runtime(control),
    }


def _top_k(checked: Checked, executed: Executed) -> int:
    """The cut of the ranking handed to the assembler; its longest where there is no cut."""
    cut = getattr(checked.pipelines[CONTROL]["reranker"], "top_k", None)
    return int(cut or max(len(trace.retrieved) for trace in executed.traces[CONTROL]))


def _arm_json(checked: Checked, executed: Executed, arm: Arm) -> dict[str, Any]:
    corpus, size = executed.corpora[arm.name]
    return {
        "name": arm.name,
        "runs": arm.level or checked.plan.choices["retriever"],
        "variable": arm.variable,
        "level": arm.level,
        "overrides": arm.overrides,
        "changes": arm.changes,
        "fingerprints": checked.pipelines[arm.name].fingerprints,
        "corpus": {"digest": corpus, "passages": size},
    }


def _decision_rule(control: Mapping[str, Any], questions: int) -> str:
    alpha = looking.level(control, questions)
    by = "max-T" if control["correction"] == "maxt" else "Holm"
    return " ".join((_states(alpha, by), *looking.in_words(control, questions)))


def _states(alpha: float, by: str) -> str:
    wide, narrow = (f"{100 * (1 - tails * alpha):.6g}%" for tails in (1, 2))
    return (
        f"A difference is up or down when the exact sign-flip test, adjusted by {by} over the "
        f"plan's contrasts or over the terms that are judged together in a design of several arms, "
        f"gives p <= {alpha:.3g}, the {wide} interval excludes 0 with the same sign, and at "
        f"least 6 questions changed. It is flat when the {narrow} interval lies inside "
        "the margin of the experiment. Anything else is unclear."
    )


def _hydra(checked: Checked) -> dict[str, str]:
    """The config as composed and the overrides, as Hydra itself would leave them."""
    config = without_runtime(checked.plan.control)
    return {
        "config.yaml": yaml.safe_dump(config, sort_keys=False, allow_unicode=True),
        "overrides.yaml": yaml.safe_dump(list(checked.overrides), allow_unicode=True),
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("hydra-core", "numpy", "scipy", "rank-bm25", "ir-measures"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def _git() -> dict[str, Any] | None:
    """Commit of the working folder and whether it was changed; ``None`` outside a repository."""

    def ask(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()

    try:
        return {"commit": ask("rev-parse", "HEAD"), "changed": bool(ask("status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None

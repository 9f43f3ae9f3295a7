"""Reading a bundle back: no adapter, no corpus, no store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from ragablate.bundle.exhibits import Evidence
from ragablate.bundle.given import Given, read_given
from ragablate.bundle.write import arm_folder
from ragablate.codec import decode
from ragablate.diagnose import bucket, observed_reasons
from ragablate.diagnose.traversal import CORRECT, OK
from ragablate.edges import edges
from ragablate.errors import BundleError
from ragablate.looking import planned_n
from ragablate.proofs import prove, prove_steps
from ragablate.records import (
    Analysis,
    Arm,
    ContextPassage,
    Contrast,
    HumanLabel,
    Measure,
    Proof,
    Study,
    Verdict,
)
from ragablate.traces import ContextLine, QuestionLine, TraceLine, context_of

T = TypeVar("T")


@dataclass(frozen=True)
class Bundle:
    """A bundle in memory.

    Args:
        folder: Where it lies.
        plan: ``plan.json``.
        questions: By qid, in order.
        contexts: By digest.
        traces: By arm.
        verdicts: By arm.
        given: What a redacted bundle brings along; ``None`` of a full one.
        labels: What people said of answers.
    """

    folder: Path
    plan: Mapping[str, Any]
    questions: Mapping[str, QuestionLine]
    contexts: Mapping[str, ContextLine]
    traces: Mapping[str, tuple[TraceLine, ...]]
    verdicts: Mapping[str, tuple[Verdict, ...]]
    given: Given | None = None
    labels: tuple[HumanLabel, ...] = ()

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """By name, control first."""
        return {a["name"]: msgspec.convert(_only(a, Arm), Arm) for a in self.plan["arms"]}

    @cached_property
    def overrides(self) -> tuple[str, ...]:
        """What it was composed from; raises BundleError where that cannot be read."""
        path = self.folder / ".hydra" / "overrides.yaml"
        try:
            return tuple(str(o) for o in yaml.safe_load(path.read_text(encoding="utf-8")) or [])
        except (OSError, yaml.YAMLError, TypeError, ValueError) as error:
            raise BundleError(f"{path} does not hold what it should: {error}") from error

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        """As declared."""
        return tuple(msgspec.convert(c, Contrast) for c in self.plan["contrasts"])

    @cached_property
    def analyses(self) -> tuple[Analysis, ...]:
        """As declared."""
        return tuple(msgspec.convert(a, Analysis) for a in self.plan["analyses"])

    @cached_property
    def proofs(self) -> dict[str, tuple[Proof, ...]]:
        """By contrast or analysis id, made from the traces.

        An analysis has the proofs of all its steps, each text naming the step.
        """
        if self.given is not None:
            return dict(self.given.proofs)
        evidence = Evidence(self)
        proofs = {c.id: prove(evidence.exhibit(c)) for c in self.contrasts}
        for analysis in self.analyses:
            proofs[analysis.id] = prove_steps(
                [
                    (
                        f"{e.roles[0]} to {e.roles[1]}",
                        evidence.exhibit(e.contrast, e.may_change_nothing),
                    )
                    for e in edges(analysis)
                ]
            )
        return proofs

    def study(self) -> Study:
        """What the comparator needs."""
        plan = self.plan
        return Study(
            qids=tuple(self.questions),
            answerable={qid: q.gold.answerable for qid, q in self.questions.items()},
            eval_gaps=frozenset(qid for qid, q in self.questions.items() if q.eval_gap),
            clusters={qid: q.cluster for qid, q in self.questions.items()},
            slices={qid: q.slices for qid, q in self.questions.items()},
            measures={m["name"]: msgspec.convert(m, Measure) for m in plan["measures"]},
            scores={arm: _scores(verdicts) for arm, verdicts in self.verdicts.items()},
            errors={
                arm: {t.qid: t.error.kind for t in traces if t.error is not None}
                for arm, traces in self.traces.items()
            },
            contrasts=self.contrasts,
            proofs=self.proofs,
            arms={a["name"]: a["runs"] for a in plan["arms"]},
            reader=plan["reader"],
            top_k=plan["top_k"],
            alpha=plan["level"],
            power=plan["power"],
            seed=plan["seed"],
            correction=plan["correction"],
            planned_n=planned_n(plan),
            analyses=self.analyses,
            reasons=self._reasons(),
            buckets=self.buckets(self.headline),
            remarks=tuple(plan.get("remarks", ())),
            asked_of_models=frozenset(plan.get("asked_of_models", ())),
            labels=self.labels,
        )

    def corpus_of(self, arm: str) -> str:
        """Digest of what an arm searched; empty where the bundle does not say."""
        digests = (a["corpus"]["digest"] for a in self.plan["arms"] if a["name"] == arm)
        return str(next(digests, ""))

    def _reasons(self) -> dict[str, dict[str, str]]:
        """What lost the evidence in control, without its gate where a ladder takes it out."""
        if self.given is not None:
            return {stage: dict(found) for stage, found in self.given.reasons.items()}
        ladder = next((a for a in self.analyses if a.kind == "ladder"), None)
        if ladder is None:
            return {}
        found: dict[str, dict[str, str]] = {}
        arm = ladder.arms.get("B'", ladder.arms["B"])
        corpus = self.corpus_of(arm)
        for line in self.traces[arm]:
            passages = context_of(line, self.contexts).passages
            question = self.questions[line.qid]
            question = replace(question, resolved=question.gold_in(corpus))
            for stage, reason in observed_reasons(line, question, passages).items():
                found.setdefault(stage, {}).setdefault(line.qid, reason)
        return found

    @property
    def headline(self) -> str:
        """The primary measure of what was declared first."""
        declared: tuple[Analysis | Contrast, ...] = (*self.analyses, *self.contrasts)
        return declared[0].measure if declared else CORRECT

    def buckets(self, measure: str = CORRECT) -> dict[str, str]:
        """Where each of control's answers failed by its log, the first failed decode of several.

        Args:
            measure: Says whether an answer failed.
        """
        if self.given is not None:
            return dict(self.given.buckets.get(measure, {}))
        control = next(iter(self.arms))
        verdicts: dict[tuple[str, int], dict[str, float | None]] = {}
        for v in self.verdicts[control]:
            verdicts.setdefault((v.qid, v.replicate), {})[v.measure] = v.value
        found: dict[str, str] = {}
        for line in sorted(self.traces[control], key=lambda line: line.replicate):
            own = verdicts.get((line.qid, line.replicate), {})
            if found.get(line.qid, OK) == OK and own.get(measure) is not None:
                found[line.qid] = bucket(line, own, measure=measure)
        return found


def load(folder: Path) -> Bundle:
    """Read a bundle.

    Raises:
        BundleError: A file is missing or does not hold what it should (names it and the line).
    """
    try:
        plan = json.loads(_bytes(folder / "plan.json"))
        names = [arm["name"] for arm in plan["arms"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BundleError(f"{folder / 'plan.json'} is not the plan of a bundle: {error}") from error
    arms = {name: folder / "arms" / arm_folder(name) for name in names}
    return Bundle(
        folder,
        plan,
        {q.qid: q for q in _read(folder / "questions.jsonl", QuestionLine)},
        _contexts(folder / "contexts.jsonl"),
        {name: tuple(_read(place / "traces.jsonl", TraceLine)) for name, place in arms.items()},
        {name: tuple(_read(place / "verdicts.jsonl", Verdict)) for name, place in arms.items()},
        read_given(folder),
        _labels(folder / "labels.jsonl"),
    )


def _contexts(path: Path) -> dict[str, ContextLine]:
    """By digest; a passage that stands in many contexts is kept once."""
    known: dict[ContextPassage, ContextPassage] = {}
    return {
        line.digest: ContextLine(
            line.digest, tuple(known.setdefault(passage, passage) for passage in line.passages)
        )
        for line in _read(path, ContextLine)
    }


def _labels(path: Path) -> tuple[HumanLabel, ...]:
    return tuple(_read(path, HumanLabel)) if path.is_file() else ()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BundleError(
            f"{path} cannot be read ({error.strerror}): give the folder of a bundle, the one that "
            "holds plan.json"
        ) from error


def _read(path: Path, kind: type[T]) -> Iterator[T]:
    for number, line in enumerate(_bytes(path).splitlines(), 1):
        try:
            yield decode(line, kind)
        except (msgspec.MsgspecError, ValueError) as error:
            raise BundleError(f"{path}:{number} does not hold what it should: {error}") from error


def _only(values: Mapping[str, Any], kind: type) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {k: v for k, v in values.items() if k in names}


def _scores(verdicts: tuple[Verdict, ...]) -> dict[str, dict[str, tuple[float | None, ...]]]:
    """By measure and qid, one value per replicate in ascending order."""
    found: dict[str, dict[str, list[tuple[int, float | None]]]] = {}
    for v in verdicts:
        found.setdefault(v.measure, {}).setdefault(v.qid, []).append((v.replicate, v.value))
    return {
        measure: {
            qid: tuple(value for _, value in sorted(values, key=lambda pair: pair[0]))
            for qid, values in by_qid.items()
        }
        for measure, by_qid in found.items()
    }

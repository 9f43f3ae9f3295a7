"""What weakens the claims of a contrast, beside its own invariants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.compare import phrases
from ragablate.compare.arms import proofs_of, sibling
from ragablate.compare.contrasts import ContrastSamples
from ragablate.compare.human import corrected_effects
from ragablate.compare.inference.states import FEWEST_QUESTIONS
from ragablate.compare.labels import Licence, licence
from ragablate.compare.memory import memory, memory_limit
from ragablate.compare.missing import TOLERATED
from ragablate.compare.necessity import HALF, needed
from ragablate.compare.numbers import count, p_text, percent
from ragablate.compare.primaries import Primary, missing_text
from ragablate.compare.scores import ScoreTable
from ragablate.records import Contrast, Effect, Label

FEW_CLUSTERS = 10
"""Fewer changed clusters than this are a limit."""

Finding = tuple[Label, str]


def licence_of(primary: Primary, effects: Sequence[Effect]) -> Licence:
    """How strongly a contrast may speak, from its proofs and from everything found beside.

    Args:
        primary: The contrast's headline, before its verdict.
        effects: The primary effects of the whole study.
    """
    contrast, study = primary.contrast, primary.samples.table.study
    proofs = proofs_of(study, contrast)
    if primary.refusal:
        return licence(proofs, [("refused", primary.refusal)])
    found = (
        *_missing(primary),
        *_few(primary),
        *moved(primary.samples),
        *_drift(primary, effects),
        *_judge(primary),
        *about_retrieval(primary.samples.table, contrast),
    )
    return licence(proofs, found)


def _missing(primary: Primary) -> Iterator[Finding]:
    gone = primary.missing
    if gone is None:
        return
    text = missing_text(primary)
    if text:
        too_many = gone.share > TOLERATED
        label: Label = "descriptive" if too_many else "causal with limits"
        yield label, f"{text} ({percent(gone.share)} in the worse arm)" if too_many else text
    control, treatment = gone.errors
    if not control and not treatment:
        return
    study = primary.samples.table.study
    where = f"failures: {control} in control, {treatment} in treatment, of {gone.questions}"
    if gone.p <= study.alpha:
        where += f"; they depend on the arm (exact p = {p_text(gone.p)})"
    yield "causal with limits", where


def _few(primary: Primary) -> Iterator[Finding]:
    n = len(primary.sample.pairs.qids)
    if n < FEWEST_QUESTIONS and primary.contrast.kind != "placebo":
        yield "causal with limits", f"pilot: only {count(n, 'question')}"
    changed = None if primary.draft is None else primary.draft.flip.clusters_changed
    if changed is not None and 0 < changed < FEW_CLUSTERS:
        yield "causal with limits", f"the changes lie in only {count(changed, 'cluster')}"


def moved(samples: ContrastSamples) -> Iterator[Finding]:
    """Negative controls that moved: something else than the variable changed."""
    for measure, questions in samples.moved().items():
        name = phrases.measure(samples.table.study, measure)
        yield (
            "confounded",
            f"{name} moved on {count(questions, 'question')}, though it is settled before "
            f"{samples.contrast.variable} acts",
        )


def _judge(primary: Primary) -> Iterator[Finding]:
    """A chat model that judges may err more kindly on one reader; labels in both arms show it."""
    contrast, table = primary.contrast, primary.samples.table
    asked = contrast.kind == "reader" and contrast.measure in table.study.asked_of_models
    if asked and contrast.id not in {effect.contrast for effect in corrected_effects(table)}:
        yield "causal with limits", "judge error not shown equal across arms: no labels in both"


def _drift(primary: Primary, effects: Sequence[Effect]) -> Iterator[Finding]:
    """A placebo that moved limits every other contrast with the same control."""
    study, contrast = primary.samples.table.study, primary.contrast
    other = None if contrast.kind == "placebo" else sibling(study, contrast, "placebo")
    for effect in effects:
        if other is not None and effect.contrast == other.id and effect.state in ("up", "down"):
            yield "causal with limits", "the placebo moved, though nothing was changed in it"


def about_retrieval(table: ScoreTable, contrast: Contrast) -> Iterator[Finding]:
    """What weakens claims about retrieval: memory, and answers that do not need the evidence."""
    if contrast.kind not in ("oracle", "upstream"):
        return
    text = memory_limit(memory(table, contrast))
    if text:
        yield "causal with limits", text
    need = needed(table, contrast)
    if need is not None and need.interval.high < HALF:
        yield (
            "causal with limits",
            f"only {percent(need.share)} of the {need.n} answers that were right with all the "
            "evidence turn wrong without it",
        )

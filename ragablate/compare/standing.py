"""How strongly an analysis may speak: every step proven, every arm there, little missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ragablate.compare import phrases
from ragablate.compare.arms import sibling
from ragablate.compare.cells import Cells
from ragablate.compare.contrasts import ContrastSamples
from ragablate.compare.effects import effects_of
from ragablate.compare.families import Family
from ragablate.compare.inference.states import FEWEST_QUESTIONS
from ragablate.compare.labels import Licence, licence
from ragablate.compare.limits import FEW_CLUSTERS, Finding, about_retrieval, moved
from ragablate.compare.missing import TOLERATED, Missing, missing
from ragablate.compare.numbers import count, p_text, percent
from ragablate.compare.scores import Reading, ScoreTable
from ragablate.edges import Edge, edges
from ragablate.records import Analysis, Study


def refusal_of(table: ScoreTable, analysis: Analysis, read: Reading, scores: Cells) -> str:
    """Why an analysis gets no number; empty where it gets one.

    Args:
        table: The study's scores.
        analysis: With every arm it needs.
        read: How its measure is read.
        scores: Its arms on the headline's questions.
    """
    gone = _gone(table.study, analysis, read, scores)
    return _no_data(analysis, scores, gone) or _broken(table, analysis)


def refused(study: Study, analysis: Analysis, refusal: str) -> Licence:
    """The licence of an analysis without a number."""
    return licence(study.proofs.get(analysis.id, ()), [("refused", refusal)])


def licence_of(
    table: ScoreTable,
    analysis: Analysis,
    read: Reading,
    scores: Cells,
    families: Iterable[Family],
) -> Licence:
    """The strongest label that the proofs of all steps and the scores allow, and the limits."""
    study, steps = table.study, edges(analysis)
    found = (
        *_unproven(study, analysis, steps),
        *_missing(study, scores, _gone(study, analysis, read, scores)),
        *_few(scores, families),
        *(finding for edge in steps for finding in moved(ContrastSamples(table, edge.contrast))),
        *_drift(table, steps[0]),
        *(finding for edge in steps for finding in about_retrieval(table, edge.contrast)),
    )
    return licence(study.proofs.get(analysis.id, ()), tuple(dict.fromkeys(found)))


def _gone(study: Study, analysis: Analysis, read: Reading, scores: Cells) -> dict[str, Missing]:
    """What is missing by arm, against the first one; empty without a question."""
    if not scores.asked:
        return {}
    first, *others = dict.fromkeys(analysis.arms.values())
    return {arm: missing(study, read, (first, arm), scores.asked) for arm in (first, *others)}


def _no_data(analysis: Analysis, scores: Cells, gone: Mapping[str, Missing]) -> str:
    for arm, found in gone.items():
        if found.questions in (found.unmeasured[1], found.errors[1]):
            return (
                f"Arm '{arm}' has no answer to any of the {count(found.questions, 'question')} "
                "(all failed or are unmeasured)"
            )
    if len(scores.qids) < 2:
        return (
            f"{count(len(scores.qids), 'question')} that every arm has {analysis.measure} for "
            f"({scores.population}): an effect needs at least 2"
        )
    return ""


def _broken(table: ScoreTable, analysis: Analysis) -> str:
    """The first invariant of any step that forbids a number; empty where none does."""
    for proof in table.study.proofs.get(analysis.id, ()):
        if proof.status == "fail" and proof.consequence == "refuse":
            return proof.text.rstrip(".")
    for edge in edges(analysis):
        if edge.contrast.kind == "reader":
            for measure, questions in ContrastSamples(table, edge.contrast).moved().items():
                return (
                    f"{phrases.measure(table.study, measure)} moved on "
                    f"{count(questions, 'question')} between arms '{edge.contrast.control}' and "
                    f"'{edge.contrast.treatment}', whose contexts are fixed: impossible, so the "
                    "replay is broken"
                )
    return ""


def _unproven(study: Study, analysis: Analysis, steps: tuple[Edge, ...]) -> Iterator[Finding]:
    """Steps that nothing was checked of: proofs name the step they are about."""
    proofs = study.proofs.get(analysis.id, ())
    for edge in steps:
        named = " to ".join(edge.roles)
        if proofs and not any(proof.text.startswith(f"{named}: ") for proof in proofs):
            yield "descriptive", f"no invariant was checked for the step {named}"


def _missing(study: Study, scores: Cells, gone: Mapping[str, Missing]) -> Iterator[Finding]:
    worst = max((found.unmeasured[1] / found.questions for found in gone.values()), default=0.0)
    if scores.unmeasured:
        text = (
            f"{count(scores.unmeasured, 'question')} of {len(scores.asked)} left out of every "
            "term, since some arm has no answer to it"
        )
        yield "causal with limits", text
    if worst > TOLERATED:
        yield "descriptive", f"{percent(worst)} of the answers of one arm are missing"
    failed = {arm: found for arm, found in gone.items() if found.errors[1]}
    if failed:
        each = ", ".join(f"{found.errors[1]} in {arm}" for arm, found in failed.items())
        uneven = [found.p for found in failed.values() if found.p <= study.alpha]
        uneven_text = (
            f"; they depend on the arm (exact p = {p_text(min(uneven))})" if uneven else ""
        )
        yield "causal with limits", f"failures: {each}, of {len(scores.asked)}{uneven_text}"


def _few(scores: Cells, families: Iterable[Family]) -> Iterator[Finding]:
    n = len(scores.qids)
    if n < FEWEST_QUESTIONS:
        yield "causal with limits", f"pilot: only {count(n, 'question')}"
    changed = [
        units
        for each in families
        for units, effect in zip(each.clusters_changed, each.effects, strict=True)
        if units is not None and effect.state in ("up", "down")
    ]
    if changed and min(changed) < FEW_CLUSTERS:
        yield "causal with limits", f"the changes lie in only {count(min(changed), 'cluster')}"


def _drift(table: ScoreTable, first: Edge) -> Iterator[Finding]:
    """A placebo of the same control that moved."""
    other = sibling(table.study, first.contrast, "placebo")
    if other is None:
        return
    (effect,) = effects_of([ContrastSamples(table, other).primary()], table.study)
    if effect.state in ("up", "down"):
        yield "causal with limits", "the placebo moved, though nothing was changed in it"

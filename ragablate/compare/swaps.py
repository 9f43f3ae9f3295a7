"""Verdicts on a swapped stage: what it did to the evidence, and what that did to the answers."""

from __future__ import annotations

from typing import NamedTuple

from ragablate.compare import phrases, sentences
from ragablate.compare.case import Case, Ruling
from ragablate.compare.owners import ASSEMBLER, CONTEXT, GATE, READER, RETRIEVER
from ragablate.compare.populations import (
    ANSWERABLE,
    EVIDENCE_FULL,
    EVIDENCE_NOT_FULL,
    KEPT_PRESENT,
    UNANSWERABLE,
)
from ragablate.compare.scores import (
    ABSTAINED,
    EVIDENCE_IN_CONTEXT,
    EVIDENCE_RETRIEVED,
    FAITHFULNESS,
)
from ragablate.records import State

NOT_ENOUGH = "not enough evidence"


class Reading(NamedTuple):
    """One cell of the table evidence by score."""

    verdict: str
    """Short name; ``{stage}`` stands for what was swapped."""
    text: str
    """Its meaning for this reader."""
    owner: str
    """Which knobs it points to; ``{stage}`` for those of the swapped stage."""


_READINGS: dict[tuple[State, State], Reading] = {
    ("up", "up"): Reading(
        "{stage} improves answers",
        "More evidence reached the reader, and its answers are better",
        "{stage}",
    ),
    ("up", "flat"): Reading(
        "evidence improved, answers did not",
        "More evidence reached the reader, yet its answers are no better: the reader is "
        "limiting, or it does not need the new evidence",
        READER,
    ),
    ("up", "down"): Reading(
        "evidence improved, answers worse",
        "More evidence reached the reader, yet its answers are worse: distractors, order or "
        "length outweigh it",
        CONTEXT,
    ),
    ("flat", "up"): Reading(
        "effect not through evidence presence",
        "The answers are better though no more evidence reached the reader: fewer "
        "distractors, better order or another length",
        CONTEXT,
    ),
    ("flat", "down"): Reading(
        "effect not through evidence presence",
        "The answers are worse though no less evidence reached the reader: distractors, order "
        "or length",
        CONTEXT,
    ),
    ("flat", "flat"): Reading(
        "no material change for this reader",
        "Neither the evidence the reader sees nor its answers changed by more than the margin",
        "",
    ),
    ("down", "up"): Reading(
        "less evidence, better answers",
        "Less evidence reached the reader, yet its answers are better: fewer distractors, or "
        "gold that is not needed",
        CONTEXT,
    ),
    ("down", "down"): Reading(
        "{stage} regressed",
        "Less evidence reached the reader, and its answers are worse",
        "{stage}",
    ),
    ("down", "flat"): Reading(
        "evidence lost without loss of answers",
        "Less evidence reached the reader, yet its answers are no worse: it knows them from "
        "memory, or other passages carry them unlabelled",
        "",
    ),
}

_EVIDENCE_OPEN: dict[State, str] = {
    "up": "The answers are better; whether more evidence reached the reader is not decided",
    "down": "The answers are worse; whether less evidence reached the reader is not decided",
    "flat": "The answers did not change by more than the margin; whether the evidence did is "
    "not decided",
    "unclear": "Neither what happens to the evidence nor what happens to the answers is decided",
    "refused": "Neither the evidence nor the answers could be compared",
}

_SCORE_OPEN: dict[State, str] = {
    "up": "More evidence reaches the reader; whether its answers are better is not decided",
    "down": "Less evidence reaches the reader; whether its answers are worse is not decided",
    "flat": "No more and no less evidence reaches the reader; whether its answers change is not "
    "decided",
}

_OWNERS = {"upstream": RETRIEVER, "assembler": ASSEMBLER}


def evidence_by_score(evidence: State, score: State, stage: str) -> Reading:
    """The reading of a swapped stage, given what became of the evidence and of the score."""
    found = _READINGS.get((evidence, score))
    if found is not None:
        return found._replace(verdict=found.verdict.format(stage=stage))
    if evidence == "refused":
        return Reading(NOT_ENOUGH, "Evidence in the context was not measured in both arms", "")
    if evidence == "unclear":
        return Reading(NOT_ENOUGH, _EVIDENCE_OPEN[score], "")
    return Reading(NOT_ENOUGH, _SCORE_OPEN[evidence], "")


def swapped_stage(case: Case) -> Ruling:
    """The verdict on a swapped retriever, rewriter, chunker, reranker or assembler."""
    stage = case.contrast.variable.split(".")[0]
    reading = evidence_by_score(case.state(EVIDENCE_IN_CONTEXT), case.primary.state, stage)
    evidence = case.effect(EVIDENCE_IN_CONTEXT)
    clauses = [phrases.brief(case, evidence, "evidence in the context")]
    if case.contrast.kind == "upstream":
        name = phrases.measure(case.study, EVIDENCE_RETRIEVED)
        clauses.insert(0, phrases.brief(case, case.effect(EVIDENCE_RETRIEVED), name))
    open_effects = [e for e in (evidence, case.primary) if e is not None and e.state == "unclear"]
    return Ruling(
        verdict=reading.verdict,
        sentences=(
            *sentences.headline(case),
            f"{reading.text}.",
            *(phrases.sentence(clause) for clause in clauses),
            *sentences.unanswerables(case),
        ),
        settle="; ".join(sentences.more_questions(case, e) for e in open_effects)
        or ("measure evidence_in_context in both arms" if evidence is None else ""),
        owner=_OWNERS.get(case.contrast.kind, "") if reading.owner == "{stage}" else reading.owner,
        rests_on=(
            (EVIDENCE_IN_CONTEXT, ANSWERABLE),
            (EVIDENCE_RETRIEVED, ANSWERABLE),
            (case.contrast.measure, UNANSWERABLE),
        ),
    )


def swapped_reader(case: Case) -> Ruling:
    """The verdict on a swapped reader, never without its two cells."""
    verdict = {
        "up": "reader improved",
        "down": "reader regressed",
        "flat": "no material change",
    }.get(case.primary.state, NOT_ENOUGH)
    measure = case.contrast.measure
    return Ruling(
        verdict=verdict,
        sentences=(
            *sentences.headline(case),
            *_evidence_cells(case),
            *sentences.unanswerables(case),
        ),
        settle=sentences.more_questions(case, case.primary),
        owner=READER if case.primary.state in ("up", "down") else "",
        rests_on=(
            (measure, EVIDENCE_FULL),
            (measure, EVIDENCE_NOT_FULL),
            (ABSTAINED, EVIDENCE_NOT_FULL),
            (FAITHFULNESS, KEPT_PRESENT),
            (measure, UNANSWERABLE),
        ),
    )


def _evidence_cells(case: Case) -> tuple[str, ...]:
    """The headline by the evidence control had: quality with it, abstention without it."""
    measure = case.contrast.measure
    full = case.effect(measure, EVIDENCE_FULL)
    lacking = case.effect(measure, EVIDENCE_NOT_FULL)
    if full is None and lacking is None:
        return (
            "Evidence in the context was not measured, so a reader that answers better cannot "
            "be told from one that refuses less.",
        )
    said = []
    if full is not None:
        clauses = [phrases.brief(case, full, measure)]
        faithful = case.effect(FAITHFULNESS, KEPT_PRESENT)
        if faithful is not None:
            name = "faithfulness (a refusal counts 0)"
            clauses.append(phrases.brief(case, faithful, name))
        said.append(f"On {phrases.questions(full)}, {'; '.join(clauses)}.")
    if lacking is not None:
        refusals = case.effect(ABSTAINED, EVIDENCE_NOT_FULL)
        said.append(
            f"On {phrases.questions(lacking)}, a refusal is the right thing to do and is never "
            f"held against the reader: {phrases.brief(case, refusals, 'abstention')}; "
            f"{phrases.brief(case, lacking, measure)}."
        )
    return tuple(said)


def swapped_gate(case: Case) -> Ruling:
    """The verdict on a swapped gate: right answers against fabrications."""
    answers = {
        "up": "more right answers",
        "down": "fewer right answers",
        "flat": "as many right answers",
    }.get(case.primary.state, "right answers not decided")
    apart = case.effect(case.contrast.measure, UNANSWERABLE)
    refusals = {
        "up": "fewer fabrications",
        "down": "more fabrications",
        "flat": "as many fabrications",
    }.get("" if apart is None else apart.state, "fabrications not decided")
    verdict = answers if apart is None else f"{answers}, {refusals}"
    open_effects = [e for e in (case.primary, apart) if e is not None and e.state == "unclear"]
    return Ruling(
        verdict=verdict,
        sentences=(
            *sentences.headline(case),
            phrases.sentence(
                f"on answerable questions "
                f"{phrases.brief(case, case.effect(ABSTAINED), 'abstention')}"
            ),
            *sentences.unanswerables(case),
        ),
        settle="; ".join(sentences.more_questions(case, e) for e in open_effects),
        owner=GATE if case.primary.state in ("up", "down") else "",
        rests_on=((ABSTAINED, ANSWERABLE), (case.contrast.measure, UNANSWERABLE)),
    )

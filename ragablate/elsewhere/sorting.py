"""One log sorted by where its failures surfaced, each with what would prove it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragablate.diagnose import bucket
from ragablate.diagnose import traversal as at
from ragablate.elsewhere.buckets import UNSEPARATED, line_of
from ragablate.elsewhere.scoring import declined
from ragablate.logs import Entry, Log

Severity = Literal["critical", "high", "medium", ""]

FEWEST = 50
"""Fewer failures than this name no dominant bucket."""
UNJUDGED = "answered from its context"
"""The last bucket of a log without verdicts: nothing in the log speaks against the answer."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Advice:
    """What stands behind a bucket: how bad it is, what would prove it, what to try."""

    severity: Severity
    """What the user suffers, not how often."""
    experiment: str
    """The experiment that would prove it; empty where none can."""
    fix: str
    """What to try once it is proven."""


ADVICE: Mapping[str, Advice] = {
    at.PIPELINE_ERROR: Advice("high", "", "mend the failing call first: it hides everything else"),
    at.EVAL_GAP: Advice("", "", "label the gold of these questions, or mark them unanswerable"),
    at.FABRICATION: Advice(
        "critical", "'experiment=[closed_book,swap_gate]'", "a gate, or an instruction to decline"
    ),
    at.RETRIEVAL: Advice(
        "high", "'experiment=[oracle_context,swap_retriever,localize]'",
        "chunking, query rewriting, hybrid retrieval, depth, reranking",
    ),
    at.GATE: Advice("high", "'experiment=[localize,swap_gate]'", "calibrate the gate's floor"),
    at.ASSEMBLY: Advice(
        "high", "'experiment=[localize,swap_assembler]'", "a larger budget, fewer duplicates"
    ),
    UNSEPARATED: Advice(
        "high", "'experiment=[oracle_context,localize]'",
        "log prompt_pids: without them assembly cannot be told from retrieval",
    ),
    at.PARTIAL: Advice(
        "high", "'experiment=[oracle_context,swap_rewriter]'",
        "search for the parts apart (rewriter=decompose), or more depth",
    ),
    at.REFUSAL: Advice(
        "high", "'experiment=[oracle_context,swap_reader]'", "the prompt's rule for declining"
    ),
    at.CITATION: Advice(
        "critical", "experiment=swap_reader reader.prompt=cite", "a prompt that cites what it shows"
    ),
    at.NUMBER: Advice(
        "critical", "experiment=swap_reader", "a prompt that quotes figures (reader.prompt=quote)"
    ),
    at.CLAIM: Advice(
        "critical", "'experiment=[oracle_context,swap_reader]'", "a stricter prompt, another model"
    ),
    at.SOURCE_OR_LABEL: Advice(
        "critical", "experiment=oracle_context",
        "have a person read them: stale source, wrong gold, ambiguous question",
    ),
}  # fmt: skip
"""By bucket. Where a failure surfaced is an observation; only the experiment can say why."""


@dataclass(frozen=True, slots=True)
class Sorted:
    """One bucket with its questions."""

    bucket: str
    """Where they surfaced."""
    qids: tuple[str, ...]
    """Sorted; a question with several decodes once."""
    severity: Severity
    """What the user suffers."""
    experiment: str
    """What would prove it."""
    fix: str
    """What to try then."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A log, sorted."""

    questions: int
    """In the log."""
    judged: bool
    """Whether the log says, or its references tell, which answers are wrong."""
    ok: int
    """Answers that did not fail, of a judged log."""
    failures: tuple[Sorted, ...]
    """Most questions first."""
    notes: tuple[str, ...]
    """What the log does not say and what follows; what cannot be concluded."""
    buckets: Mapping[str, str] = field(default_factory=dict)
    """By qid."""


def diagnose(log: Log, phrases: Sequence[str], measure: str = at.CORRECT) -> Diagnosis:
    """Sort every question of a log by following its evidence, one by one.

    With verdicts (the log's own, or right and wrong by its reference answers) only failures
    are sorted and the rest is OK. Without, every answer is sorted, and what is left at the end
    of the way is an answer that nothing in the log speaks against.

    Args:
        log: The log.
        phrases: What counts as declining to answer.
        measure: The verdict that says whether an answer failed.
    """
    from ragablate.elsewhere.scoring import scores

    own = any(measure in entry.verdicts for entry in log.entries)
    judged = own or any(entry.references for entry in log.entries)
    found: dict[str, str] = {}
    scored = scores(log.entries, measure, phrases, own) if judged else {}
    for entry in sorted(log.entries, key=lambda e: e.replicate):
        if found.get(entry.qid, at.OK) in (at.OK, UNJUDGED):
            found[entry.qid] = _bucket(entry, _score(entry, scored), measure, phrases, judged)
    by_bucket: dict[str, list[str]] = {}
    for qid, name in found.items():
        by_bucket.setdefault(name, []).append(qid)
    ok = len(by_bucket.pop(at.OK, []))
    failures = tuple(
        Sorted(name, tuple(sorted(qids)), *_advice(name))
        for name, qids in sorted(by_bucket.items(), key=lambda item: (-len(item[1]), item[0]))
    )
    notes = (*log.notes, *_notes(failures, judged))
    return Diagnosis(len(found), judged, ok, failures, notes, dict(sorted(found.items())))


def _score(entry: Entry, scored: Mapping[str, tuple[float | None, ...]]) -> float | None:
    values = scored.get(entry.qid, ())
    return None if not values else values[min(entry.replicate, len(values)) - 1]


def _bucket(
    entry: Entry, score: float | None, measure: str, phrases: Sequence[str], judged: bool
) -> str:
    line = line_of(entry, declined(entry, phrases))
    found = bucket(line, {**entry.verdicts, measure: score}, measure=measure)
    if found in (at.RETRIEVAL, at.ASSEMBLY, at.PARTIAL) and entry.shown is None:
        return UNSEPARATED
    if found == at.SOURCE_OR_LABEL and not judged:
        return UNJUDGED
    return found


def _advice(name: str) -> tuple[Severity, str, str]:
    known = ADVICE.get(name, Advice("", "", ""))
    return known.severity, known.experiment, known.fix


def _notes(failures: Sequence[Sorted], judged: bool) -> list[str]:
    notes = ["Where a failure surfaced is not what brought it about: two faults can end in the "
             "same place. The experiment named beside a bucket is what can show it."]  # fmt: skip
    counts = Counter({one.bucket: len(one.qids) for one in failures if one.bucket != UNJUDGED})
    if judged and 0 < counts.total() < FEWEST:
        notes.append(
            f"{counts.total()} failures are fewer than {FEWEST}: the order of the buckets may be "
            "luck, and no dominant one is named."
        )
    elif judged and len(counts) > 2 and counts.most_common(1)[0][1] < counts.total() / 2:
        notes.append("The failures are spread over several stages: no single knob ends them.")
    if UNSEPARATED in counts:
        notes.append(
            "Without prompt_pids the log cannot separate assembly from retrieval: log what was "
            "put into the prompt."
        )
    if not judged:
        notes.append(
            "The log has neither verdicts nor reference answers: every answer was sorted, wrong or "
            "not, and the last bucket accuses nobody."
        )
    return notes

"""One log sorted by where its failures surfaced, each with what would prove it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragablate.diagnose import traversal as at
from ragablate.diagnose.facts import Collector, Fact, Facts
from ragablate.diagnose.marking import Markers
from ragablate.diagnose.tree import (
    EMPTY,
    UNJUDGED,
    UNKNOWN,
    UNMARKED_FIGURE,
    UNSEPARATED,
    UNSHOWN,
    surfaced,
)
from ragablate.elsewhere.scoring import ruled
from ragablate.logs import Entry, Log

Severity = Literal["critical", "high", "medium", ""]

FEWEST = 50
"""Fewer failures than this name no dominant bucket."""
_WORST_FIRST: tuple[Severity, ...] = ("critical", "high", "medium", "")


@dataclass(frozen=True, slots=True)
class Advice:
    """What stands behind a bucket: how bad it is, what would prove it, what to try."""

    severity: Severity
    """What the user suffers, not how often, where the log does not say how the answer fared."""
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
    UNSHOWN: Advice(
        "high", "'experiment=[localize,swap_assembler]'",
        "log prompt_pids: without them an evicted passage cannot be told from an unused one",
    ),
    at.PARTIAL: Advice(
        "high", "'experiment=[oracle_context,swap_rewriter]'",
        "search for the parts apart (rewriter=decompose), or more depth",
    ),
    at.REFUSAL: Advice(
        "high", "'experiment=[oracle_context,swap_reader]'", "the prompt's rule for declining"
    ),
    EMPTY: Advice("high", "experiment=swap_reader", "the limit of tokens, a stop word, a filter"),
    at.CITATION: Advice(
        "critical", "experiment=swap_reader reader.prompt=cite", "a prompt that cites what it shows"
    ),
    UNMARKED_FIGURE: Advice(
        "medium", "experiment=swap_reader reader.prompt=cite",
        "a prompt that cites every figure; where answers never cite, --marker none",
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
    """The worst that a user suffers here."""
    experiment: str
    """What would prove it."""
    fix: str
    """What to try then."""
    severities: Mapping[str, int] = field(default_factory=dict)
    """How many questions of each severity, the worst first."""


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
    unknown: int = 0
    """Answers of a judged log that nobody judged: neither OK nor failed."""
    partial: int = 0
    """Failed questions of which some but not all parts of the gold were in the prompt."""


def collected(
    entries: Iterable[Entry],
    phrases: Sequence[str],
    markers: Markers | None = None,
    measure: str = at.CORRECT,
) -> Facts:
    """What a log says of each of its answers.

    Args:
        entries: A log's; a stream is gone through once.
        phrases: What counts as declining to answer.
        markers: How answers cite.
        measure: The verdict that says whether an answer failed.
    """
    rule = None if measure != at.CORRECT else lambda entry: ruled(entry, phrases)
    collector = Collector(phrases, markers or Markers(), measure, rule)
    answers = collector.collect(entries)
    return Facts(answers, tuple(getattr(entries, "notes", ())), collector.own)


def diagnose(log: Log, phrases: Sequence[str], measure: str = at.CORRECT) -> Diagnosis:
    """Sort every question of a log; see ``sort``.

    Args:
        log: The log.
        phrases: What counts as declining to answer.
        measure: The verdict that says whether an answer failed.
    """
    facts = collected(log.entries, phrases, measure=measure)
    return sort(Facts(facts.answers, log.notes, facts.own))


def sort(facts: Facts, supported: float = at.SUPPORTED) -> Diagnosis:
    """Sort every question by following its evidence, one by one.

    With verdicts (the log's own, or right and wrong by its reference answers) only failures
    are sorted and the rest is OK. Without, every answer is sorted, and what is left at the end
    of the way is an answer that nothing in the log speaks against. Of several decodes the first
    that failed counts.

    Args:
        facts: The answers.
        supported: Least share of supported claims of an answer that its prompt supports.
    """
    judged = facts.judged
    found: dict[str, tuple[str, Fact]] = {}
    for fact in sorted(facts.answers, key=lambda f: f.replicate):
        if fact.qid not in found or found[fact.qid][0] in (at.OK, UNJUDGED, UNKNOWN):
            name = surfaced(fact, facts.score(fact), judged, supported)
            if name != UNKNOWN or fact.qid not in found:
                found[fact.qid] = (name, fact)
    by_bucket: dict[str, list[Fact]] = {}
    for name, fact in found.values():
        by_bucket.setdefault(name, []).append(fact)
    ok, unknown = (len(by_bucket.pop(name, [])) for name in (at.OK, UNKNOWN))
    failures = tuple(
        _sorted(name, members, facts)
        for name, members in sorted(by_bucket.items(), key=lambda kv: (-len(kv[1]), kv[0]))
    )
    partial = sum(0 < (f.shown or 0) < 1 for fs in by_bucket.values() for f in fs)
    notes = (*facts.notes, *_notes(failures, judged, unknown, partial), *_uncited(by_bucket))
    buckets = {qid: name for qid, (name, _) in sorted(found.items())}
    return Diagnosis(len(found), judged, ok, failures, notes, buckets, unknown, partial)


def standing(found: Diagnosis) -> dict[str, str]:
    """By qid, the bucket that moves are counted by: questions nobody judged are in none.

    In a log without verdicts an answer that nothing speaks against stands as OK.
    """
    return {
        qid: at.OK if name == UNJUDGED else name
        for qid, name in found.buckets.items()
        if name != UNKNOWN
    }


def _sorted(name: str, members: Sequence[Fact], facts: Facts) -> Sorted:
    known = ADVICE.get(name, Advice("", "", ""))
    counts = Counter(_suffered(name, fact, facts.score(fact), known) for fact in members)
    severities: dict[str, int] = {s: counts[s] for s in _WORST_FIRST if counts[s]}
    return Sorted(
        name, tuple(sorted(fact.qid for fact in members)), min(counts, key=_WORST_FIRST.index),
        known.experiment, known.fix, severities,
    )  # fmt: skip


def _suffered(name: str, fact: Fact, score: float | None, known: Advice) -> Severity:
    """What happened to the user: a wrong answer was served, or none, or a worse one."""
    if name in (at.EVAL_GAP, at.FABRICATION, at.CITATION) or score is None:
        return known.severity
    return "high" if fact.error or fact.empty or fact.abstained else "critical"


def _notes(failures: Sequence[Sorted], judged: bool, unknown: int, partial: int) -> Iterable[str]:
    yield ("Where a failure surfaced is not what brought it about: two faults can end in the "
           "same place. The experiment named beside a bucket is what can show it.")  # fmt: skip
    counts = Counter({one.bucket: len(one.qids) for one in failures if one.bucket != UNJUDGED})
    if judged and 0 < counts.total() < FEWEST:
        yield (
            f"{counts.total()} failures are fewer than {FEWEST}: the order of the buckets may be "
            "luck, and no dominant one is named."
        )
    elif judged and len(counts) > 2 and counts.most_common(1)[0][1] < counts.total() / 2:
        yield "The failures are spread over several stages: no single knob ends them."
    if UNSEPARATED in counts or UNSHOWN in counts:
        yield (
            "Without prompt_pids the log cannot separate assembly from retrieval: log what was "
            "put into the prompt."
        )
    if partial:
        yield (
            f"{partial:,} of the failed questions had only part of their gold in the prompt: any "
            "of it counts as arrived here."
        )
    if unknown:
        yield f"{unknown:,} answers were not judged: they are neither OK nor failures."
    if not judged:
        yield (
            "The log has neither verdicts nor reference answers: every answer was sorted, wrong or "
            "not, and the last bucket accuses nobody."
        )


def _uncited(by_bucket: Mapping[str, Sequence[Fact]]) -> Iterable[str]:
    """Where no answer cites at all, a figure without a marker says little."""
    looked_at = [f.cites for facts in by_bucket.values() for f in facts if f.cites]
    if UNMARKED_FIGURE in by_bucket and not {"marked", "astray"} & set(looked_at):
        yield (
            "No answer that was sorted cites anything: if this pipeline does not cite, "
            "--marker none keeps figures without a marker from being sorted."
        )

"""A look at failed answers through the whole guide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragablate.diagnose.guide.case import Case, Known, gold_parts
from ragablate.diagnose.guide.catalogue import MODES, TESTS
from ragablate.diagnose.guide.commands import Commands
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import LABELS, Sparse, decide
from ragablate.diagnose.guide.finding import Evidence, Finding
from ragablate.diagnose.guide.hubs import Frequencies, hubs
from ragablate.logs import Entry

_HUBS = "frequency over the rankings of the log"


@dataclass(frozen=True, slots=True)
class Guided:
    """What the guide says of a log."""

    failed: int
    """Failed questions of the log."""
    looked: int
    """How many of them were looked at."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Where the guide's questions led, most questions first: qids, sorted."""
    findings: tuple[Finding, ...] = ()
    """Most questions first."""
    notes: tuple[str, ...] = ()
    """What was not looked at, and why."""


def look(
    answers: Sequence[tuple[Entry, bool | None]],
    known: Known,
    cuts: Cuts,
    frequencies: Frequencies,
    commands: Commands,
    failed: int | None = None,
) -> Guided:
    """Lead failed answers through the guide's questions, and run the test of every mode.

    Args:
        answers: One a question: what the log says, and whether the answer declines.
        known: The passages at hand.
        cuts: Where the lines are.
        frequencies: How often passages are ranked, over all answers of the log.
        commands: Writes the experiments.
        failed: Failed questions of the log, where ``answers`` are a sample of them.
    """
    sparse = Sparse(known, cuts.depth)
    cases = [
        decide(Case(entry, declined, gold_parts(entry, known)), known, cuts, sparse.finds)
        for entry, declined in answers
    ]
    by_label: dict[str, list[str]] = {}
    for case in cases:
        by_label.setdefault(case.label, []).append(case.qid)
    ordered = sorted(by_label.items(), key=lambda pair: (-len(pair[1]), LABELS.index(pair[0])))
    found = _evidence(cases, known, cuts, frequencies)
    findings = [_finding(mode, by, seen, commands) for mode, by, seen in found if seen]
    order = list(MODES)
    return Guided(
        failed=len(cases) if failed is None else failed,
        looked=len(cases),
        labels={label: tuple(sorted(qids)) for label, qids in ordered},
        findings=tuple(sorted(findings, key=lambda f: (-len(f.qids), order.index(f.mode)))),
        notes=tuple(_notes(cases, known, cuts, frequencies)),
    )


def _evidence(
    cases: Sequence[Case], known: Known, cuts: Cuts, frequencies: Frequencies
) -> Iterable[tuple[str, str, tuple[Evidence, ...]]]:
    for mode, test, by in TESTS:
        yield mode, by(known), tuple(test(cases, known, cuts))
    yield "F5", _HUBS, tuple(hubs(cases, known, cuts, frequencies))


def _finding(mode: str, by: str, evidence: tuple[Evidence, ...], commands: Commands) -> Finding:
    told = MODES[mode]
    qids = tuple(sorted({qid for one in evidence for qid in one.qids}))
    proof = commands.of(mode)
    if mode == "F8" and any(one.scores["cut"] for one in evidence):
        proof += commands.of("cut")
    return Finding(mode, told.title, qids, told.symptom, by, evidence, proof, told.fix)


def _notes(
    cases: Sequence[Case], known: Known, cuts: Cuts, frequencies: Frequencies
) -> Iterable[str]:
    """What could not be looked for, with what would let it."""
    if known.given is None:
        yield ("Without the corpus BM25 was not run for F1, filters were not compared (F7), and "
               "F2, F4, F6 and F12 saw the passages of the log alone: give --corpus.")  # fmt: skip
    else:
        lost = {p for case in cases for p in case.gold if p not in known.passages}
        if lost:
            yield (f"{len(lost)} gold passages are not in the corpus by their id (such as "
                   f"{min(lost)}): the tests that need their text passed them over.")  # fmt: skip
    if 0 < frequencies.answers < cuts.hub_questions:
        yield (f"{frequencies.answers} rankings are fewer than {cuts.hub_questions}: F5 was not "
               "looked for.")  # fmt: skip
    without = sum(not case.entry.searches for case in cases)
    if without:
        yield (f"{without} of {len(cases)} answers lack the search that was sent (searches): F3 "
               "read the question instead.")  # fmt: skip
    unread = sum(case.entry.context is None for case in cases)
    if unread:
        yield (f"{unread} of {len(cases)} answers lack the text of their context: F10, F11 and "
               "other passages could not be looked at in them.")  # fmt: skip

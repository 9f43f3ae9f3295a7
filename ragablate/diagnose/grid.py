"""Was the evidence there, and does the answer keep to it: four cells, and what they point to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragablate.diagnose.facts import Fact, Facts
from ragablate.diagnose.traversal import RIGHT, SUPPORTED
from ragablate.diagnose.tree import is_supported

PRESENT, ABSENT = "evidence present", "evidence absent"
FAITHFUL, UNGROUNDED = "faithful", "not grounded"

_SHOWN = 5
_READINGS: Mapping[tuple[str, str], tuple[str, str]] = {
    (ABSENT, UNGROUNDED): (
        "a miss the reader improvised over",
        "upstream: chunking, embedding, query rewriting, depth, hybrid search, reranking; work on "
        "the prompt is wasted here",
    ),
    (ABSENT, FAITHFUL): (
        "the reader's success: it declined, or said what its passages say",
        "upstream, and never counted against the reader",
    ),
    (PRESENT, UNGROUNDED): (
        "the reader's failure: it left, contradicted or refused evidence it had",
        "the reader: prompt, model, order of the passages, decoding, quoted support",
    ),
    (PRESENT, FAITHFUL): (
        "neither stage made anything up",
        "where it is wrong all the same: a stale source, a label, an ambiguous question, an "
        "incomplete answer",
    ),
}
"""By cell: what it is, and where to look."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Answers of one kind."""

    evidence: str
    """``PRESENT`` where every part of the gold was in the prompt, else ``ABSENT``."""
    answer: str
    """``FAITHFUL`` or ``UNGROUNDED``."""
    answers: int
    """How many."""
    failed: int | None
    """How many of them are wrong; ``None`` in a log without verdicts."""
    refused: int
    """How many of them declined."""
    reading: str
    """What the cell is."""
    look: str
    """Where to look."""
    qids: tuple[str, ...]
    """Questions of it, sorted; wrong answers alone where that is known."""


@dataclass(frozen=True, slots=True)
class Distractors:
    """Wrong answers that had their evidence: by the passage they were taken from."""

    traced: Mapping[str, str]
    """By qid, the passages without gold that support what was said."""
    untraced: tuple[str, ...]
    """Questions whose wrong answer rests on no other passage."""
    unknown: int
    """Wrong answers of which the log does not say what supports them, claim by claim."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The answers of a log, by evidence and by faithfulness."""

    cells: tuple[Cell, ...]
    """All four, in a fixed order."""
    unmeasured: int
    """Answers of answerable questions that are in no cell: nobody judged whether they are
    supported, or the log does not say what was shown."""
    distractors: Distractors
    """Of wrong answers with full evidence."""

    @property
    def measured(self) -> int:
        """Answers in a cell."""
        return sum(cell.answers for cell in self.cells)


def grid(facts: Facts, supported: float = SUPPORTED) -> Grid:
    """Sort answers to answerable questions by two observations.

    Evidence is present where every part of the gold was in the prompt. An answer is faithful
    where the prompt supports at least ``supported`` of its claims. Declining is faithful
    without the evidence, and a failure of the reader with all of it.

    Source: the two-by-two of component-level evaluation (retrieval against generation), with
    abstention counted as in METHOD 6.4.
    """
    found: dict[tuple[str, str], list[Fact]] = {key: [] for key in _READINGS}
    unmeasured = 0
    for fact in facts.answers:
        if not fact.answerable or not fact.gold:
            continue
        key = cell_of(fact, supported)
        if key is None:
            unmeasured += 1
        else:
            found[key].append(fact)
    cells = tuple(_cell(key, members, facts) for key, members in found.items())
    present = (f for key in found if key[0] == PRESENT for f in found[key])
    return Grid(cells, unmeasured, _distractors(present, facts))


def cell_of(fact: Fact, supported: float = SUPPORTED) -> tuple[str, str] | None:
    """Evidence and faithfulness of one answer; ``None`` where either is not known."""
    if fact.error or fact.shown is None:
        return None
    evidence = PRESENT if fact.shown >= 1.0 else ABSENT
    if fact.abstained:
        return evidence, UNGROUNDED if evidence == PRESENT else FAITHFUL
    kept = is_supported(fact, supported)
    return None if kept is None else (evidence, FAITHFUL if kept else UNGROUNDED)


def _cell(key: tuple[str, str], members: Sequence[Fact], facts: Facts) -> Cell:
    judged = facts.judged
    wrong = [fact for fact in members if _wrong(fact, facts)]
    named = {fact.qid for fact in (wrong if judged else members)}
    return Cell(
        *key, len(members), len(wrong) if judged else None,
        sum(bool(fact.abstained) for fact in members), *_READINGS[key], tuple(sorted(named)),
    )  # fmt: skip


def _wrong(fact: Fact, facts: Facts) -> bool:
    score = facts.score(fact)
    return score is not None and score < RIGHT


def _distractors(present: Iterable[Fact], facts: Facts) -> Distractors:
    wrong = [f for f in present if _wrong(f, facts) and not f.abstained]
    return Distractors(
        {f.qid: f.traced for f in wrong if f.traced},
        tuple(sorted(f.qid for f in wrong if f.traced == "")),
        sum(f.traced is None for f in wrong),
    )


def distractor_text(found: Distractors) -> str:
    """The distractor case as a sentence or two; empty where no wrong answer had its evidence."""
    said = []
    if found.traced:
        some = list(found.traced.items())[:_SHOWN]
        more = ", …" if len(found.traced) > _SHOWN else ""
        listed = ", ".join(f"{qid}: {pids}" for qid, pids in some) + more
        said.append(
            f"{len(found.traced):,} wrong answers with the evidence in the prompt trace to another "
            f"passage ({listed}): this looks like the reader and is usually mended upstream, by "
            "reranking, tighter filters, dropping near-identical versions, or metadata that tells "
            "passages apart (date, product, place)."
        )
    if found.untraced:
        said.append(
            f"{len(found.untraced):,} wrong answers with the evidence in the prompt trace to no "
            "passage: the reader."
        )
    if found.unknown:
        said.append(
            f"Of {found.unknown:,} wrong answers with the evidence in the prompt the log does not "
            "say which passage supports what was said: judge claims one by one, with the passage."
        )
    return " ".join(said)

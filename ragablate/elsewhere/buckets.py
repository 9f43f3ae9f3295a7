"""Failure buckets of two logs of the same questions, and the moves between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragablate.compare.moves import Moves, moves
from ragablate.diagnose import bucket
from ragablate.elsewhere.scoring import declined
from ragablate.logs import Entry
from ragablate.records import Failure
from ragablate.traces import Retrieved, TraceLine

UNSEPARATED = "retrieval or assembly"
"""Where the log does not say what was shown, and the gold was not seen to be lost earlier."""


def buckets(
    entries: Sequence[Entry],
    scores: Mapping[str, tuple[float | None, ...]],
    measure: str,
    phrases: Sequence[str],
) -> dict[str, str]:
    """By qid, where the first failed decode surfaced; a question nobody judged has none."""
    found: dict[str, str] = {}
    for entry in sorted(entries, key=lambda e: e.replicate):
        score = scores[entry.qid][-1 if len(scores[entry.qid]) < entry.replicate
                                  else entry.replicate - 1]  # fmt: skip
        if found.get(entry.qid, "ok") == "ok" and (score is not None or entry.error):
            found[entry.qid] = _bucket(entry, score, measure, phrases)
    return found


def moves_between(
    before: Mapping[str, str], after: Mapping[str, str], margin: float = 0.05, seed: int = 0
) -> Moves:
    """The moves of every question that both logs sort.

    Raises:
        EvidenceError: Fewer than two questions are in both.
    """
    both = before.keys() & after.keys()
    return moves(
        {qid: before[qid] for qid in both}, {qid: after[qid] for qid in both},
        margin=margin, seed=seed,
    )  # fmt: skip


def _bucket(entry: Entry, score: float | None, measure: str, phrases: Sequence[str]) -> str:
    line = line_of(entry, declined(entry, phrases))
    found = bucket(line, {**entry.verdicts, measure: score}, measure=measure)
    judged_by_place = found in ("retrieval", "assembly", "partial evidence")
    return UNSEPARATED if judged_by_place and entry.shown is None else found


def line_of(entry: Entry, abstained: bool | None) -> TraceLine:
    """A logged answer as far as its evidence can be followed."""
    parts = entry.gold
    return TraceLine(
        arm="", qid=entry.qid, replicate=entry.replicate, question=entry.question,
        retrieved=tuple(
            Retrieved(p.pid, p.score or 0.0, rank)
            for rank, p in enumerate(entry.retrieved or (), 1)
        ),
        prompt_pids=entry.shown or (), answer=entry.answer, abstained=abstained,
        error=Failure("pipeline", entry.error) if entry.error else None,
        gold_pids=tuple(dict.fromkeys(pid for part in parts for pid in part)),
        searches=entry.searches or (), gate=entry.gate,
        gold_parts=parts, answerable=entry.answerable,
    )  # fmt: skip

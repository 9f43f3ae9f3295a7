"""One broader search where a gate asks for it, and what the gate makes of that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ragablate.codec import digest
from ragablate.prepared import ByQid, Found, texts
from ragablate.records import GateDecision, Item, Ranking

_NOTHING_BROADER = "A broader search is not to be had."
_BEFORE = "first_"


@dataclass(frozen=True, slots=True)
class Ranked:
    """What was found and what the reranker made of it."""

    found: Found
    retrieved: ByQid[Ranking]
    lineage: str


def may_broaden(gate: Any) -> bool:
    """Whether a gate may ask for a broader search; one that says nothing of it may."""
    return bool(getattr(gate, "below", "broaden") == "broaden")


def broadening(decided: ByQid[GateDecision]) -> list[str]:
    """Qids for which a gate asks for a broader search."""
    return [
        qid
        for qid, item in decided.items()
        if item.value is not None and item.value.outcome == "broaden"
    ]


def joined(first: Ranked, again: Ranked) -> Ranked:
    """The broader search in place of the first, for the questions that had one."""
    before, after = first.found, again.found
    if not after.searches:
        return first
    found = Found(
        {**before.searches, **after.searches},
        {**before.candidates, **after.candidates},
        digest("broadened", before.lineage, after.lineage),
        {**{q: s for q, s in before.signals.items() if q not in after.searches}, **after.signals},
        {qid: texts(before.searches[qid]) for qid in after.searches},
    )
    retrieved = {**first.retrieved, **again.retrieved}
    return Ranked(found, retrieved, digest("broadened", first.lineage, again.lineage))


def settled(
    first: ByQid[GateDecision], again: Ranked, second: ByQid[GateDecision]
) -> dict[str, Item[GateDecision]]:
    """Decisions that are final, and never *broaden*; none where the broader search failed.

    Args:
        first: Before.
        again: What the broader search found.
        second: What the gate made of it.
    """
    done = dict(first)
    for qid, item in first.items():
        before = item.value
        if before is None or before.outcome != "broaden":
            continue
        if qid in second:
            after = second[qid]
            done[qid] = Item(qid, _second(before, after.value)) if after.value else after
        elif qid in again.found.searches:
            del done[qid]
        else:
            reason = " ".join(filter(None, (before.reason, _NOTHING_BROADER)))
            done[qid] = Item(qid, replace(before, outcome="refuse", reason=reason))
    return done


def _second(before: GateDecision, after: GateDecision) -> GateDecision:
    outcome = "refuse" if after.outcome == "broaden" else after.outcome
    told = {f"{_BEFORE}{name}": number for name, number in before.signals.items()}
    return GateDecision(outcome, after.reason, {**after.signals, **told})

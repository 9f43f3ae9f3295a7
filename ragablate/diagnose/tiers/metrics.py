"""The first tier: what metrics alone decide, at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragablate.diagnose.tiers import causes
from ragablate.diagnose.tiers.thresholds import Thresholds
from ragablate.logs import Entry


@dataclass(frozen=True, slots=True)
class Metrics:
    """What is known of a ranking. ``None`` is what is not."""

    recall: float | None
    """Share of the gold's parts of which a passage came back."""
    mrr: float | None
    """Reciprocal rank of the first gold passage; 0 where none came back."""
    missing: tuple[str, ...] = ()
    """Gold passages that did not come back, where no other of their part did."""


def metrics(entry: Entry) -> Metrics:
    """Of one ranking: the log's own where it has both, else from its ids and its gold."""
    own = entry.verdicts
    if entry.retrieved is None or not entry.gold:
        return Metrics(own.get("recall"), own.get("mrr"))
    pids = [passage.pid for passage in entry.retrieved]
    found = [part for part in entry.gold if not set(pids).isdisjoint(part)]
    missing = tuple(pid for part in entry.gold if part not in found for pid in part)
    gold = {pid for part in entry.gold for pid in part}
    rank = next((n for n, pid in enumerate(pids, 1) if pid in gold), 0)
    return Metrics(
        own.get("recall", len(found) / len(entry.gold)),
        own.get("mrr", 1 / rank if rank else 0.0),
        missing,
    )


def suspected(
    entry: Entry, found: Metrics, right: bool | None, thresholds: Thresholds
) -> tuple[str, dict[str, Any]] | None:
    """The cause that metrics show, with its evidence; ``None`` where they show none.

    The first that applies: the call failed, nothing was said, too little of the gold came
    back, the first of it came back too low. An answer that is known to be right fails in
    nothing; one that is known to be wrong and fails in nothing else is undetermined.
    """
    if entry.error:
        return causes.PIPELINE_ERROR, {"error": entry.error}
    if right:
        return None
    if entry.answer is not None and not entry.answer.strip():
        return causes.EMPTY_ANSWER, {}
    values = _values(found)
    if found.recall is not None and found.recall < thresholds.recall_pass:
        return causes.RETRIEVAL_MISS, {**values, "missing": list(found.missing)}
    if found.mrr is not None and found.mrr < thresholds.mrr_pass:
        return causes.RANKING, values
    return (causes.UNDETERMINED, values) if right is False else None


def _values(found: Metrics) -> dict[str, float]:
    named: Sequence[tuple[str, float | None]] = (("recall", found.recall), ("mrr", found.mrr))
    return {name: value for name, value in named if value is not None}


def metadata(entry: Entry) -> Mapping[str, str]:
    """What groups questions: strata, and what a log keeps under ``metadata``."""
    given = entry.meta.get("metadata")
    more = given if isinstance(given, Mapping) else {}
    plain = {str(k): str(v) for k, v in more.items() if isinstance(v, str | int | bool)}
    return {**plain, **entry.slices}

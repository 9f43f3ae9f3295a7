"""Whether the numbers a gate decides on mean anything behind the stages of its arm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragablate.gate.segments import segment_problem
from ragablate.gate.stamps import Stamped, uncalibrated
from ragablate.records import Dataset

OF_RETRIEVER = frozenset({"top", "gap"})
"""Signals that are read off the retriever's scores."""
_RERANKED = "relevance"
_RANKS = (
    "says where a passage stands and not how near it is, and no floor holds on that: use "
    "gate=relevance behind a reranker that scores (cross_encoder), or gate=none"
)


def unfit(pipelines: Mapping[str, Stamped], dataset: Dataset) -> list[str]:
    """What is wrong with the gates of a plan, one sentence each.

    Args:
        pipelines: By arm.
        dataset: What they search, and the questions with their slices.
    """
    found = uncalibrated(pipelines, dataset)
    found += [
        problem
        for pipeline in pipelines.values()
        for problem in misfits(decides_on(pipeline["gate"]), pipeline)
    ]
    found += [problem for p in pipelines.values() if (problem := _nothing_broader(p))]
    segments = (str(getattr(pipeline["gate"], "segment", "")) for pipeline in pipelines.values())
    wrong = (segment_problem(segment, dataset) for segment in segments)
    found += [f"gate: {problem}" for problem in wrong if problem]
    return list(dict.fromkeys(found))


def decides_on(gate: Any) -> frozenset[str]:
    """Names of the signals a gate decides on; empty for one that does not say."""
    return frozenset(getattr(gate, "decides_on", ()))


def misfits(signals: Iterable[str], pipeline: Stamped) -> list[str]:
    """Signals that mean nothing behind these stages, one sentence each.

    Args:
        signals: What is decided on.
        pipeline: The stages the signals come from.
    """
    wanted = set(signals)
    found = []
    if _RERANKED in wanted and getattr(pipeline["reranker"], "keeps_scores", False):
        found.append(
            "a gate on relevance decides on the reranker's scores, and "
            f"{_named(pipeline['reranker'])} keeps the retriever's: choose a reranker that scores "
            "(cross_encoder), or gate=floor"
        )
    fusing = [pipeline[stage] for stage in ("rewriter", "retriever")
              if getattr(pipeline[stage], "fuses", False)]  # fmt: skip
    if wanted & OF_RETRIEVER and fusing:
        named = " and ".join(_named(each) for each in fusing)
        found.append(
            f"a gate on {_listed(wanted & OF_RETRIEVER)} decides on the retriever's scores, and "
            f"{named} fuses by rank: a fused score {_RANKS}"
        )
    return found


def fused_searches(signals: Iterable[str], searches: Iterable[int]) -> str:
    """What is wrong where questions were searched several times; empty for nothing.

    Args:
        signals: What is decided on.
        searches: How many searches each question had.
    """
    wanted = set(signals) & OF_RETRIEVER
    several = sum(count > 1 for count in searches)
    if not wanted or not several:
        return ""
    return (
        f"a gate on {_listed(wanted)} decides on the retriever's scores, and the rewriter searched "
        f"{several} question(s) several times: a score fused by rank {_RANKS}"
    )


def _nothing_broader(pipeline: Stamped) -> str:
    """What is wrong with asking an arm's rewriter for a broader search; empty for nothing."""
    gate, rewriter = pipeline["gate"], pipeline["rewriter"]
    # A rewriter that does not say how many broader searches it has is asked when it comes to it.
    broader = getattr(rewriter, "broader", 1)
    if getattr(gate, "below", "") != "broaden" or (broader == 1):
        return ""
    asks = f"gate.below=broaden asks the rewriter for a broader search, and {_named(rewriter)} "
    if not broader:
        return (
            f"{asks}has none: use rewriter=last_turn_concat, standalone, decompose, hyde or "
            "function, or gate.below=refuse"
        )
    wanted = decides_on(gate) & OF_RETRIEVER
    if not wanted:
        return ""
    return (
        f"{asks}makes it one of several, fused by rank, while the gate decides on "
        f"{_listed(wanted)}: use rewriter=last_turn_concat or function, or gate=relevance"
    )


def _listed(signals: Iterable[str]) -> str:
    return " and ".join(sorted(signals))


def _named(adapter: Any) -> str:
    return type(adapter).__name__

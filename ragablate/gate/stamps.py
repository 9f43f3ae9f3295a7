"""Whether the floors of a gate belong to the scores they are held against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ragablate.dataset.digests import corpus_digest, documents_digest
from ragablate.records import Dataset

STAMPED = ("chunker", "rewriter", "retriever", "reranker")
"""The stages whose scores a floor is held against."""
_CORPUS = "corpus"


class Stamped(Protocol):
    """As much of an arm's pipeline as is needed: its stages and their fingerprints."""

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """By stage."""

    def __getitem__(self, stage: str) -> Any:
        """The adapter of a stage."""


def searched_digest(dataset: Dataset) -> str:
    """sha256 of what is searched, before a chunker cuts it: scores such as BM25's depend on it."""
    if dataset.documents:
        return documents_digest(dataset.documents)
    return corpus_digest(dataset.passages)


def moved(pipeline: Stamped, dataset: Dataset) -> list[str]:
    """What differs from what the gate of an arm was calibrated for, by name; raises nothing."""
    stamped = getattr(pipeline["gate"], "calibrated_for", None) or {}
    stages = [s for s, own in stamped.items()
              if s != _CORPUS and pipeline.fingerprints.get(s) != own]  # fmt: skip
    corpus = stamped.get(_CORPUS)
    other = corpus is not None and corpus != searched_digest(dataset)
    return [*stages, _CORPUS] if other else stages


def uncalibrated(pipelines: Mapping[str, Stamped], dataset: Dataset) -> list[str]:
    """Gates whose floors were found with other stages than those of their arm, one sentence each.

    Args:
        pipelines: By arm.
        dataset: What they search.
    """
    return [
        f"arm '{name}': the gate was calibrated for another {' and '.join(found)}, whose "
        "scores are not these; calibrate it anew (ragablate calibrate), or leave it out of "
        "all arms, gate=none"
        for name, pipeline in pipelines.items()
        if (found := moved(pipeline, dataset))
    ]

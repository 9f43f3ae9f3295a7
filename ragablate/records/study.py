"""What the comparator is given, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragablate.records.analysis import Analysis, AnalysisResult
from ragablate.records.claims import Conclusion, Contrast, Effect, Proof, Signal
from ragablate.records.labelled import CorrectedEffect, HumanLabel, JudgedRate
from ragablate.records.reading import Measure

Scores = Mapping[str, Mapping[str, Mapping[str, tuple[float | None, ...]]]]
"""``scores[arm][measure][qid]``: one value per replicate."""


@dataclass(frozen=True, slots=True)
class Study:
    """Everything the comparator needs: no adapter, no corpus, no text."""

    qids: tuple[str, ...]
    """The question set, in order."""
    answerable: Mapping[str, bool]
    """By qid."""
    eval_gaps: frozenset[str]
    """Answerable questions without usable gold: excluded, counted and listed."""
    clusters: Mapping[str, str]
    """By qid: source document, conversation or a key of the user's."""
    slices: Mapping[str, Mapping[str, str]]
    """By qid: slice name to value."""
    measures: Mapping[str, Measure]
    """By name."""
    scores: Scores
    """By arm, measure and qid."""
    errors: Mapping[str, Mapping[str, str]]
    """By arm and qid: the kind of failure, where there was one."""
    contrasts: tuple[Contrast, ...]
    """Declared before scoring; the first family."""
    proofs: Mapping[str, tuple[Proof, ...]]
    """By contrast id."""
    arms: Mapping[str, str]
    """By arm name, what it runs in a few words, such as ``bm25``, for sentences."""
    reader: str
    """Short name of the control's reader with the start of its fingerprint."""
    top_k: int
    """Cut of the ranking handed to the assembler, named wherever *retrieved* is said."""
    alpha: float = 0.05
    """Level of the tests."""
    power: float = 0.80
    """Power that sample sizes are computed for."""
    seed: int = 0
    """Seed of every Monte Carlo procedure."""
    analyses: tuple[Analysis, ...] = ()
    """Designs of several arms, declared before scoring; their proofs are in ``proofs`` too."""
    reasons: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By stage (``assembly``, ``retrieval``) and qid: what was observed to lose the evidence in
    control, such as ``budget_cut`` or ``not_in_candidates``."""
    correction: str = "holm"
    """How the first family shares ``alpha``: ``holm`` or ``maxt``."""
    planned_n: int | None = None
    """Questions a confidence sequence is tuned to, which then takes the place of every interval
    of a contrast; ``None`` for intervals of one look."""
    buckets: Mapping[str, str] = field(default_factory=dict)
    """By qid: what the log traversal alone says of control's answer."""
    remarks: tuple[str, ...] = ()
    """What was decided about all arms before they ran, such as a gate that is off."""
    asked_of_models: frozenset[str] = frozenset()
    """Measures that a chat model decides, whose errors may differ between readers."""
    labels: tuple[HumanLabel, ...] = ()
    """What people said of some of the answers."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a study shows."""

    effects: tuple[Effect, ...]
    """Primary first, in the order of the contrasts."""
    conclusions: tuple[Conclusion, ...]
    """One a contrast."""
    signals: tuple[Signal, ...]
    """Stage signals side by side per arm."""
    notes: tuple[str, ...] = ()
    """What concerns the whole set: eval gaps, duplicates, small n."""
    analyses: tuple[AnalysisResult, ...] = ()
    """One a declared analysis; each has a conclusion under its id too."""
    judged_rates: tuple[JudgedRate, ...] = ()
    """Judges held against human labels, where there are any."""
    corrected: tuple[CorrectedEffect, ...] = ()
    """Judged effects corrected by human labels, where there are enough."""

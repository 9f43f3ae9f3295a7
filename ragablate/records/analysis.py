"""Designs of more than two arms: what they declare and what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragablate.records.claims import Interval, State

AnalysisKind = Literal["ladder", "factorial", "mediation", "attribution"]
"""A chain of interventions; all combinations of changes; evidence path against the rest;
exact Shapley shares of the stages in which two pipelines differ."""


@dataclass(frozen=True, slots=True)
class Factor:
    """One variable of a factorial or an attribution."""

    variable: str
    """Config group or dotted leaf."""
    control_level: str
    """Its level in control, for sentences."""
    level: str
    """Its level in the treatment."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A design of several arms, declared before scoring."""

    id: str
    """Name of the experiment."""
    question: str
    """The question it answers, in the researcher's words."""
    kind: AnalysisKind
    """How its arms are put together."""
    arms: Mapping[str, str]
    """Arm name by role. Ladder: ``B``, ``A``, ``D``, ``S``, ``O``, ``N`` and, where control
    has a gate, ``B'``. Mediation: ``B``, ``R``, ``c01``, ``c10``. Factorial and attribution:
    one role a cell, a string of 0 and 1 in the order of the factors."""
    measure: str
    """Primary measure."""
    margin: float
    """Smallest difference that matters."""
    factors: tuple[Factor, ...] = ()
    """In the order of the bits of the cells."""
    order: tuple[str, ...] = ()
    """Variables in the order a sequential attribution changes them; empty where every
    combination is run."""


@dataclass(frozen=True, slots=True)
class Term:
    """One additive term of an analysis: a mean over questions, with what it is made of."""

    name: str
    """``retrieval``, ``reader``, ``evidence path``, a variable, ``interaction`` …"""
    value: float
    """Mean per question; terms that belong together add up exactly."""
    n: int
    """Questions."""
    fixed: int
    """Questions it raises."""
    broke: int
    """Questions it lowers."""
    ci95: Interval | None
    """Interval of the mean, or of the rate for terms that cannot be negative."""
    p: float | None
    """Exact sign-flip test; ``None`` for terms that cannot be negative."""
    p_adjusted: float | None
    """Holm within the analysis' family."""
    state: State
    """What the data say, given the margin."""
    effect: str = ""
    """Id of the effect record, where there is one."""
    reasons: Mapping[str, float] = field(default_factory=dict)
    """The term by observed reason: descriptive, and adds up to ``value``."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the logs alone would have blamed, against what the interventions show."""

    bucket: str
    """Failure bucket of the log traversal on control."""
    rung: str
    """First rung that fixed the question, or ``none``."""
    questions: int
    """How many."""


@dataclass(frozen=True, slots=True)
class Share:
    """A descriptive share, such as the probability of sufficiency."""

    name: str
    """``PS``, ``PS (log says retrieval)``, ``PN`` …"""
    count: int
    """Questions that have it; decodes, where each question has several."""
    of: int
    """Questions, or decodes, it is asked of."""
    placebo: float | None
    """The same share when nothing but asking again is done, where it was measured."""


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """What an analysis shows."""

    id: str
    """Id of the analysis."""
    kind: AnalysisKind
    """Kind of the analysis."""
    order: str
    """Part of the result's name: ``ladder B>A>D>S>O``, ``sequential, order = …`` or empty."""
    population: str
    """Questions the terms are means over."""
    total: float
    """What the terms add up to."""
    terms: tuple[Term, ...]
    """In pipeline order."""
    cells: Mapping[str, float] = field(default_factory=dict)
    """Mean score by role."""
    strata: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    """The terms again on a stratum, such as the retrieval-dependent one."""
    beside: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    """Further contrasts of the same arms, by what they are: simple effects, both orders …
    Each group is a family of its own."""
    named: str = ""
    """The stage named by rank verification; empty where none is."""
    candidates: tuple[str, ...] = ()
    """Stages that cannot be told from the largest."""
    agreement: tuple[Agreement, ...] = ()
    """Cross table of log buckets and first fixing rung."""
    shares: tuple[Share, ...] = ()
    """Sufficiency and necessity of the evidence."""

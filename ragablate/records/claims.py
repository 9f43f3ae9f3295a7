"""Arms, contrasts, proofs, effects and conclusions: what a comparison is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ContrastKind = Literal[
    "oracle", "closed_book", "necessity", "context", "upstream", "assembler", "gate", "reader",
    "placebo",
]  # fmt: skip
"""What a contrast intervenes on. ``upstream`` is retriever, rewriter, chunker or reranker;
``context`` any other level of the stage of that name (``with_gold``)."""

State = Literal["up", "down", "flat", "unclear", "refused"]
"""What the data say of a difference, given the margin declared before scoring."""

Label = Literal[
    "causal", "causal with limits", "confounded", "descriptive", "exploratory", "refused"
]
"""How much a sentence may claim."""


@dataclass(frozen=True, slots=True)
class Change:
    """One leaf of the resolved config that differs between an arm and control."""

    key: str
    """Dotted path."""
    control: Any
    """Value in control; ``None`` where absent."""
    treatment: Any
    """Value in the arm; ``None`` where absent."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One complete pipeline of the plan."""

    name: str
    """``control``, ``<variable>=<level>`` or ``placebo``."""
    variable: str = ""
    """Config group or dotted leaf that was changed; empty for control and placebo."""
    level: str = ""
    """The variable's level; empty for control and placebo."""
    overrides: tuple[str, ...] = ()
    """Hydra overrides that turn control into this arm."""
    changes: tuple[Change, ...] = ()
    """Every resolved leaf that moved."""
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """By stage, in pipeline order; empty until adapters are built."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Treatment minus control, declared before scoring."""

    id: str
    """``<experiment>/<level>``."""
    experiment: str
    """Name of the experiment that asks for it."""
    question: str
    """The question it answers, in the researcher's words."""
    kind: ContrastKind
    """What is intervened on."""
    variable: str
    """Config group or dotted leaf."""
    level: str
    """Level of the variable in the treatment arm."""
    control: str
    """Name of the control arm."""
    treatment: str
    """Name of the treatment arm."""
    measure: str
    """Primary measure."""
    margin: float
    """Smallest difference that matters, on the measure's scale."""
    control_level: str = ""
    """Level of the variable in control, such as ``bm25``, for sentences."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One invariant of one contrast, checked on what really crossed the seams."""

    invariant: str
    """``INV-1`` … ``INV-22``."""
    status: Literal["pass", "fail", "warn", "not_checked"]
    """What the check found."""
    consequence: Literal["", "refuse", "confounded", "descriptive", "exploratory", "warn"]
    """What a failure does to the claim; empty where it passed."""
    text: str
    """The finding with its counts, such as ``200/200 contexts byte-identical``."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a mean difference or a rate."""

    low: float
    """Lower limit."""
    high: float
    """Upper limit."""
    confidence: float
    """Nominal coverage, such as 0.95."""
    method: str
    """``tango``, ``wilson``, ``augmented t``, ``cluster t``, …"""


@dataclass(frozen=True, slots=True)
class Effect:
    """A paired difference, treatment minus control, on one measure and one population."""

    id: str
    """``<contrast>:<measure>:<population>``."""
    contrast: str
    """Id of the contrast."""
    arms: tuple[str, str]
    """Control and treatment: the arms the number rests on."""
    measure: str
    """What is compared."""
    population: str
    """``answerable``, ``unanswerable``, ``evidence full``, ``evidence not full``,
    ``kept present``, ``retrieval-dependent``, or a slice such as ``type=bridge``."""
    role: Literal["primary", "signal", "cell", "slice", "control", "term"]
    """``primary``: headline, Holm-adjusted. ``signal``: a stage signal beside it. ``cell``:
    a declared stratum. ``slice``: exploratory. ``control``: a negative control that
    must not move. ``term``: a term of an analysis, Holm-adjusted within it."""
    n: int
    """Complete pairs."""
    unmeasured: int
    """Questions of the population dropped as pairs."""
    clusters: int | None
    """Number of clusters where a cluster key repeats, else ``None``."""
    replicates: int
    """Decodes per question and arm."""
    control_mean: float | None
    """Mean over the complete pairs; ``None`` where n = 0."""
    treatment_mean: float | None
    """Mean over the complete pairs; ``None`` where n = 0."""
    effect: float | None
    """Mean difference."""
    better: int
    """Questions whose difference is positive."""
    worse: int
    """Questions whose difference is negative."""
    same: int
    """Questions without a difference."""
    ci95: Interval | None
    """Interval at 1 - alpha."""
    ci90: Interval | None
    """Interval at 1 - 2 alpha, the one equivalence is judged by."""
    p: float | None
    """Two-sided exact sign-flip (randomization) test."""
    p_adjusted: float | None
    """Holm within the primary family, BH within slices, else equal to ``p``."""
    margin: float
    """Declared smallest difference that matters."""
    state: State
    """What the data say."""
    detail: str
    """``negligible``, ``borderline``, ``floor``, ``errors could flip it``, ``pilot`` or empty."""
    needed_n: int | None
    """Questions that would decide a difference of ``margin``; ``None`` once decided."""
    detectable: float | None
    """Smallest effect this n shows with 80 % power at the observed share of changes."""
    p_exact: bool = True
    """Whether ``p`` accounts for every sign pattern, rather than for seeded random ones."""
    se_super: float | None = None
    """Standard error of the effect for questions like these: over questions (over clusters
    where a key repeats), decoding noise included."""
    se_set: float | None = None
    """Standard error for exactly these questions, of decoding noise alone; ``None`` with one
    replicate."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A verdict on one contrast: what may be said, how strongly, and what would settle it."""

    contrast: str
    """Id of the contrast."""
    verdict: str
    """Short name, such as ``upstream is the bottleneck``."""
    label: Label
    """How much it claims."""
    sentences: tuple[str, ...]
    """The verdict in plain language, headline first."""
    limits: tuple[str, ...]
    """What weakens it, each a phrase."""
    settle: str
    """What would decide what is open; empty where nothing is."""
    owner: str
    """Which knobs to turn; empty where no stage is named."""
    effects: tuple[str, ...]
    """Ids of the effects it rests on."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One measure of one arm: a stage signal for the side-by-side table."""

    arm: str
    """The arm."""
    measure: str
    """The measure."""
    population: str
    """``answerable`` or ``unanswerable``."""
    mean: float | None
    """Mean over measured questions."""
    n: int
    """Measured questions."""
    unmeasured: int
    """Questions without a value."""
    ci95: Interval | None
    """Wilson for 0/1 measures, else ``None``."""

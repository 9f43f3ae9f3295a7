"""What an execution watched itself doing, beside the traces: recorded with the plan.

The proofs of a contrast are made from traces and from this record alone, so that they can
be made again from a bundle, without corpus, store or adapters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ReaderFacts:
    """What a reader says of itself."""

    stochastic: bool = False
    """Equal prompts may get different answers."""
    remote: bool = False
    """It asks a model elsewhere, which may change without notice."""


@dataclass(frozen=True, slots=True)
class SearchedAgain:
    """The last searches of an execution: some of its first ones, asked again past the store."""

    asked: int = 0
    """Questions whose searches were repeated."""
    differ: tuple[str, ...] = ()
    """Questions that got another ranking."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """Answers of a model elsewhere that were stored before a plan began, asked for once more."""

    asked: int = 0
    """Answers that were compared."""
    differ: tuple[str, ...] = ()
    """The question of each answer that came out differently."""
    models: tuple[str, ...] = ()
    """Every name that either answer gives for the model."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What an execution watched itself doing."""

    decoding_seed: int
    """Seed that decode seeds and the order of the calls are derived from."""
    readers: Mapping[str, ReaderFacts]
    """By arm."""
    corpora_changed: tuple[str, ...] = ()
    """Arms whose corpus did not hold the same passages at the end as at the beginning."""
    inputs_changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By arm, stages whose files or functions were not the same at the end."""
    searched_again: Mapping[str, SearchedAgain] = field(default_factory=dict)
    """By arm."""
    asked_again: Mapping[str, AskedAgain] = field(default_factory=dict)
    """By arm, where its reader's answers were stored by an earlier plan."""
    leaked: tuple[str, ...] = ()
    """Questions that stand in a corpus of the plan together with their answer."""
    too_short: int = 0
    """Questions too short to be told from ordinary text, and not looked for."""
    not_shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By arm, questions whose prompt does not hold every passage of the context in full."""
    selected_by_failure: bool = False
    """The questions were chosen because a control failed on them."""
    fresh_control: bool = False
    """Every answer was decoded anew for this question set."""

"""What a look at failed answers found: a suspicion, what speaks for it, what would prove it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a failure mode in one answer, or in one passage of several answers."""

    qids: tuple[str, ...]
    """The questions it was found in."""
    says: str
    """One sentence."""
    pids: tuple[str, ...] = ()
    """Passages it rests on."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Numbers it rests on, by name."""
    quotes: tuple[str, ...] = ()
    """Verbatim words it rests on: of passages, the answer or the search."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure mode that is suspected, to be proven by its experiment."""

    mode: str
    """``F1`` … ``F12``, or ``distractor``."""
    title: str
    """The mode in a few words."""
    qids: tuple[str, ...]
    """Questions it was found in, sorted."""
    symptom: str
    """What was noticed, in a sentence."""
    by: str
    """What was looked at, and by which means."""
    evidence: tuple[Evidence, ...]
    """In the order of the log."""
    proof: tuple[str, ...]
    """Commands whose result would prove it, in order."""
    fix: str
    """What to try once it is proven."""


def count(n: int, noun: str) -> str:
    """A number with its noun, in the plural but for 1."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"

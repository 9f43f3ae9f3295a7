"""What a stage answers to one input: a value, or a failure in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

T = TypeVar("T")

FailureKind = Literal["infrastructure", "pipeline", "judge"]
"""Who failed. ``infrastructure`` (timeout, reset, malformed reply) is unmeasured and tried
again by the next execution; ``pipeline`` (context overflow, own parser) is an outcome,
scored 0; ``judge`` (unreachable, unparsable) is unmeasured."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one item has no value."""

    kind: FailureKind
    """Who failed; decides whether it counts as an outcome."""
    message: str
    """One sentence for the reader of the report."""


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """One answer of a stage to one input: a value, or the failure in its place."""

    id: str
    """Id of the input it answers, exactly as it was given."""
    value: T | None
    """The result; ``None`` exactly when ``failure`` is set."""
    failure: Failure | None = None
    """Why there is no value."""

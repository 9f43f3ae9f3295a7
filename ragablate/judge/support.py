"""What decides whether passages support a claim: words, a model, or an endpoint that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ragablate.records import Claim, ContextPassage, Failure


@dataclass(frozen=True, slots=True)
class Ask:
    """One claim and the passages that may support it."""

    claim: str
    """One clause."""
    passages: tuple[ContextPassage, ...]
    """Any one of which is enough; none supports nothing."""


class Support(Protocol):
    """Decides about claims.

    One passage has to carry a claim by itself: support before contradiction, the passage that
    says it most clearly before others, ties by pid.
    """

    cheap: bool
    """Whether deciding again is quicker than looking up what was decided."""

    def problems(self) -> list[str]:
        """What would stop it, one sentence each, found without loading anything."""
        ...

    def check(self, asks: Sequence[Ask]) -> Sequence[Claim | Failure]:
        """What the passages say of each claim, in the order asked.

        ``unclear`` where no usable answer was to be had; a failure where one may be had another
        time.
        """
        ...


def joined(passages: Sequence[ContextPassage]) -> ContextPassage:
    """Several passages as one, for what they support only together; its pid names them all."""
    text = "\n".join(passage.text for passage in passages)
    return ContextPassage(", ".join(passage.pid for passage in passages), text, text)

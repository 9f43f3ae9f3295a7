"""A floor under the reranker's highest score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragablate.gate.signals import by_floor, floor_for, floor_problems
from ragablate.protocols import GateRequest
from ragablate.records import Corpus, GateDecision, Item


class Relevance:
    """Goes on where one of the first 20 of the ranking has a score of at least a floor.

    A question without a candidate is refused. A question with a score of exactly the floor
    goes on.

    Args:
        floor: The floor of every question that has none of its own.
        segment: The slice whose values have floors of their own; empty for none.
        floors: By value of that slice, its floor.
        below: What happens below the floor: ``refuse``, ``clarify`` or ``broaden``.
        calibrated_for: Fingerprints of the stages the floors were found with, as written by
            ``ragablate calibrate``; a plan with others is refused.
    """

    cheap = True
    decides_on = ("relevance",)

    def __init__(
        self,
        floor: float,
        segment: str = "",
        floors: Mapping[str, float] | None = None,
        below: str = "refuse",
        calibrated_for: Mapping[str, str] | None = None,
    ) -> None:
        self.floor = floor
        self.segment = segment
        self.floors = floors or {}
        self.below = below
        self.calibrated_for = calibrated_for

    def problems(self) -> list[str]:
        """Floors that are no numbers, an outcome that does not exist."""
        floors = {"floor": self.floor, **{f"floors.{k}": v for k, v in self.floors.items()}}
        return floor_problems(floors, self.segment, self.below, list(self.floors))

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        """One decision a question, with every number it could have been made on."""
        for request in requests:
            floor = floor_for(request.question, self.floor, self.segment, self.floors)
            yield Item(request.id, by_floor(request, "relevance", floor, self.below, _MISSING))


_MISSING = "No passage that was found answers this question."

"""A floor under the retriever's score, and then one under the reranker's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragablate.gate.signals import by_floor, floor_for, floor_problems
from ragablate.protocols import GateRequest
from ragablate.records import Corpus, GateDecision, Item

_FAR = "No passage is near enough to this question to answer from."
_BESIDE = "Passages near this question were found, and none answers it."


class FloorThenRelevance:
    """Goes on where something was found, near enough, and relevant.

    Args:
        floor: Least score of the best candidate.
        relevance: Least score of the best of the first 20 of the ranking.
        segment: The slice whose values have floors of their own; empty for none.
        floors: By value of that slice, its floor under the retriever's score.
        below: What happens below the second floor: ``refuse``, ``clarify`` or ``broaden``;
            below the first it is always ``refuse``.
        calibrated_for: Fingerprints of the stages the floors were found with, as written by
            ``ragablate calibrate``; a plan with others is refused.
    """

    cheap = True
    decides_on = ("top", "relevance")

    def __init__(
        self,
        floor: float,
        relevance: float,
        segment: str = "",
        floors: Mapping[str, float] | None = None,
        below: str = "refuse",
        calibrated_for: Mapping[str, str] | None = None,
    ) -> None:
        self.floor = floor
        self.relevance = relevance
        self.segment = segment
        self.floors = floors or {}
        self.below = below
        self.calibrated_for = calibrated_for

    def problems(self) -> list[str]:
        """Floors that are no numbers, an outcome that does not exist."""
        floors = {
            "floor": self.floor,
            "relevance": self.relevance,
            **{f"floors.{k}": v for k, v in self.floors.items()},
        }
        return floor_problems(floors, self.segment, self.below, list(self.floors))

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        """One decision a question, with every number it could have been made on."""
        for request in requests:
            floor = floor_for(request.question, self.floor, self.segment, self.floors)
            found = by_floor(request, "top", floor, "refuse", _FAR)
            if found.outcome == "go":
                found = by_floor(request, "relevance", self.relevance, self.below, _BESIDE)
            yield Item(request.id, found)

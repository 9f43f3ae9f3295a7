"""Several signals weighed together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ragablate.gate.signals import OUTCOMES, SIGNALS, signals_of, unmeasured
from ragablate.protocols import GateRequest
from ragablate.records import Corpus, GateDecision, Item

_MISSING = "Taken together, what was found speaks against an answer from these passages."


class Combined:
    """Goes on where the logistic combination of signals reaches a threshold.

    The number is 1 / (1 + exp(-(intercept + sum of weight times signal))). A signal that a
    question does not have (nothing was found, or nothing to compare) makes it refused.

    Args:
        weights: By signal: ``top``, ``gap``, ``relevance``, ``agreement``.
        intercept: Added to their weighted sum.
        threshold: The least number that goes on, between 0 and 1.
        below: What happens below it: ``refuse``, ``clarify`` or ``broaden``.
        calibrated_for: Fingerprints of the stages the weights were found with; a plan with
            others is refused.
    """

    cheap = True

    def __init__(
        self,
        weights: Mapping[str, float],
        intercept: float = 0.0,
        threshold: float = 0.5,
        below: str = "refuse",
        calibrated_for: Mapping[str, str] | None = None,
    ) -> None:
        self.weights = weights
        self.intercept = intercept
        self.threshold = threshold
        self.below = below
        self.calibrated_for = calibrated_for

    @property
    def decides_on(self) -> tuple[str, ...]:
        """The signals that are weighed."""
        return tuple(sorted(self.weights))

    def problems(self) -> list[str]:
        """Signals that do not exist, numbers that are none."""
        unknown = sorted(set(self.weights) - set(SIGNALS))
        found = [
            f"weights names '{name}', which is no signal: use {', '.join(SIGNALS)}"
            for name in unknown
        ]
        if not self.weights:
            found.append("weights is empty: weigh at least one signal")
        numbers = {"intercept": self.intercept, "threshold": self.threshold, **self.weights}
        found += [
            f"{name} is {value!r}: give a finite number"
            for name, value in numbers.items()
            if not isinstance(value, int | float)
            or isinstance(value, bool)
            or not math.isfinite(value)
        ]
        if self.below not in OUTCOMES:
            found.append(f"below is {self.below!r}: give {', '.join(OUTCOMES)}")
        return found

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        """One decision a question, with the combined number beside its parts."""
        for request in requests:
            yield Item(request.id, self._decided(request))

    def _decided(self, request: GateRequest) -> GateDecision:
        found = signals_of(request)
        if any(name not in found for name in self.weights):
            return unmeasured(request, self.below, found)
        terms = (weight * found[name] for name, weight in sorted(self.weights.items()))
        combined = 0.5 * (1 + math.tanh((self.intercept + math.fsum(terms)) / 2))
        told = {**found, "combined": combined, "combined_floor": self.threshold}
        if combined < self.threshold:
            return GateDecision(self.below, _MISSING, told)  # type: ignore[arg-type]
        return GateDecision("go", "", told)

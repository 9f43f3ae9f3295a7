"""No gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import GateRequest
from ragablate.records import Corpus, GateDecision, Item


class NoGate:
    """Every question goes on to the reader, also with nothing retrieved."""

    cheap = True

    def decide(
        self, corpus: Corpus, requests: Sequence[GateRequest]
    ) -> Iterator[Item[GateDecision]]:
        """``go`` for each question."""
        for request in requests:
            yield Item(request.id, GateDecision("go"))

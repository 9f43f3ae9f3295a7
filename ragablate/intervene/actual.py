"""What a real pipeline shows: the assembled context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import InterveneRequest
from ragablate.records import Context, Item


class Actual:
    """The context as assembled, gold or not."""

    keeps_gate = True

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """Each context unchanged."""
        for request in requests:
            yield Item(request.id, request.context)

"""No passages at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import InterveneRequest
from ragablate.records import Context, Item


class ClosedBook:
    """An empty context: what the reader answers then, it knows by heart.

    Nothing is listed as evicted, because no assembler left it out.
    """

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """An empty context under the same budget for each question."""
        for request in requests:
            yield Item(request.id, Context(budget_tokens=request.context.budget_tokens))

"""A rewriter that searches for whatever the question's slices say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import RewriteRequest
from ragablate.records import Item, Searches


class Peeks:
    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        for request in requests:
            yield Item(request.id, Searches((str(dict(request.question.slices)),)))

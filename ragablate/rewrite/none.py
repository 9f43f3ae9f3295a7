"""Questions as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import RewriteRequest
from ragablate.records import Item, Searches


class NoRewriter:
    """The question's own text as its only search, whatever its history says.

    Asked to broaden, it has nothing broader to offer and repeats itself.
    """

    cheap = True
    broader = 0

    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        """One final search a question."""
        for request in requests:
            yield Item(request.id, Searches((request.question.text,)))

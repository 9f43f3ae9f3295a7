"""The evidence and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.gold import covered
from ragablate.intervene.evidence import choose, ranks
from ragablate.protocols import InterveneRequest
from ragablate.records import Context, ContextPassage, Item


class Oracle:
    """Gold only: what the reader answers then is its ceiling, whatever was retrieved.

    Each part of the gold is shown by one alternative, in the order of the parts, rendered
    as the assembler renders it and in full. An alternative that the context covers comes
    first, then one that was retrieved, then the first. Of gold that is only known to lie in
    a document, all passages in which a reference answer occurs are shown or, where it
    occurs in none, the whole document. A passage needed twice is shown once. The budget is
    not enforced, so that no evidence is cut. A question without evidence, be it
    unanswerable or an eval gap, gets an empty context.
    """

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """One gold-only context a question."""
        for request in requests:
            yield Item(request.id, _oracle(request))


def _oracle(request: InterveneRequest) -> Context:
    shown: list[ContextPassage] = []
    for part in request.gold.parts:
        choice = choose(part, request.context.passages, ranks(request))
        for gold in choice.whole:
            if not covered(gold, shown):
                shown.append(gold.passage)
    return Context(tuple(shown), budget_tokens=request.context.budget_tokens)

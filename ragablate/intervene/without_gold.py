"""The context without the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragablate.intervene.evidence import gold_passages, is_gold
from ragablate.protocols import InterveneRequest
from ragablate.records import Context, Item


class WithoutGold:
    """All gold taken out, nothing put in: what is still right did not need it.

    Out go the passages of every alternative of every part, also where they are cut short,
    and other passages that hold the same text. The space stays empty, and what was taken
    out is not listed as evicted, because no assembler left it out. A context without gold
    is unchanged.
    """

    def intervene(self, requests: Sequence[InterveneRequest]) -> Iterator[Item[Context]]:
        """One gold-free context a question."""
        for request in requests:
            golds = gold_passages(request.gold)
            shown = tuple(p for p in request.context.passages if not is_gold(p, golds))
            yield Item(request.id, replace(request.context, passages=shown))

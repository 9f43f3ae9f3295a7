"""A follow-up question searched together with what was said before, without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import RewriteRequest
from ragablate.records import Item, Searches
from ragablate.rewrite.wording import check


class LastTurnConcat:
    """One search a question: the last turns of its history, oldest first, and the question.

    A question without history is searched as it is. Asked to broaden, it takes all turns of
    its speakers.

    Args:
        turns: How many of the last turns are put in front.
        speakers: Whose turns count, such as ``[user]``; empty counts everybody's.
        separator: What joins them.
    """

    cheap = True
    broader = 1

    def __init__(
        self, turns: int = 1, speakers: Sequence[str] = ("user",), separator: str = " "
    ) -> None:
        self.turns = turns
        self.speakers = speakers
        self.separator = separator

    def problems(self) -> list[str]:
        """A number of turns without a meaning."""
        if isinstance(self.turns, int) and not isinstance(self.turns, bool) and self.turns >= 1:
            return []
        return [f"turns is {self.turns!r}: give a number from 1"]

    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        """One final search a question; raises AdapterError where a knob has no meaning."""
        check(self.problems())
        for request in requests:
            said = [
                turn.text.strip()
                for turn in request.question.history
                if turn.text.strip() and (not self.speakers or turn.speaker in self.speakers)
            ]
            kept = said if request.broaden else said[-self.turns :]
            text = self.separator.join((*kept, request.question.text))
            yield Item(request.id, Searches((text,)))

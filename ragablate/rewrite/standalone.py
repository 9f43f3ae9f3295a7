"""A follow-up question made one that can be understood alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import Reader, RewriteRequest
from ragablate.read.asking import ask
from ragablate.records import Item, Searches
from ragablate.rewrite.wording import check, first_line, prompt, searches, wording_problems


class Standalone:
    """One search a question: the full question a reader makes of it and its history.

    A question without history is searched as it is, and nobody is asked. Of the answer the
    first line that says something counts, without label and quotation marks. Asked to
    broaden, it searches the question as it was asked besides.

    Args:
        reader: Who rewrites.
        system: Its instruction.
        user: What it is given; ``{question}`` and ``{history}`` are filled in.
        turns: How many of the last turns of the history are shown; ``None`` shows all.
        keep_question: Whether the question as it was asked is searched too.
        fallback: Where the reader writes nothing, ``question`` searches the question as it was
            asked, ``fail`` is an outcome that scores 0.
        seed: Of the reader's decoding.
    """

    broader = 2

    def __init__(
        self,
        reader: Reader,
        system: str,
        user: str,
        turns: int | None = 6,
        keep_question: bool = False,
        fallback: str = "question",
        seed: int = 0,
    ) -> None:
        self.reader = reader
        self.system = system
        self.user = user
        self.turns = turns
        self.keep_question = keep_question
        self.fallback = fallback
        self.seed = seed

    @property
    def fuses(self) -> bool:
        """Whether a question may be searched several times."""
        return self.keep_question

    def problems(self) -> list[str]:
        """Wordings without their placeholders, knobs without a meaning."""
        found = wording_problems(self.system, self.user, ("question", "history"), self.fallback)
        if self.turns is not None and (not isinstance(self.turns, int) or self.turns < 1):
            found.append(f"turns is {self.turns!r}: give a number from 1, or null for all")
        return found

    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        """One final search a question; failures are the reader's.

        Raises:
            AdapterError: A knob has no meaning, or the reader cannot be asked.
        """
        check(self.problems())
        following = [r for r in requests if r.question.history]
        asked = {r.id: prompt(self.system, self.user, r, turns=self.turns) for r in following}
        answers = ask(self.reader, asked, self.seed)
        for request in requests:
            own = request.question.text
            if request.id in answers:
                also = (own,) if self.keep_question or request.broaden else ()
                answer = answers[request.id]
                yield searches(request, answer, first_line, self.fallback, also=also)
            else:
                yield Item(request.id, Searches((own,)))

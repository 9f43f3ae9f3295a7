"""Reading the first results and searching again for what they do not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import Reader, RewriteRequest
from ragablate.read.asking import ask
from ragablate.records import Failure, Item, Searches
from ragablate.rewrite.wording import check, first_line, fusion_problems, prompt, wording_problems


class Iterative:
    """The question first, then what a reader of the results would search next, bounded.

    Before every round but the first the reader is shown the best passages so far. It writes
    one search on a line, or the sentinel where nothing is missing; an empty answer counts as
    the sentinel, and so does one that declines. All searches of a question are fused.

    Args:
        reader: Who reads the results.
        system: Its instruction, which should name the sentinel.
        user: What it is given; ``{question}``, ``{passages}`` and, where wanted, ``{history}``
            are filled in.
        rounds: How often a question is searched at most, the first time included.
        shown: How many of the best passages the reader is shown.
        sentinel: What it writes where nothing is missing; case and punctuation around it do
            not matter.
        k: How much the fusion levels the top ranks: see ``rewriter=decompose``.
        seed: Of the reader's decoding.
    """

    fuses = True
    broader = 0

    def __init__(
        self,
        reader: Reader,
        system: str,
        user: str,
        rounds: int = 3,
        shown: int = 5,
        sentinel: str = "NOTHING",
        k: int = 0,
        seed: int = 0,
    ) -> None:
        self.reader = reader
        self.system = system
        self.user = user
        self.rounds = rounds
        self.shown = shown
        self.sentinel = sentinel
        self.k = k
        self.seed = seed

    def problems(self) -> list[str]:
        """Wordings without their placeholders, knobs without a meaning."""
        found = wording_problems(self.system, self.user, ("question", "passages"), "question")
        for name, least in (("rounds", 2), ("shown", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                found.append(f"{name} is {value!r}: give a number from {least}")
        return found + fusion_problems(self.k)

    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        """The question in the first round, else one more search or none; failures are the reader's.

        Raises:
            AdapterError: A knob has no meaning, or the reader cannot be asked.
        """
        check(self.problems())
        again = [r for r in requests if r.round]
        asked = {r.id: prompt(self.system, self.user, r, r.passages[: self.shown]) for r in again}
        answers = ask(self.reader, asked, self.seed)
        for request in requests:
            if request.id not in answers:
                yield Item(request.id, Searches((request.question.text,), False, self.k))
                continue
            answer = answers[request.id]
            if answer.value is None:
                failure = answer.failure or Failure("pipeline", "the reader gave no answer")
                message = f"rewriter.reader: {failure.message}"
                yield Item(request.id, None, Failure(failure.kind, message))
                continue
            wanted = () if answer.value.abstained else self._wanted(answer.value.text)
            final = not wanted or request.round + 1 >= self.rounds
            yield Item(request.id, Searches(wanted, final, self.k))

    def _wanted(self, text: str) -> tuple[str, ...]:
        found = first_line(text)
        done = not found or _bare(found[0]) == _bare(self.sentinel)
        return () if done else (found[0],)


def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())

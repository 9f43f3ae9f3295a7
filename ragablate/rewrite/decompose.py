"""A question of several parts searched part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import Reader, RewriteRequest
from ragablate.read.asking import ask
from ragablate.records import Item, Searches
from ragablate.rewrite.wording import (
    check,
    fusion_problems,
    lines,
    prompt,
    searches,
    wording_problems,
)


class Decompose:
    """One search a sub-question that a reader writes; the pipeline fuses them.

    Each line of the answer that says something is a sub-question, without number, bullet,
    label and quotation marks. Asked to broaden, it searches the question as it was asked too.

    Args:
        reader: Who takes the question apart.
        system: Its instruction.
        user: What it is given; ``{question}`` and, where wanted, ``{history}`` are filled in.
        most: Largest number of sub-questions; further ones are left out.
        keep_question: Whether the question as it was asked is searched too.
        k: How much the fusion levels the top ranks. At 60, as in the paper on fusion, passages
            that many searches find a little beat the best of each; sub-questions ask for
            different passages, so 0 keeps the best of each on top.
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
        most: int = 4,
        keep_question: bool = True,
        k: int = 0,
        fallback: str = "question",
        seed: int = 0,
    ) -> None:
        self.reader = reader
        self.system = system
        self.user = user
        self.most = most
        self.keep_question = keep_question
        self.k = k
        self.fallback = fallback
        self.seed = seed

    @property
    def fuses(self) -> bool:
        """Whether a question may be searched several times."""
        return self.keep_question or self.most > 1

    def problems(self) -> list[str]:
        """Wordings without their placeholders, knobs without a meaning."""
        found = wording_problems(self.system, self.user, ("question",), self.fallback)
        if not isinstance(self.most, int) or isinstance(self.most, bool) or self.most < 1:
            found.append(f"most is {self.most!r}: give a number of sub-questions from 1")
        found += fusion_problems(self.k)
        return found

    def rewrite(self, requests: Sequence[RewriteRequest]) -> Iterator[Item[Searches]]:
        """Final searches; failures are the reader's.

        Raises:
            AdapterError: A knob has no meaning, or the reader cannot be asked.
        """
        check(self.problems())
        asked = {r.id: prompt(self.system, self.user, r) for r in requests}
        answers = ask(self.reader, asked, self.seed)
        for request in requests:
            whole = (request.question.text,)
            also = whole if self.keep_question or request.broaden else ()
            answer = answers[request.id]
            yield searches(request, answer, self._parts, self.fallback, also, self.k)

    def _parts(self, text: str) -> list[str]:
        return list(dict.fromkeys(lines(text)))[: self.most]

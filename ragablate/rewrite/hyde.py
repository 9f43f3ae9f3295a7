"""Searching with a passage that might answer the question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.protocols import Reader, RewriteRequest
from ragablate.read.asking import ask
from ragablate.records import Item, Searches
from ragablate.rewrite.wording import check, prompt, searches, wording_problems


class Hyde:
    """Hypothetical document embeddings (Gao et al., 2023): what a reader writes is searched.

    The passage need not be true; it is to look like the passage that answers. Where the paper
    averages vectors, the pipeline fuses the rankings, so any retriever will do.

    Args:
        reader: Who writes the passage.
        system: Its instruction.
        user: What it is given; ``{question}`` and, where wanted, ``{history}`` are filled in.
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
        keep_question: bool = True,
        fallback: str = "question",
        seed: int = 0,
    ) -> None:
        self.reader = reader
        self.system = system
        self.user = user
        self.keep_question = keep_question
        self.fallback = fallback
        self.seed = seed

    @property
    def fuses(self) -> bool:
        """Whether a question may be searched several times."""
        return self.keep_question

    def problems(self) -> list[str]:
        """Wordings without their placeholders, an unknown fallback."""
        return wording_problems(self.system, self.user, ("question",), self.fallback)

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
            yield searches(request, answers[request.id], _passage, self.fallback, also=also)


def _passage(text: str) -> list[str]:
    """All of it on one line; nothing where it has no letter or digit."""
    passage = " ".join(text.split())
    return [passage] if any(char.isalnum() for char in passage) else []

"""Passages searched together with a sentence that a reader writes about each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragablate.chunk.contextual import prefaced
from ragablate.chunk.cutting import check
from ragablate.errors import AdapterError
from ragablate.protocols import Chunker, Reader
from ragablate.read.asking import ask
from ragablate.read.templates import Template
from ragablate.records import Answer, Context, ContextPassage, Document, Item, Passage, Question
from ragablate.text.tokens import WORDS, tokenizer_identity, tokenizer_problems, truncate

_PASSAGE = "<document {n}>\n{text}\n</document {n}>"


class ContextualWritten:
    """Another chunker's passages, each searched behind what a reader says it is about.

    The reader sees the beginning of the document and the passage. Where it writes nothing or
    its prompt does not fit, the passage is searched as it is. A reader that cannot be reached
    stops the run, because a corpus cannot be measured in part; what it wrote is kept.

    Args:
        chunker: Cuts the documents.
        reader: Who writes.
        system: Its instruction.
        user: What it is given; ``{passages}`` is the document and ``{question}`` the passage.
        document_tokens: How much of the document's beginning is shown.
        tokenizer: What a token is: see ``chunker=fixed``.
        seed: Of the reader's decoding.
    """

    def __init__(
        self,
        chunker: Chunker,
        reader: Reader,
        system: str,
        user: str,
        document_tokens: int = 1000,
        tokenizer: str = WORDS,
        seed: int = 0,
    ) -> None:
        self.chunker = chunker
        self.reader = reader
        self.system = system
        self.user = user
        self.document_tokens = document_tokens
        self.tokenizer = tokenizer
        self.seed = seed

    def problems(self) -> list[str]:
        """Wordings without their places, lengths without a meaning, the chunker's problems."""
        own = getattr(self.chunker, "problems", None)
        found = list(own()) if own else []
        found += [
            f"user has no {place}: put it where it belongs"
            for place in ("{passages}", "{question}")
            if place not in self.user
        ]
        if not isinstance(self.document_tokens, int) or self.document_tokens < 1:
            found.append(f"document_tokens is {self.document_tokens!r}: give a number from 1")
        return found + tokenizer_problems(self.tokenizer)

    def identity(self) -> dict[str, object]:
        """A tokenizer file by its digest."""
        return {"tokenizer": tokenizer_identity(self.tokenizer)}

    def chunk(self, documents: Sequence[Document]) -> Iterator[Passage]:
        """Cut documents, in order.

        Raises:
            AdapterError: A knob has no meaning, or the reader cannot be reached.
            BudgetError: The plan's budget allows no further call.
        """
        check(self.problems())
        cut = [(document, list(self.chunker.chunk([document]))) for document in documents]
        template = Template("", "", (("system", self.system), ("user", self.user)), _PASSAGE)
        prompts = {}
        for document, passages in cut:
            beginning = truncate(document.text, self.document_tokens, self.tokenizer)
            titled = f"{document.title}\n{beginning}" if document.title else beginning
            shown = Context((ContextPassage(document.doc_id, titled, beginning),))
            for passage in passages:
                about = Question(passage.pid, passage.text)
                prompts[passage.pid] = template.render(about, shown, "")
        answers = ask(self.reader, prompts, self.seed)
        _reached(answers.values())
        for _, passages in cut:
            for passage in passages:
                yield prefaced(passage, _sentence(answers[passage.pid]))


def _reached(answers: Iterable[Item[Answer]]) -> None:
    lost = [(a.id, a.failure.message) for a in answers
            if a.failure is not None and a.failure.kind == "infrastructure"]  # fmt: skip
    if lost:
        raise AdapterError(
            f"chunker.reader wrote nothing about {len(lost)} passages (first: {lost[0][0]}: "
            f"{lost[0][1]}); what it wrote is kept: run the same command again"
        )


def _sentence(answer: Item[Answer]) -> str:
    if answer.value is None or answer.value.abstained:
        return ""
    text = " ".join(answer.value.text.split())
    return text if any(char.isalnum() for char in text) else ""

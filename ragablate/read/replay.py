"""Answers that somebody else's system gave, from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragablate.errors import AdapterError
from ragablate.read.evidence import show
from ragablate.recorded import recorded_digest, recorded_problems, recorded_rows
from ragablate.records import Answer, Context, Failure, Item, Prompt, Question, ReadRequest

_WHERE = "reader.path"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One line of a file of answers."""

    qid: str
    """The question."""
    answer: str
    """Verbatim."""
    abstained: bool = False
    """Whether the system declined to answer."""
    replicate: int | None = None
    """Which decode it is, from 1; ``None`` stands for every decode."""
    prompt_pids: tuple[str, ...] | None = None
    """The passages the system saw, in order; ``None`` where that is not known."""
    model: str = ""
    """What answered."""


class ReplayReader:
    """The recorded answer to a question, whatever the context now says.

    It measures a system that cannot be called; it cannot tell what that system would have
    answered to another context. Where a line tells ``prompt_pids``, the answer is given
    only to a prompt with exactly these passages, so that an intervention on the context is
    unmeasured rather than without effect. Without them, only measures of these very answers
    mean anything. A question without an answer is unmeasured too.

    Args:
        path: JSONL of ``qid``, ``answer`` and, optionally, ``abstained``, ``replicate``,
            ``prompt_pids`` and ``model``.
    """

    recorded = True

    def __init__(self, path: str) -> None:
        self.path = path
        self._answers: dict[tuple[str, int | None], RecordedAnswer] | None = None

    def problems(self) -> list[str]:
        """A file that is not there."""
        return recorded_problems(self.path, _WHERE)

    def identity(self) -> dict[str, object]:
        """The file by its digest."""
        return {"path": recorded_digest(self.path)}

    def prompt(self, question: Question, context: Context) -> Prompt:
        """Passages and question, under the question's id, which the answer is found by."""
        return show(question, context, f"Recorded answer to {question.qid}.")

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """The recorded answers."""
        answers = self._load()
        for request in requests:
            qid, replicate = request.prompt.qid, request.replicate
            row = answers.get((qid, replicate)) or answers.get((qid, None))
            yield self._item(request, row)

    def _item(self, request: ReadRequest, row: RecordedAnswer | None) -> Item[Answer]:
        qid = request.prompt.qid
        if row is None:
            reason = f"{self.path} holds no recorded answer for question '{qid}'"
            return Item(request.id, None, Failure("infrastructure", reason))
        seen = tuple(dict.fromkeys(s.pid for s in request.prompt.segments if s.pid))
        if row.prompt_pids is not None and row.prompt_pids != seen:
            reason = f"the answer to question '{qid}' in {self.path} is to other passages"
            return Item(request.id, None, Failure("infrastructure", reason))
        return Item(request.id, Answer(row.answer, abstained=row.abstained, model=row.model))

    def _load(self) -> dict[tuple[str, int | None], RecordedAnswer]:
        if self._answers is not None:
            return self._answers
        answers: dict[tuple[str, int | None], RecordedAnswer] = {}
        for number, row in recorded_rows(self.path, RecordedAnswer, _WHERE):
            key = (row.qid, row.replicate)
            if key in answers:
                raise AdapterError(
                    f"{_WHERE}: {self.path}, line {number} answers question '{row.qid}' again"
                )
            answers[key] = row
        self._answers = answers
        return answers

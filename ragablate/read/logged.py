"""The answers of a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragablate.logs import Entry, read_log, read_problems
from ragablate.read.evidence import show
from ragablate.recorded import recorded_digest
from ragablate.records import Answer, Context, Failure, Item, Prompt, Question, ReadRequest


class Logged:
    """The logged answer, given only to exactly the passages it was an answer to.

    What the system would have said to another context it cannot tell: such a question is
    unmeasured, and so is one whose log does not say what was shown.

    Args:
        path: The log, as for ``dataset=traces``.
        format: How it is read.
        fields: By our name of a field, the field of the log's rows.
    """

    recorded = True

    def __init__(
        self,
        path: str,
        format: str = "auto",
        fields: Mapping[str, str | None] | None = None,
    ) -> None:
        self.path = path
        self.format = format
        self.fields = fields
        self._entries: dict[tuple[str, int], Entry] | None = None

    def problems(self) -> list[str]:
        """A file that is missing, a setting that does not exist."""
        return read_problems(self.path, self.format, self.fields or {}, "reader")

    def identity(self) -> dict[str, object]:
        """The log by its digest."""
        return {"path": recorded_digest(self.path)}

    def prompt(self, question: Question, context: Context) -> Prompt:
        """Passages and question, under the question's id, which the answer is found by."""
        return show(question, context, f"Logged answer to {question.qid}.")

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """The logged answers."""
        if self._entries is None:
            log = read_log(self.path, self.format, self.fields)
            self._entries = {(e.qid, e.replicate): e for e in log.entries}
        for request in requests:
            entry = self._entries.get((request.prompt.qid, request.replicate))
            reason = self._refusal(request, entry)
            if entry is None or entry.answer is None or reason:
                yield Item(request.id, None, Failure("infrastructure", reason))
            else:
                said = Answer(entry.answer, abstained=bool(entry.abstained), model=entry.model)
                yield Item(request.id, said)

    def _refusal(self, request: ReadRequest, entry: Entry | None) -> str:
        qid = request.prompt.qid
        if entry is None or entry.answer is None:
            return f"{self.path} holds no answer {request.replicate} to question '{qid}'"
        texts = [segment.text for segment in request.prompt.segments if segment.pid]
        own = show(Question(qid, request.prompt.question), Context(entry.context or ()), "")
        if entry.context is None or texts != [s.text for s in own.segments if s.pid]:
            return f"the answer to question '{qid}' in {self.path} is to other passages"
        return ""

"""The contexts of a log, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragablate.assemble import rendering
from ragablate.logs import Entry, read_log, read_problems
from ragablate.protocols import AssembleRequest
from ragablate.recorded import recorded_digest
from ragablate.records import Context, ContextPassage, Corpus, Failure, Item, Passage


class Logged:
    """The context the log says the reader saw, whatever was retrieved now.

    A question whose context the log does not hold in full is unmeasured.

    Args:
        path: The log, as for ``dataset=traces``.
        format: How it is read.
        fields: By our name of a field, the field of the log's rows.
    """

    def __init__(
        self,
        path: str,
        format: str = "auto",
        fields: Mapping[str, str | None] | None = None,
    ) -> None:
        self.path = path
        self.format = format
        self.fields = fields
        self._entries: dict[str, Entry] | None = None
        self._shown: dict[str, ContextPassage] = {}

    def problems(self) -> list[str]:
        """A file that is missing, a setting that does not exist."""
        return read_problems(self.path, self.format, self.fields or {}, "assembler")

    def identity(self) -> dict[str, object]:
        """The log by its digest."""
        return {"path": recorded_digest(self.path)}

    def render(self, passage: Passage) -> ContextPassage:
        """As the log shows the passage in full, where it does; else under its title."""
        self._load()
        shown = self._shown.get(passage.pid)
        if shown is not None and shown.body == passage.text:
            return shown
        return rendering.render(passage, True, (), "words")

    def assemble(
        self, corpus: Corpus, requests: Sequence[AssembleRequest]
    ) -> Iterator[Item[Context]]:
        """The logged context of each question."""
        entries = self._load()
        for request in requests:
            qid = request.question.qid
            entry = entries.get(qid)
            if entry is None or entry.context is None:
                reason = f"{self.path} does not hold the text of what question '{qid}' was shown"
                yield Item(request.id, None, Failure("infrastructure", reason))
            else:
                yield Item(request.id, Context(entry.context))

    def _load(self) -> dict[str, Entry]:
        if self._entries is None:
            entries: dict[str, Entry] = {}
            for entry in read_log(self.path, self.format, self.fields).entries:
                known = entries.get(entry.qid)
                if known is None or entry.replicate < known.replicate:
                    entries[entry.qid] = entry
                for passage in entry.context or ():
                    if not passage.truncated:
                        self._shown.setdefault(passage.pid, passage)
            self._entries = entries
        return self._entries

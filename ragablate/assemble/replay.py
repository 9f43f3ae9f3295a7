"""Contexts that were frozen earlier, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragablate.assemble import rendering
from ragablate.codec import encode
from ragablate.errors import AdapterError
from ragablate.protocols import AssembleRequest
from ragablate.recorded import recorded_digest, recorded_problems, recorded_rows
from ragablate.records import Context, ContextPassage, Corpus, Failure, Item, Passage
from ragablate.text.tokens import tokenizer_identity, tokenizer_problems


@dataclass(frozen=True, slots=True)
class FrozenContext:
    """One line of a file of frozen contexts."""

    qid: str
    """The question."""
    context: Context
    """What its reader saw."""


class Replay:
    """The context a file holds for the question, whatever was retrieved now.

    A question the file lacks is unmeasured, not an empty context.

    Args:
        path: JSONL of ``{"qid": …, "context": {…}}``, as ``write_frozen`` leaves it.
        tokenizer: What a token of a gold passage is, where the file does not hold it.
        show_title: Whether such a gold passage has its title above it.
        show_meta: Metadata keys printed above such a gold passage.
    """

    def __init__(
        self,
        path: str,
        tokenizer: str = "words",
        show_title: bool = True,
        show_meta: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.tokenizer = tokenizer
        self.show_title = show_title
        self.show_meta = show_meta
        self._frozen: dict[str, Context] | None = None
        self._shown: dict[str, ContextPassage] = {}

    def problems(self) -> list[str]:
        """A file or tokenizer that is not there."""
        return recorded_problems(self.path, "assembler.path") + tokenizer_problems(self.tokenizer)

    def identity(self) -> dict[str, object]:
        """The files by their digests."""
        return {
            "path": recorded_digest(self.path),
            "tokenizer": tokenizer_identity(self.tokenizer),
        }

    def render(self, passage: Passage) -> ContextPassage:
        """As the file shows the passage in full, where it does; else under its header."""
        self._load()
        shown = self._shown.get(passage.pid)
        if shown is not None and shown.body == passage.text:
            return shown
        return rendering.render(passage, self.show_title, self.show_meta, self.tokenizer)

    def assemble(
        self, corpus: Corpus, requests: Sequence[AssembleRequest]
    ) -> Iterator[Item[Context]]:
        """The frozen context of each question."""
        frozen = self._load()
        for request in requests:
            qid = request.question.qid
            if qid in frozen:
                yield Item(request.id, frozen[qid])
            else:
                reason = f"{self.path} holds no frozen context for question '{qid}'"
                yield Item(request.id, None, Failure("infrastructure", reason))

    def _load(self) -> dict[str, Context]:
        if self._frozen is not None:
            return self._frozen
        frozen: dict[str, Context] = {}
        for number, row in recorded_rows(self.path, FrozenContext, "assembler.path"):
            if row.qid in frozen:
                raise AdapterError(
                    f"assembler.path: {self.path}, line {number} repeats question '{row.qid}'"
                )
            frozen[row.qid] = row.context
            for passage in row.context.passages:
                if not passage.truncated:
                    self._shown.setdefault(passage.pid, passage)
        self._frozen = frozen
        return frozen


def write_frozen(path: Path, contexts: Mapping[str, Context]) -> None:
    """Freeze contexts: one line a question, sorted by qid, equal contexts as equal bytes."""
    lines = [encode(FrozenContext(qid, contexts[qid])) + b"\n" for qid in sorted(contexts)]
    path.write_bytes(b"".join(lines))

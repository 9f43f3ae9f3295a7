"""What is searched of a corpus, and holding a chunker to its documents.

Most passages are searched by their own text. One that has a preface is searched behind it, and
one that has pieces is searched piece by piece and ranks where its best piece does. Retrievers
know nothing of this: they are given a corpus of what is searched, and their rankings are turned
into rankings of passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ragablate.dataset.digests import corpus_digest
from ragablate.errors import AdapterError
from ragablate.protocols import Chunker
from ragablate.records import Corpus, Document, Hit, Item, Passage, Ranking, SearchedPassage
from ragablate.stages import Progress


@dataclass(frozen=True, slots=True)
class Searched:
    """What is searched of a corpus."""

    corpus: Corpus
    """What a retriever is given; the corpus itself where every passage is searched by its text."""
    owners: Mapping[str, str]
    """The passage of every piece by the piece's pid, ``<pid>#<number from 0>``."""

    def passages(self, item: Item[Ranking]) -> Item[Ranking]:
        """A retriever's ranking as one of passages, each at the score of its best piece."""
        if item.value is None or not self.owners:
            return item
        best: dict[str, float] = {}
        for hit in item.value:
            pid = self.owners.get(hit.pid, hit.pid)
            best[pid] = max(hit.score, best.get(pid, hit.score))
        ranked = sorted((Hit(p, s) for p, s in best.items()), key=lambda h: (-h.score, h.pid))
        return replace(item, value=tuple(ranked))


def searched(corpus: Corpus) -> Searched:
    """What is searched of a corpus."""
    if not any(isinstance(passage, SearchedPassage) for passage in corpus.passages):
        return Searched(corpus, {})
    texts: list[Passage] = []
    owners: dict[str, str] = {}
    for passage in corpus.passages:
        for piece in _pieces(passage):
            texts.append(piece)
            if piece.pid != passage.pid:
                owners[piece.pid] = passage.pid
    return Searched(Corpus(tuple(texts), corpus_digest(texts)), owners)


def _pieces(passage: Passage) -> Iterator[Passage]:
    if not isinstance(passage, SearchedPassage):
        yield passage
        return
    front = f"{passage.preface}\n\n" if passage.preface else ""
    for number, (start, end) in enumerate(passage.pieces or [(0, len(passage.text))]):
        pid = f"{passage.pid}#{number}" if passage.pieces else passage.pid
        text = front + passage.text[start:end]
        yield Passage(pid, text, passage.title, passage.doc_id, passage.start, passage.meta)


def cut(chunker: Chunker, documents: Sequence[Document], progress: Progress) -> tuple[Passage, ...]:
    """The passages a chunker cuts documents into, each held to its document.

    Raises:
        AdapterError: A pid comes twice, a passage is blank, belongs to no document or does not
            stand in it at its offset, letter for letter, or a piece lies outside its passage.
    """
    place = {document.doc_id: number for number, document in enumerate(documents)}
    found: dict[str, Passage] = {}
    reached = -1
    for passage in chunker.chunk(documents):
        number = place.get(passage.doc_id)
        wrong = "belongs to no document of the data set"
        if number is not None:
            wrong = _wrong(passage, documents[number].text, passage.pid in found)
        if wrong:
            raise AdapterError(
                f"chunker: the passage '{passage.pid}' of document '{passage.doc_id}' {wrong}; "
                "correct the chunker"
            )
        found[passage.pid] = passage
        if number is not None and number != reached:
            reached = number
            progress("chunk", reached + 1, len(documents))
    return tuple(found.values())


def _wrong(passage: Passage, text: str, twice: bool) -> str:
    """What is wrong with a passage of a document with this text; empty for nothing."""
    if twice:
        return "comes twice"
    if passage.start < 0 or not text.startswith(passage.text, passage.start):
        return f"does not stand at its offset {passage.start}, letter for letter"
    if isinstance(passage, SearchedPassage) and not all(
        0 <= start < end <= len(passage.text) for start, end in passage.pieces
    ):
        return "is searched by a piece outside its own text"
    return ""

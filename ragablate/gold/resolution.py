"""Gold as passages: what an intervention may supply or remove."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ragablate.gold.evidence import anchored, spot
from ragablate.gold.spans import Piece, by_quotes, by_span
from ragablate.records import (
    Alternative,
    ContextPassage,
    Corpus,
    Document,
    Gold,
    GoldPassage,
    Passage,
    ResolvedAlternative,
    ResolvedGold,
)


def resolve(
    gold: Gold,
    corpus: Corpus,
    documents: Mapping[str, Document],
    render: Callable[[Passage], ContextPassage],
    coverage: float = 1.0,
) -> ResolvedGold:
    """The passages of ``corpus`` that carry the gold of one question.

    * A pid is its passage. The evidence in it is the quotes, or the span, or the shortest
      reference answer that occurs in it; where none is given or occurs, the whole passage
      is needed.
    * A document is any one of its passages.
    * A span or quotes in a document are the passages that cover them: each passage that
      does so alone is an alternative; where none does, the fewest that do so together are
      one alternative that needs them all.
    * A text of its own is the passage with exactly that text, or else a passage outside
      the corpus with the pid ``gold:<qid>:<part>``, parts counted from 0.

    A span or quotes of a known document that no passages cover are the stretch itself, outside
    the corpus: the evidence exists, and the chunker left it out. They count only where a part
    has no other alternative.

    An alternative that cannot be resolved is dropped. A part that has none left makes the
    question an eval gap: no part is resolved then. So is no part of an unanswerable
    question, which has no evidence to supply.

    Args:
        gold: What a correct answer needs.
        corpus: What is searched, after chunking.
        documents: By doc_id, what passages were cut from; empty where the source ships
            passages, and offsets then are those of ``Passage.start``.
        render: The control's assembler, showing one passage in full.
        coverage: Share of a span's characters (white space apart) that passages must hold
            for it to count as covered, in (0, 1].
    """
    if not gold.answerable:
        return ResolvedGold(gold.qid, (), False)
    view = _View(gold, corpus, documents, render, coverage)
    parts = []
    for number, part in enumerate(gold.parts):
        found = [r for a in part.alternatives for r in view.resolved(a, number)]
        found = found or [r for a in part.alternatives for r in view.left_out(a, number)]
        parts.append(tuple(dict.fromkeys(found)))
    return ResolvedGold(gold.qid, tuple(parts) if all(parts) else (), True)


@dataclass(frozen=True, slots=True)
class _View:
    """One question's gold against one corpus."""

    gold: Gold
    corpus: Corpus
    documents: Mapping[str, Document]
    render: Callable[[Passage], ContextPassage]
    coverage: float

    def resolved(self, alternative: Alternative, part: int) -> Iterable[ResolvedAlternative]:
        if alternative.pid:
            passage = self.corpus.by_pid.get(alternative.pid)
            return self._one(alternative, passage) if passage else ()
        if alternative.doc_id:
            return self._document(alternative)
        return self._own(alternative, part)

    def _one(
        self, alternative: Alternative, passage: Passage, indexed: bool = True
    ) -> Iterable[ResolvedAlternative]:
        stretches = _stretches(alternative, passage.text)
        if stretches is None or not passage.text.strip():
            return ()
        if not stretches:
            return (ResolvedAlternative((self._shown(passage, indexed),)),)
        pieces = tuple(anchored(passage.text, start, end) for start, end in stretches)
        return (ResolvedAlternative((self._gold(passage, pieces, indexed),)),)

    def _own(self, alternative: Alternative, part: int) -> Iterable[ResolvedAlternative]:
        if not alternative.text.strip():
            return ()
        twin = _by_text(self.corpus).get(alternative.text)
        if twin is not None:
            return self._one(alternative, twin)
        pid = f"gold:{self.gold.qid}:{part}"
        return self._one(alternative, Passage(pid, alternative.text, doc_id=pid), indexed=False)

    def _document(self, alternative: Alternative) -> Iterable[ResolvedAlternative]:
        passages = _by_document(self.corpus).get(alternative.doc_id, ())
        document = self.documents.get(alternative.doc_id)
        text = document.text if document is not None else None
        covers: Iterable[tuple[Piece, ...]]
        if alternative.quotes:
            covers = by_quotes(passages, text, alternative.quotes, self.coverage)
        elif alternative.start is not None and alternative.end is not None:
            span = (alternative.start, alternative.end)
            covers = by_span(passages, text, span, self.coverage)
        else:
            shown = tuple(self._shown(passage) for passage in passages)
            return (ResolvedAlternative(shown, any_of=True),) if shown else ()
        return tuple(
            ResolvedAlternative(tuple(self._gold(piece.passage, piece.texts) for piece in cover))
            for cover in covers
        )

    def left_out(self, alternative: Alternative, part: int) -> Iterable[ResolvedAlternative]:
        """What a chunker left out of a document: quotes or a span that no passages cover."""
        document = self.documents.get(alternative.doc_id)
        stretches = _stretches(alternative, document.text) if document is not None else None
        if document is None or not stretches:
            return ()
        text = " ".join(document.text[start:end].strip() for start, end in stretches)
        pid = f"gold:{self.gold.qid}:{part}"
        passage = Passage(pid, text, document.title, document.doc_id, meta=document.meta)
        return (ResolvedAlternative((self._gold(passage, (), indexed=False),)),)

    def _shown(self, passage: Passage, indexed: bool = True) -> GoldPassage:
        """A passage whose evidence nobody marked: a reference answer, or all of it."""
        place = spot(passage.text, self.gold.answers)
        pieces = (anchored(passage.text, *place),) if place else ()
        return self._gold(passage, pieces, indexed)

    def _gold(self, passage: Passage, pieces: tuple[str, ...], indexed: bool = True) -> GoldPassage:
        shown = self.render(passage)
        # An assembler that rewrites text (white space, say) may have no such piece to show.
        verbatim = all(piece in shown.body for piece in pieces)
        # Evidence that was cleaned out is in no context.
        return GoldPassage(shown, pieces if verbatim or shown.removed else (), indexed)


def _stretches(alternative: Alternative, text: str) -> list[tuple[int, int]] | None:
    """Where quotes or else the span stand; empty without either, ``None`` if they do not fit."""
    if alternative.quotes:
        places = [(text.find(quote), quote) for quote in alternative.quotes]
        if any(at < 0 or not quote.strip() for at, quote in places):
            return None
        return [(at, at + len(quote)) for at, quote in places]
    if alternative.start is None or alternative.end is None:
        return []
    if not text[alternative.start : alternative.end].strip() or alternative.end > len(text):
        return None
    return [(alternative.start, alternative.end)]


@lru_cache(maxsize=4)
def _by_text(corpus: Corpus) -> Mapping[str, Passage]:
    """Passages by text; of equal ones that with the smallest pid."""
    ordered = sorted(corpus.passages, key=lambda passage: passage.pid, reverse=True)
    return {passage.text: passage for passage in ordered}


@lru_cache(maxsize=4)
def _by_document(corpus: Corpus) -> Mapping[str, tuple[Passage, ...]]:
    """Passages that have text by doc_id, in the order of the document."""
    found: dict[str, list[Passage]] = {}
    for passage in corpus.passages:
        if passage.text.strip():
            found.setdefault(passage.doc_id or passage.pid, []).append(passage)
    return {
        name: tuple(sorted(passages, key=lambda p: (p.start, p.pid)))
        for name, passages in found.items()
    }

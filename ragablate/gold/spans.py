"""Spans and quotes of a document as the passages that cover them.

A *cover* is a set of passages of which none is superfluous, in document order. Where one
passage covers the evidence alone, only such passages are covers; overlapping passages
can give several covers, and the first is the one of fewest passages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, product

from ragablate.gold.evidence import anchored
from ragablate.records import Passage

_LIMIT = 64
"""Covers tried per span, so that heavily overlapping passages cannot explode."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage and what of the evidence stands in it."""

    passage: Passage
    """One passage of a cover."""
    texts: tuple[str, ...]
    """Verbatim, as ``anchored`` gives them."""


Cover = tuple[Piece, ...]


def by_span(
    passages: Sequence[Passage], text: str | None, span: tuple[int, int], coverage: float
) -> tuple[Cover, ...]:
    """Covers of the characters from ``span[0]`` up to ``span[1]`` of a document.

    Args:
        passages: Of this document, by start.
        text: The document; ``None`` where only its passages are known. A passage that does
            not stand in it at its offset is not used.
        span: In characters of the document.
        coverage: Share of the span's characters, white space apart, that a cover holds at
            least. A character in no passage counts as missing, unless ``text`` shows that
            it is white space.
    """
    if not 0.0 < coverage <= 1.0:
        raise ValueError(f"coverage is {coverage}. Set it above 0 and at most 1.")
    view = _Span.of(passages, text, *span)
    if view is None or not view.total:
        return ()
    needed = coverage * view.total - _ROUNDING
    alone = [cut for cut in view.cuts if view.weight([cut]) >= needed]
    if alone:
        return tuple((_piece(cut),) for cut in alone)
    chains = islice(_chains(view.cuts, span[0], span[1]), _LIMIT)
    enough = [chain for chain in chains if view.weight(chain) >= needed]
    return _smallest(tuple(map(_piece, view.pruned(chain, needed))) for chain in enough)


def by_quotes(
    passages: Sequence[Passage], text: str | None, quotes: Sequence[str], coverage: float
) -> tuple[Cover, ...]:
    """Covers of all ``quotes``; none where a quote does not occur in the document."""
    options = [_by_quote(passages, text, quote, coverage) for quote in quotes]
    return _smallest(_merged(chosen) for chosen in islice(product(*options), _LIMIT))


def _by_quote(
    passages: Sequence[Passage], text: str | None, quote: str, coverage: float
) -> tuple[Cover, ...]:
    if not quote.strip():
        return ()
    whole = [(p, p.text.find(quote)) for p in passages if quote in p.text]
    if whole:
        return tuple((Piece(p, (anchored(p.text, at, at + len(quote)),)),) for p, at in whole)
    stretches = [(0, text)] if text is not None else _stitched(passages)
    spans = [
        (offset + at, offset + at + len(quote))
        for offset, stretch in stretches
        if (at := stretch.find(quote)) >= 0
    ]
    return tuple(c for span in spans for c in by_span(passages, text, span, coverage))


def _stitched(passages: Sequence[Passage]) -> list[tuple[int, str]]:
    """Stretches of a document from passages that touch or overlap, with their offsets."""
    stretches: list[tuple[int, str]] = []
    for passage in passages:
        offset, text = stretches[-1] if stretches else (0, "")
        shared = offset + len(text) - passage.start
        tail = text[passage.start - offset :] if shared > 0 else ""
        overlap = passage.text[: max(shared, 0)]
        if stretches and shared >= 0 and tail.startswith(overlap):
            stretches[-1] = (offset, text + passage.text[shared:])
        else:
            stretches.append((passage.start, passage.text))
    return stretches


@dataclass(frozen=True, slots=True)
class _Cut:
    """What one passage has of a span, in characters of the document."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        offset = self.passage.start
        return self.passage.text[self.start - offset : self.end - offset]


@dataclass(frozen=True, slots=True)
class _Span:
    """A span, what its passages have of it, and how much its characters weigh."""

    start: int
    cuts: tuple[_Cut, ...]
    weights: tuple[int, ...]
    """Running count of characters that are not white space."""

    @classmethod
    def of(
        cls, passages: Sequence[Passage], text: str | None, start: int, end: int
    ) -> _Span | None:
        """``None`` where the span does not lie within the document, or where overlapping
        passages disagree about its text, so that their offsets say nothing.
        """
        last = max((p.start + len(p.text) for p in passages), default=0)
        if not 0 <= start < end <= (last if text is None else len(text)):
            return None
        cuts = [
            _Cut(p, max(start, p.start), min(end, p.start + len(p.text)))
            for p in passages
            if p.start < end
            and p.start + len(p.text) > start
            and (text is None or text.startswith(p.text, p.start))
        ]
        shown = text[start:end] if text is not None else _overlaid(cuts, start, end)
        if not all(shown.startswith(cut.text, cut.start - start) for cut in cuts):
            return None
        weights = (0, *accumulate(0 if char.isspace() else 1 for char in shown))
        filled = tuple(c for c in cuts if weights[c.end - start] > weights[c.start - start])
        return cls(start, filled, weights)

    @property
    def total(self) -> int:
        return self.weights[-1]

    def weight(self, cuts: Iterable[_Cut]) -> int:
        """Characters that are not white space in any of ``cuts``, which are by start."""
        weight, done = 0, self.start
        for cut in cuts:
            begin = max(cut.start, done)
            if cut.end > begin:
                weight += self.weights[cut.end - self.start] - self.weights[begin - self.start]
                done = cut.end
        return weight

    def pruned(self, cuts: Sequence[_Cut], needed: float) -> tuple[_Cut, ...]:
        """``cuts`` without those that are not needed, the lightest tried first."""
        kept = list(cuts)
        for cut in sorted(cuts, key=lambda c: (self.weight([c]), c.start, c.passage.pid)):
            rest = [c for c in kept if c is not cut]
            if rest and self.weight(rest) >= needed:
                kept = rest
        return tuple(kept)


def _overlaid(cuts: Sequence[_Cut], start: int, end: int) -> str:
    """The span's text as its passages have it, with NUL where none does."""
    stretches: list[str] = []
    done = start
    for cut in cuts:
        stretches.append("\0" * max(cut.start - done, 0))
        stretches.append(cut.text[max(done - cut.start, 0) :])
        done = max(done, cut.end)
    return "".join([*stretches, "\0" * (end - done)])


def _chains(cuts: Sequence[_Cut], start: int, end: int) -> Iterator[tuple[_Cut, ...]]:
    """Ways to walk from ``start`` to ``end`` through ``cuts``, longest steps first."""
    open_ends: list[tuple[int, tuple[_Cut, ...]]] = [(start, ())]
    while open_ends:
        at, chain = open_ends.pop()
        if at >= end:
            yield chain
            continue
        reach = [cut for cut in cuts if cut.start <= at < cut.end]
        # The last one is walked first: the longest, and of equals that with the smallest pid.
        steps = sorted(reach, key=lambda cut: cut.passage.pid, reverse=True)
        steps.sort(key=lambda cut: cut.end)
        open_ends.extend((cut.end, (*chain, cut)) for cut in steps)
        if not reach:
            gap_end = min((cut.start for cut in cuts if cut.start > at), default=end)
            open_ends.append((gap_end, chain))


def _piece(cut: _Cut) -> Piece:
    offset = cut.passage.start
    return Piece(cut.passage, (anchored(cut.passage.text, cut.start - offset, cut.end - offset),))


def _merged(covers: Iterable[Cover]) -> Cover:
    """One cover of what several covers cover, in document order."""
    passages: dict[str, Passage] = {}
    texts: dict[str, dict[str, None]] = {}
    for piece in (piece for cover in covers for piece in cover):
        passages[piece.passage.pid] = piece.passage
        texts.setdefault(piece.passage.pid, {}).update(dict.fromkeys(piece.texts))
    order = sorted(passages.values(), key=lambda passage: (passage.start, passage.pid))
    return tuple(Piece(passage, tuple(texts[passage.pid])) for passage in order)


def _smallest(covers: Iterable[Cover]) -> tuple[Cover, ...]:
    """Covers of which no passage is superfluous, of fewest passages first."""
    kept: dict[frozenset[str], Cover] = {}
    for cover in sorted(covers, key=len):
        pids = frozenset(piece.passage.pid for piece in cover)
        if not any(other <= pids for other in kept):
            kept[pids] = cover
    return tuple(kept.values())

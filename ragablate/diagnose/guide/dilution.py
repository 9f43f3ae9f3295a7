"""F2: the answer is one sentence among many of a long passage."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragablate.dataset.digests import corpus_digest
from ragablate.diagnose.guide.case import Case, Embed, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import UNFOUND
from ragablate.diagnose.guide.finding import Evidence
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Passage, Question
from ragablate.retrieve.bm25 import BM25
from ragablate.text.sentences import sentences

_FAR = 1000
"""Ranks further down are not told apart."""


@dataclass(frozen=True, slots=True)
class _Long:
    """A gold passage that the search of a case did not bring, with its sentences."""

    case: Case
    pid: str
    text: str
    sentences: tuple[str, ...]


def diluted(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Gold passages that were not found and one sentence of which is far closer to the search."""
    long = [one for case in cases if case.label in UNFOUND for one in _long(case, known, cuts)]
    if not long:
        return
    if known.embed is not None:
        yield from _by_embeddings(long, known.embed, known.embedder, cuts)
    else:
        yield from _by_words(long, known, cuts)


def _long(case: Case, known: Known, cuts: Cuts) -> Iterator[_Long]:
    ranked = frozenset(case.ranked)
    for pid in sorted(case.gold - ranked):
        text = known.text(pid)
        pieces = tuple(text[start:end] for start, end in sentences(text))
        if len(pieces) >= cuts.dilution_sentences:
            yield _Long(case, pid, text, pieces)


def _by_embeddings(
    long: Sequence[_Long], embed: Embed, name: str, cuts: Cuts
) -> Iterator[Evidence]:
    for one in long:
        query = embed("query", [one.case.sent[0]])[0]
        whole, *pieces = embed("document", [one.text, *one.sentences])
        near = [_cosine(query, piece) for piece in pieces]
        best = max(range(len(near)), key=near.__getitem__)
        own = _cosine(query, whole)
        if near[best] - own >= cuts.dilution_gap:
            says = (f"the search is {near[best]:.2f} similar to one sentence of {one.pid} and "
                    f"{own:.2f} to the whole of it, by {name}")  # fmt: skip
            yield _evidence(one, says, best, {"sentence": near[best], "passage": own})


def _by_words(long: Sequence[_Long], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Sentences are searched among the passages as if each had been indexed alone."""
    pieces = {
        f"{one.pid}\n{n}": Passage(f"{one.pid}\n{n}", text)
        for one in long
        for n, text in enumerate(one.sentences)
    }
    whole = {one.pid: Passage(one.pid, one.text) for one in long}
    others = [Passage(p.pid, p.text) for p in known.corpus.passages if p.pid not in whole]
    passages = (*others, *whole.values(), *pieces.values())
    corpus = Corpus(passages, corpus_digest(passages))
    bm25 = BM25(variant="lucene", fields=("text",), depth=_FAR + len(pieces), pool=True)
    for one in long:
        text = one.case.sent[0]
        own = (one.pid, *(f"{one.pid}\n{n}" for n in range(len(one.sentences))))
        asks = [
            SearchRequest("own", text, Question("own", text, pool=own)),
            SearchRequest("all", text, Question("all", text)),
        ]
        alone, among = ({h.pid: h.score for h in item.value or ()}
                        for item in bm25.retrieve(corpus, asks))  # fmt: skip
        near = [alone.get(pid, 0.0) for pid in own[1:]]
        best = max(range(len(near)), key=near.__getitem__)
        score = alone.get(one.pid, 0.0)
        rivals = [s for pid, s in among.items() if pid not in pieces and pid != one.pid]
        place = 1 + sum(s > near[best] for s in rivals)
        if 0 < near[best] >= cuts.dilution_ratio * score and place <= cuts.depth:
            was = 1 + sum(s > score for s in rivals)
            rank = f"{was}" if one.pid in among else f"beyond {_FAR:,}"
            says = (f"one sentence of {one.pid} scores {near[best]:.2f} and the whole of it "
                    f"{score:.2f}; alone it would rank {place}, the passage ranks {rank} among "
                    f"{known.place}, by BM25")  # fmt: skip
            yield _evidence(one, says, best, {"sentence": near[best], "passage": score})


def _evidence(one: _Long, says: str, best: int, scores: dict[str, float]) -> Evidence:
    return Evidence((one.case.qid,), says, (one.pid,), scores, (one.sentences[best],))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    lengths = math.hypot(*one) * math.hypot(*other)
    return dot / lengths if lengths else 0.0

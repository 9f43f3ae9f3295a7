"""BM25, the lexical ranking function of Robertson and Zaragoza (2009), in two variants."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from ragablate import codec
from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Question, Ranking
from ragablate.retrieve.analyze import Analyzer, TextAnalyzer
from ragablate.retrieve.kept import Kept
from ragablate.retrieve.restrict import depth_problems, restriction

if TYPE_CHECKING:
    from ragablate.retrieve.bm25_index import Mask, TermIndex

_FIELDS = ("title", "text")
_MASKS = 64


class BM25:
    """A retriever that ranks passages by the terms they share with the search.

    A passage is returned if it holds a term of the search, also where its score is 0 or
    negative, as ``okapi`` gives for terms of half of the passages and in collections of one
    or two. A term that is repeated in the search counts as often. A search without a known
    term gives an empty ranking, unless ``fill`` is set. Term statistics are those of the
    whole corpus, whatever pool and filter leave of it.

    Args:
        variant: ``okapi`` scores as ``rank_bm25.BM25Okapi``, ``lucene`` as Lucene's
            ``BM25Similarity`` without its rounding of lengths.
        engine: ``sparse`` scores from postings; ``rank_bm25`` runs the library, far slower
            and for ``okapi`` only. Both give the same scores.
        k1: How much repetitions in a passage count, at least 0.
        b: How much long passages are held back, from 0 to 1.
        epsilon: ``okapi``: weight of terms in more than half of the passages, as a share of
            the mean weight. ``lucene`` does without.
        fields: What of a passage is searched, joined into one text: ``title``, ``text``.
        analyzer: What turns text into terms; ``None`` is ``Analyzer()``.
        depth: How many passages a ranking holds at most.
        fill: Whether passages without a term of the search are ranked too, with a score of 0.
            They come by pid and so say nothing; libraries that rank every passage (bm25s,
            rank_bm25) do alike, and figures published with them count what is met by chance.
        pool: Whether a question's pool restricts what is ranked.
        apply_filter: Whether a question's metadata filter restricts what is ranked.
    """

    def __init__(  # noqa: PLR0913
        self,
        variant: Literal["okapi", "lucene"] = "okapi",
        engine: Literal["sparse", "rank_bm25"] = "sparse",
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
        fields: Sequence[str] = _FIELDS,
        analyzer: TextAnalyzer | None = None,
        depth: int = 100,
        fill: bool = False,
        pool: bool = False,
        apply_filter: bool = False,
    ) -> None:
        self.variant = variant
        self.engine = engine
        self.k1 = k1
        self.b = b
        self.epsilon = epsilon
        self.fields = fields
        self.analyzer = analyzer
        self.depth = depth
        self.fill = fill
        self.pool = pool
        self.apply_filter = apply_filter
        self._indexes: Kept[_Indexed] = Kept()
        self._default = Analyzer()

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Rank the passages that share a term with each search.

        Raises:
            AdapterError: A knob has no meaning, or a pool names an unknown passage.
        """
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        indexed = self._indexes.get(corpus, self._build)
        for request in requests:
            tokens = self._terms(request.text)
            mask = indexed.mask(request.question, self.pool, self.apply_filter)
            yield Item(request.id, indexed.rank(tokens, mask, self.depth, self.fill))

    def problems(self) -> list[str]:
        """What would stop it from running: knobs without a meaning."""
        found = [
            f"{name} is {getattr(self, name)!r}: give {wanted}"
            for name, good, wanted in (
                ("variant", self.variant in ("okapi", "lucene"), "okapi or lucene"),
                ("engine", self.engine in ("sparse", "rank_bm25"), "sparse or rank_bm25"),
                ("k1", _between(self.k1, 0, math.inf), "a number of at least 0"),
                ("b", _between(self.b, 0, 1), "a number from 0 to 1"),
                ("epsilon", _between(self.epsilon, 0, math.inf), "a number of at least 0"),
                ("fields", _are_fields(self.fields), "a list of title, text or both"),
            )
            if not good
        ]
        found += depth_problems(self.depth)
        if self.engine == "rank_bm25" and (self.variant != "okapi" or self.k1 == 0):
            found.append(
                "engine=rank_bm25 has only variant=okapi with k1 above 0: give engine=sparse"
            )
        nested = getattr(self._analyzer, "problems", None)
        return found + (nested() if nested else [])

    def identity(self) -> dict[str, object]:
        """The version of the library, where it is the engine."""
        if self.engine != "rank_bm25":
            return {}
        return {"engine": f"rank_bm25 {version('rank-bm25')}"}

    @property
    def _analyzer(self) -> TextAnalyzer:
        return self._default if self.analyzer is None else self.analyzer

    def _build(self, corpus: Corpus) -> _Indexed:
        passages = sorted(corpus.passages, key=lambda passage: passage.pid)
        tokens = (self._terms(self._searched(passage)) for passage in passages)
        index: TermIndex
        if self.engine == "rank_bm25":
            from ragablate.retrieve.bm25_library import LibraryIndex

            index = LibraryIndex(list(tokens), self.k1, self.b, self.epsilon)
        else:
            from ragablate.retrieve.bm25_index import SparseIndex

            index = SparseIndex.build(tokens, self.variant, self.k1, self.b, self.epsilon)
        return _Indexed(corpus, passages, index)

    def _terms(self, text: str) -> Sequence[str]:
        terms = self._analyzer.terms(text)
        if isinstance(terms, str):
            raise AdapterError(
                f"analyzer {type(self._analyzer).__name__} returned a string, whose terms would "
                "be its characters: return a list of terms"
            )
        return terms

    def _searched(self, passage: Passage) -> str:
        parts = (passage.title if field == "title" else passage.text for field in self.fields)
        # A line break, so that no bigram spans two fields.
        return "\n".join(part for part in parts if part)


class _Indexed:
    """A corpus with its index; rows are passages by ascending pid."""

    def __init__(self, corpus: Corpus, passages: Sequence[Passage], index: TermIndex) -> None:
        self.corpus = corpus
        self.passages = passages
        self.index = index
        self._masks: dict[bytes, Mask] = {}

    def rank(
        self, tokens: Sequence[str], mask: Mask | None, depth: int, fill: bool = False
    ) -> Ranking:
        from ragablate.retrieve.bm25_index import every, top

        rows, scores = self.index.scores(tokens)
        if fill:
            rows, scores = every(rows, scores, len(self.passages))
        if mask is not None:
            rows, scores = rows[mask[rows]], scores[mask[rows]]
        best = top(rows, scores, depth)
        return tuple(
            Hit(self.passages[row].pid, score)
            for row, score in zip(best[0].tolist(), best[1].tolist(), strict=True)
        )

    def mask(self, question: Question, pool: bool, apply_filter: bool) -> Mask | None:
        """Rows that may be ranked, kept by what the question asks; ``None`` for all."""
        import numpy as np

        passes = restriction(self.corpus, question, pool, apply_filter)
        if passes is None:
            return None
        key = codec.encode((question.pool if pool else None, question.filter))
        if key not in self._masks:
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            self._masks[key] = np.fromiter(map(passes, self.passages), dtype=np.bool_)
        return self._masks[key]


def _between(value: float, low: float, high: float) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and low <= value <= high


def _are_fields(fields: Sequence[str]) -> bool:
    return not isinstance(fields, str) and bool(fields) and set(fields) <= set(_FIELDS)

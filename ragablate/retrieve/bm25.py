"""BM25, the lexical ranking function of Robertson and Zaragoza (2009), in two variants."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Ranking
from ragablate.retrieve.analyze import Analyzer, TextAnalyzer
from ragablate.retrieve.filters import Passing, Passings, Rules
from ragablate.retrieve.kept import Kept
from ragablate.retrieve.restrict import depth_problems

if TYPE_CHECKING:
    from ragablate.retrieve.bm25_index import Floats, Rows, SparseIndex, TermIndex

_FIELDS = ("title", "text")
_PARTS = 8


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
        field_weights: A weight above 0 by field, which scores title and text apart (BM25F, see
            ``SparseIndex.of_fields``) in place of ``fields``; ``None`` joins them.
        analyzer: What turns text into terms; ``None`` is ``Analyzer()``.
        depth: How many passages a ranking holds at most.
        fill: Whether passages without a term of the search are ranked too, with a score of 0.
            They come by pid and so say nothing; libraries that rank every passage (bm25s,
            rank_bm25) do alike, and figures published with them count what is met by chance.
        pool: Whether a question's pool restricts what is ranked.
        apply_filter: Whether a question's metadata filter restricts what is ranked.
        filters: What may be found whatever is asked: ``where``, ``day``, ``begins``, ``ends``.
        filter_mode: ``pre``, ``in``, ``post`` or ``by_pass_rate``, see ``filters.Rules``.
        pass_rates: Thresholds of ``by_pass_rate``: ``pre`` and ``in``.
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
        filters: Mapping[str, Any] | None = None,
        filter_mode: str = "pre",
        pass_rates: Mapping[str, float] | None = None,
        field_weights: Mapping[str, float] | None = None,
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
        self.filters = filters
        self.filter_mode = filter_mode
        self.pass_rates = pass_rates
        self.field_weights = field_weights
        self._indexes: Kept[_Indexed] = Kept()
        self._default = Analyzer()

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Rank the passages that share a term with each search.

        Raises:
            AdapterError: A knob has no meaning, or a question's pool or day has none.
        """
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        indexed = self._indexes.get(corpus, self._build)
        rules = self._rules()
        for request in requests:
            tokens = self._terms(request.text)
            key, passing = indexed.passings.get(rules, corpus, indexed.passages, request.question)
            ranking = indexed.rank(tokens, key, passing, self.depth, self.fill)
            yield passing.item(request.id, ranking)

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
        found += depth_problems(self.depth) + self._rules().problems()
        if self.engine == "rank_bm25" and (self.variant != "okapi" or self.k1 == 0):
            found.append(
                "engine=rank_bm25 has only variant=okapi with k1 above 0: give engine=sparse"
            )
        for name, weight in (self.field_weights or {}).items():
            if name not in _FIELDS or not _between(weight, 0, math.inf) or not weight:
                found.append(
                    f"field_weights.{name} is {weight!r}: give title, text or both a number above 0"
                )
        if self.field_weights and self.engine == "rank_bm25":
            found.append("engine=rank_bm25 has no field_weights: give engine=sparse")
        nested = getattr(self._analyzer, "problems", None)
        return found + (nested() if nested else [])

    def identity(self) -> dict[str, object]:
        """The version of the library, where it is the engine."""
        if self.engine != "rank_bm25":
            return {}
        return {"engine": f"rank_bm25 {version('rank-bm25')}"}

    def _rules(self) -> Rules:
        return Rules(self.pool, self.apply_filter, self.filters, self.filter_mode, self.pass_rates)

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

            knobs = (self.variant, self.k1, self.b, self.epsilon)
            if self.field_weights:
                index = SparseIndex.of_fields(
                    [
                        (weight, [self._terms(getattr(p, field)) for p in passages])
                        for field, weight in sorted(self.field_weights.items())
                    ],
                    *knobs,
                )
            else:
                index = SparseIndex.build(tokens, *knobs)
        return _Indexed(passages, index)

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

    def __init__(self, passages: Sequence[Passage], index: TermIndex) -> None:
        self.passages = passages
        self.index = index
        self.passings = Passings()
        self._parts: dict[bytes, SparseIndex] = {}

    def rank(
        self, tokens: Sequence[str], key: bytes, passing: Passing, depth: int, fill: bool
    ) -> Ranking:
        from ragablate.retrieve.bm25_index import top

        rows, scores = self._scored(tokens, key, passing, fill)
        best, values = top(rows, scores, depth)
        kept = passing.cut(best.tolist())
        return tuple(Hit(self.passages[best[n]].pid, float(values[n])) for n in kept)

    def _scored(
        self, tokens: Sequence[str], key: bytes, passing: Passing, fill: bool
    ) -> tuple[Rows, Floats]:
        """Rows that may be ranked, and their scores."""
        import numpy as np

        from ragablate.retrieve.bm25_index import SparseIndex, every

        first = passing.passes if passing.mode == "pre" else None
        if first is not None and isinstance(self.index, SparseIndex):
            inside = np.flatnonzero(first)
            part = self._part(self.index, key, inside)
            rows, scores = part.scores(tokens)
            if fill:
                rows, scores = every(rows, scores, len(inside))
            return inside[rows], scores
        rows, scores = self.index.scores(tokens)
        if fill:
            rows, scores = every(rows, scores, len(self.passages))
        mask = passing.pool if passing.mode == "post" else passing.allowed
        return (rows, scores) if mask is None else (rows[mask[rows]], scores[mask[rows]])

    def _part(self, index: SparseIndex, key: bytes, inside: Rows) -> SparseIndex:
        """The index of what passes alone, with the weights of the whole."""
        if key not in self._parts:
            if len(self._parts) >= _PARTS:
                self._parts.clear()
            self._parts[key] = index.part(inside)
        return self._parts[key]


def _between(value: float, low: float, high: float) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and low <= value <= high


def _are_fields(fields: Sequence[str]) -> bool:
    return not isinstance(fields, str) and bool(fields) and set(fields) <= set(_FIELDS)

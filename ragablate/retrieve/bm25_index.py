"""BM25 over tokenised passages, scored from postings alone.

Scores are precomputed per posting and added term by term in the order of the query, so the
same tokens give the same bits everywhere.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Variant = Literal["okapi", "lucene"]

FREQUENT = 4
"""A term in more than one row of so many is added as a whole column, which costs less there
than going from posting to posting. The sums are the same to the last bit."""


class TermIndex(Protocol):
    """What can score every passage that holds a query term."""

    def scores(self, tokens: Sequence[str]) -> tuple[Rows, Floats]:
        """Rows that hold at least one of ``tokens``, ascending, and their scores."""
        ...


class SparseIndex:
    """Postings with precomputed BM25 scores, one column a term.

    Build it with ``SparseIndex.build``. Rows are the passages in the order given; ties are
    broken by row, so give the passages by ascending pid.
    """

    def __init__(self, vocabulary: dict[str, int], impacts: sparse.csc_array) -> None:
        self.vocabulary = vocabulary
        self.size = int(impacts.shape[0])
        self._starts = [int(start) for start in impacts.indptr]
        self._rows = impacts.indices
        self._impacts: Floats = impacts.data
        self._frequent: dict[int, tuple[Floats, Mask]] = {}

    @classmethod
    def build(
        cls,
        tokens: Iterable[Sequence[str]],
        variant: Variant = "okapi",
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
    ) -> SparseIndex:
        """Index passages given as token sequences; no passages and empty ones are valid.

        ``okapi`` equals ``rank_bm25.BM25Okapi``: a term of document frequency n in N passages
        weighs ln(N - n + 0.5) - ln(n + 0.5), and ``epsilon`` times the mean of that over all
        terms where it is negative; term frequencies are multiplied by k1 + 1.
        ``lucene`` equals Lucene's ``BM25Similarity`` with exact lengths: ln(1 + (N - n + 0.5)
        / (n + 0.5)), without k1 + 1 and without ``epsilon``; empty passages count in N and in
        the mean length.

        Raises:
            TypeError: A passage is a string, whose tokens would be its characters.
        """
        counts, vocabulary, lengths = _count(tokens)
        if not vocabulary:
            return cls({}, counts)
        frequencies = np.diff(counts.indptr)
        okapi = variant == "okapi"
        weights = (
            _okapi_weights(frequencies, len(lengths), epsilon)
            if okapi
            else _lucene_weights(frequencies, len(lengths))
        )
        norms = k1 * (1 - b + b * lengths / (int(lengths.sum()) / len(lengths)))
        tf = counts.data
        gain = tf * (k1 + 1) if okapi else tf
        counts.data = np.repeat(weights, frequencies) * (gain / (tf + norms[counts.indices]))
        return cls(vocabulary, counts)

    @classmethod
    def of_fields(
        cls,
        fields: Sequence[tuple[float, Iterable[Sequence[str]]]],
        variant: Variant = "okapi",
        k1: float = 1.5,
        b: float = 0.75,
        epsilon: float = 0.25,
    ) -> SparseIndex:
        """Index passages of several fields: simple BM25F (Robertson and Zaragoza 2009, 3.6).

        A term's frequency in a passage is the sum over fields of ``weight * tf / (1 - b + b *
        length / mean length)``, lengths being those of the field; it takes the place of the
        length-normalised frequency: weight of the term * frequency / (k1 + frequency), times
        k1 + 1 for ``okapi``. A term is rare by how many passages hold it in any field.

        Args:
            fields: A weight above 0 with the tokens of every passage, field by field.
            variant: How rare terms weigh, as in ``build``.
            k1: As in ``build``.
            b: The same for every field.
            epsilon: As in ``build``.
        """
        vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
        parts = []
        for weight, tokens in fields:
            counts, _, lengths = _count(tokens, vocabulary)
            total = int(lengths.sum())
            if total:
                norms = 1 - b + b * lengths / (total / len(lengths))
                counts.data = weight * counts.data / norms[counts.indices]
            parts.append((counts, len(lengths)))
        size = parts[0][1]
        for counts, _ in parts:
            counts.resize((size, len(vocabulary)))  # type: ignore[arg-type]
        tf = sum((counts for counts, _ in parts[1:]), parts[0][0]).tocsc()
        tf.sort_indices()
        if not vocabulary:
            return cls({}, tf)
        frequencies = np.diff(tf.indptr)
        okapi = variant == "okapi"
        rarity = (
            _okapi_weights(frequencies, size, epsilon)
            if okapi
            else _lucene_weights(frequencies, size)
        )
        gain = tf.data * (k1 + 1) if okapi else tf.data
        tf.data = np.repeat(rarity, frequencies) * (gain / (tf.data + k1))
        return cls(dict(vocabulary), tf)

    def scores(self, tokens: Sequence[str]) -> tuple[Rows, Floats]:
        """Rows that hold at least one of ``tokens``, ascending, and their scores.

        A repeated token counts as often as it is repeated. A score may be 0 or negative: a
        passage that shares a term is a match whatever the term weighs.
        """
        if isinstance(tokens, str):
            raise TypeError("a query is a sequence of tokens, not a string")
        totals = np.zeros(self.size)
        matched = np.zeros(self.size, dtype=np.bool_)
        for token in tokens:
            column = self.vocabulary.get(token)
            if column is None:
                continue
            postings = slice(self._starts[column], self._starts[column + 1])
            if (postings.stop - postings.start) * FREQUENT > self.size:
                impacts, held = self._dense(column, postings)
                totals += impacts
                matched |= held
            else:
                totals[self._rows[postings]] += self._impacts[postings]
                matched[self._rows[postings]] = True
        found = np.flatnonzero(matched)
        return found, totals[found]

    def part(self, rows: Rows) -> SparseIndex:
        """An index of these rows alone, ascending, with the scores they have in this one."""
        whole = sparse.csc_array(
            (self._impacts, self._rows, np.array(self._starts)),
            shape=(self.size, len(self.vocabulary)),
        )
        return SparseIndex(self.vocabulary, whole[rows])

    def search(self, tokens: Sequence[str], k: int) -> tuple[Rows, Floats]:
        """The ``k`` best rows and their scores, best first, ties by row.

        Fewer where fewer rows hold a token; none for an empty or unknown query.
        """
        return top(*self.scores(tokens), k)

    def _dense(self, column: int, postings: slice) -> tuple[Floats, Mask]:
        """A frequent term's scores and presence for every row, kept once they were asked for."""
        if column not in self._frequent:
            impacts, held = np.zeros(self.size), np.zeros(self.size, dtype=np.bool_)
            impacts[self._rows[postings]] = self._impacts[postings]
            held[self._rows[postings]] = True
            self._frequent[column] = impacts, held
        return self._frequent[column]


def every(rows: Rows, scores: Floats, count: int) -> tuple[Rows, Floats]:
    """All ``count`` rows, those without a score with 0."""
    full = np.zeros(count, dtype=scores.dtype)
    full[rows] = scores
    return np.arange(count, dtype=rows.dtype), full


def top(rows: Rows, scores: Floats, k: int) -> tuple[Rows, Floats]:
    """The ``k`` best of scored rows, best first; ties by row, also those at the cut.

    Args:
        rows: Ascending.
        scores: One a row, none NaN.
        k: At least 1.
    """
    if len(rows) > k:
        cut = np.partition(scores, len(rows) - k)[len(rows) - k]
        above = np.flatnonzero(scores > cut)
        level = np.flatnonzero(scores == cut)[: k - len(above)]
        chosen = np.concatenate([above, level])
        rows, scores = rows[chosen], scores[chosen]
    order = np.lexsort((rows, -scores))
    return rows[order], scores[order]


def _count(
    tokens: Iterable[Sequence[str]], vocabulary: defaultdict[str, int] | None = None
) -> tuple[sparse.csc_array, dict[str, int], NDArray[np.int64]]:
    """Term frequencies (rows × terms), the terms' columns in order of first sight, lengths."""
    if vocabulary is None:
        vocabulary = defaultdict(count().__next__)
    columns, lengths = array("i"), array("q")
    for passage in tokens:
        if isinstance(passage, str):
            raise TypeError("a passage is a sequence of tokens, not a string")
        columns.extend(map(vocabulary.__getitem__, passage))
        lengths.append(len(passage))
    sizes = np.array(lengths, dtype=np.int64)
    rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    ones = np.ones(len(columns))
    place = (rows, np.frombuffer(columns, dtype=np.int32) if columns else rows)
    counts = sparse.coo_array((ones, place), shape=(len(sizes), len(vocabulary))).tocsc()
    return counts, dict(vocabulary), sizes


def _okapi_weights(frequencies: NDArray[np.int32], size: int, epsilon: float) -> Floats:
    weights = _by_frequency(frequencies, lambda n: math.log(size - n + 0.5) - math.log(n + 0.5))
    # A running sum adds in rank-bm25's order; np.sum would add in pairs.
    mean = float(np.cumsum(weights)[-1]) / len(weights)
    return np.where(weights < 0, epsilon * mean, weights)


def _lucene_weights(frequencies: NDArray[np.int32], size: int) -> Floats:
    return _by_frequency(frequencies, lambda n: math.log(1 + (size - n + 0.5) / (n + 0.5)))


def _by_frequency(frequencies: NDArray[np.int32], weigh: Callable[[int], float]) -> Floats:
    distinct, place = np.unique(frequencies, return_inverse=True)
    return np.array([weigh(int(n)) for n in distinct])[place]

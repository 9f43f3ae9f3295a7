"""Dense retrieval: passages by the similarity of their embedding to the search's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragablate import codec
from ragablate.embed.embedder import Embedder
from ragablate.embed.models import model_identity, model_problems
from ragablate.embed.runtime import runtime_of, runtime_problems
from ragablate.embed.texts import field_problems, joined, knob_problems
from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Ranking
from ragablate.retrieve.kept import Kept
from ragablate.retrieve.restrict import depth_problems, restriction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragablate.embed.vectors import Rows

_DIGITS = 6
_STEP = 256


class Dense:
    """A retriever that embeds searches and passages with a sentence-transformers model.

    Every passage is compared, nothing is approximate. Scores are rounded to six significant
    digits before they are ranked: what is left beyond them is noise of the machine. Text
    beyond the model's length is cut, as in the literature. A blank search or passage is
    embedded like any other.

    Args:
        model: A packaged model's name (``all-MiniLM-L6-v2``), a folder, or
            ``organisation/name`` of the Hugging Face hub, downloaded before.
        revision: Branch, tag or commit of a model of the hub; ``None`` is its main branch as
            downloaded last. Either way the fingerprint holds the commit.
        query_prefix: Put before every search, such as ``"query: "``.
        passage_prefix: Put before every passage.
        normalize: Whether embeddings are scaled to length 1, so that a score is the cosine;
            otherwise it is the inner product.
        max_seq_length: Longest text in the model's tokens; ``None`` is the model's own limit.
        fields: What of a passage is embedded, joined into one text: ``title``, ``text``.
        separator: What joins them.
        depth: How many passages a ranking holds at most.
        pool: Whether a question's pool restricts what is ranked.
        apply_filter: Whether a question's metadata filter restricts what is ranked.
        runtime: ``batch_size``, ``device``, ``threads``, ``cache`` (a folder that keeps
            embeddings) and ``search_block`` (passages compared at once).
    """

    def __init__(  # noqa: PLR0913
        self,
        model: str = "all-MiniLM-L6-v2",
        revision: str | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        normalize: bool = True,
        max_seq_length: int | None = None,
        fields: Sequence[str] = ("title", "text"),
        separator: str = " ",
        depth: int = 100,
        pool: bool = False,
        apply_filter: bool = False,
        runtime: Mapping[str, object] | None = None,
    ) -> None:
        self.model = model
        self.revision = revision
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix
        self.normalize = normalize
        self.max_seq_length = max_seq_length
        self.fields = fields
        self.separator = separator
        self.depth = depth
        self.pool = pool
        self.apply_filter = apply_filter
        self.runtime = runtime
        self._embedder: Embedder | None = None
        self._indexes: Kept[_Index] = Kept()

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Rank the passages most similar to each search.

        Raises:
            AdapterError: A knob has no meaning, the model cannot be loaded, or a pool names an
                unknown passage.
            StoreError: Embeddings cannot be read or written.
        """
        if not requests:
            return
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        if not corpus.passages:
            for request in requests:
                yield Item(request.id, ())
            return
        index = self._indexes.get(corpus, self._build)
        texts = [request.text for request in requests]
        queries = self._embedded().embed("query", self.query_prefix, texts)
        for rows, members in self._groups(index, requests):
            for start in range(0, len(members), _STEP):
                part = members[start : start + _STEP]
                rankings = self._search(index, rows, queries, part)
                for number, ranking in zip(part, rankings, strict=True):
                    yield Item(requests[number].id, ranking)

    def problems(self) -> list[str]:
        """A missing extra or model, and knobs without a meaning."""
        return (
            model_problems(self.model, self.revision)
            + field_problems(self.fields)
            + knob_problems(
                {"max_seq_length": self.max_seq_length},
                {
                    "query_prefix": self.query_prefix,
                    "passage_prefix": self.passage_prefix,
                    "separator": self.separator,
                },
            )
            + depth_problems(self.depth)
            + runtime_problems(self.runtime)
        )

    def identity(self) -> dict[str, object]:
        """The model's files or commit, and the libraries that run it."""
        return model_identity(self.model, self.revision, runtime_of(self.runtime).cache)

    def close(self) -> None:
        """Give the model's memory back."""
        if self._embedder is not None:
            self._embedder.close()

    def _embedded(self) -> Embedder:
        if self._embedder is None:
            self._embedder = Embedder(
                self.model, self.revision, self.max_seq_length, self.normalize, self.runtime
            )
        return self._embedder

    def _build(self, corpus: Corpus) -> _Index:
        passages = sorted(corpus.passages, key=lambda passage: passage.pid)
        texts = [joined(passage, self.fields, self.separator) for passage in passages]
        return _Index(
            corpus, passages, self._embedded().embed("passage", self.passage_prefix, texts)
        )

    def _groups(
        self, index: _Index, requests: Sequence[SearchRequest]
    ) -> list[tuple[NDArray[np.int64] | None, list[int]]]:
        """Positions of searches that may find the same rows, with these; ``None`` is all."""
        groups: dict[bytes, tuple[NDArray[np.int64] | None, list[int]]] = {}
        for number, request in enumerate(requests):
            question = request.question
            pool = question.pool if self.pool else None
            wanted = question.filter if self.apply_filter else None
            key = codec.encode((pool, wanted))
            if key not in groups:
                groups[key] = (index.allowed(request, self.pool, self.apply_filter), [])
            groups[key][1].append(number)
        return list(groups.values())

    def _search(
        self,
        index: _Index,
        rows: NDArray[np.int64] | None,
        queries: Rows,
        numbers: Sequence[int],
    ) -> Iterator[Ranking]:
        import numpy as np

        from ragablate.retrieve.exact import search

        asked = queries[np.array(numbers, dtype=np.int64)]
        block = runtime_of(self.runtime).search_block
        found, scores = search(asked, index.rows, self.depth, block, rows, _DIGITS)
        for best, values in zip(found.tolist(), scores.tolist(), strict=True):
            pids = (index.passages[row].pid for row in best)
            yield tuple(map(Hit, pids, values))


@dataclass(frozen=True, slots=True)
class _Index:
    """A corpus with its embeddings; rows are passages by ascending pid."""

    corpus: Corpus
    passages: Sequence[Passage]
    rows: Rows

    def allowed(
        self, request: SearchRequest, pool: bool, apply_filter: bool
    ) -> NDArray[np.int64] | None:
        """Rows that may be found for a search; ``None`` for all."""
        import numpy as np

        passes = restriction(self.corpus, request.question, pool, apply_filter)
        if passes is None:
            return None
        return np.flatnonzero(np.fromiter(map(passes, self.passages), dtype=np.bool_))

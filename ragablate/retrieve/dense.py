"""Dense retrieval: passages by the similarity of their embedding to the search's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ragablate.embed.embedder import Embedder
from ragablate.embed.models import model_identity, model_problems
from ragablate.embed.runtime import runtime_of, runtime_problems
from ragablate.embed.texts import field_problems, joined, knob_problems
from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Ranking
from ragablate.retrieve.approximate import (
    Graph,
    approximate_of,
    approximate_problems,
    recall,
)
from ragablate.retrieve.filters import Passing, Rules
from ragablate.retrieve.hubs import hub_problems, hubs_of
from ragablate.retrieve.kept import Kept
from ragablate.retrieve.restrict import depth_problems

if TYPE_CHECKING:
    from ragablate.embed.vectors import Rows
    from ragablate.retrieve.exact import Matrix

_DIGITS = 6
_STEP = 256


class Dense:
    """A retriever that embeds searches and passages with a sentence-transformers model.

    Every passage is compared, unless ``approximate`` says otherwise. Scores are rounded to six
    significant digits before they are ranked: what is left beyond them is noise of the machine.
    Text beyond the model's length is cut, as in the literature. A blank search or passage is
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
        filters: What may be found whatever is asked: ``where``, ``day``, ``begins``, ``ends``.
        filter_mode: ``pre``, ``in``, ``post`` or ``by_pass_rate``, see ``filters.Rules``.
        pass_rates: Thresholds of ``by_pass_rate``: ``pre`` and ``in``.
        hubs: ``measure`` (``none``, ``centre``, ``neighbours``), ``weight`` and ``neighbours``:
            what is taken away from the similarity of passages that are near everything, see
            ``hubness.penalties``.
        approximate: ``index`` (``none``, ``hnsw``), ``links``, ``build`` and ``search``: a graph in
            place of comparing every passage, see ``approximate.Graph``. ``filter_mode: pre``,
            and a pool, compare every passage that passes all the same. The exact search is made
            too, for the signal ``exact_recall``.
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
        filters: Mapping[str, Any] | None = None,
        filter_mode: str = "pre",
        pass_rates: Mapping[str, float] | None = None,
        hubs: Mapping[str, Any] | None = None,
        approximate: Mapping[str, Any] | None = None,
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
        self.filters = filters
        self.filter_mode = filter_mode
        self.pass_rates = pass_rates
        self.hubs = hubs
        self.approximate = approximate
        self.runtime = runtime
        self._embedder: Embedder | None = None
        self._indexes: Kept[_Index] = Kept()

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Rank the passages most similar to each search.

        Raises:
            AdapterError: A knob has no meaning, the model cannot be loaded, or a question's
                pool or day has none.
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
        for passing, members in self._groups(index, requests):
            for start in range(0, len(members), _STEP):
                part = members[start : start + _STEP]
                rankings = self._search(index, passing, queries, part)
                for number, (ranking, told) in zip(part, rankings, strict=True):
                    found = replace(passing, signals={**passing.signals, **told})
                    yield found.item(requests[number].id, ranking)

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
            + self._rules().problems()
            + hub_problems(self.hubs)
            + approximate_problems(self.approximate)
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
        rows = self._embedded().embed("passage", self.passage_prefix, texts)
        measure, weight, neighbours = hubs_of(self.hubs)
        if measure == "none":
            return _Index(corpus, passages, rows)
        from ragablate.retrieve.hubness import penalised

        block = runtime_of(self.runtime).search_block
        return _Index(corpus, passages, penalised(rows, measure, weight, neighbours, block))

    def _rules(self) -> Rules:
        return Rules(self.pool, self.apply_filter, self.filters, self.filter_mode, self.pass_rates)

    def _groups(
        self, index: _Index, requests: Sequence[SearchRequest]
    ) -> list[tuple[Passing, list[int]]]:
        """Positions of searches that may find the same rows, with these."""
        rules = self._rules()
        groups: dict[bytes, tuple[Passing, list[int]]] = {}
        for number, request in enumerate(requests):
            key = rules.key(request.question)
            if key not in groups:
                found = rules.passing(index.corpus, index.passages, request.question)
                groups[key] = (found, [])
            groups[key][1].append(number)
        return list(groups.values())

    def _search(
        self, index: _Index, passing: Passing, queries: Rows, numbers: Sequence[int]
    ) -> Iterator[tuple[Ranking, dict[str, float]]]:
        import numpy as np

        from ragablate.retrieve.exact import search

        asked = queries[np.array(numbers, dtype=np.int64)]
        if hubs_of(self.hubs)[0] != "none":
            from ragablate.retrieve.hubness import queries_of

            asked = queries_of(asked)
        block = runtime_of(self.runtime).search_block
        mode = passing.mode
        first = passing.pool if mode == "post" else passing.allowed
        rows = None if first is None or mode == "in" else np.flatnonzero(first)
        skipping = first if mode == "in" else None
        found, scores = search(asked, index.rows, self.depth, block, rows, _DIGITS, skipping)
        graph = self._graph(index) if rows is None else None
        for asked_row, best, values in zip(asked, found.tolist(), scores.tolist(), strict=True):
            told: dict[str, float] = {}
            ranked, valued = best, values
            if graph is not None:
                ranked, valued = graph.search(asked_row, self.depth, _DIGITS, skipping)
                told = recall(ranked, best)
            kept = passing.cut(ranked)
            yield tuple(Hit(index.passages[ranked[n]].pid, valued[n]) for n in kept), told

    def _graph(self, index: _Index) -> Graph | None:
        node = approximate_of(self.approximate)
        if node["index"] == "none":
            return None
        if not index.graph:
            index.graph.append(Graph(index.rows, node["links"], node["build"], node["search"]))
        return index.graph[0]


@dataclass(frozen=True, slots=True)
class _Index:
    """A corpus with its embeddings; rows are passages by ascending pid."""

    corpus: Corpus
    passages: Sequence[Passage]
    rows: Matrix
    graph: list[Graph] = field(default_factory=list)
    """The one graph over the rows, once it was asked for."""

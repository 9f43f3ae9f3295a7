"""Late interaction over token embeddings: a passage scores by its best match for every token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragablate.embed.encoder import Encoder
from ragablate.embed.models import model_identity, model_problems
from ragablate.embed.runtime import runtime_of, runtime_problems
from ragablate.embed.texts import field_problems, joined, knob_problems
from ragablate.errors import AdapterError
from ragablate.protocols import SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Ranking, SearchResult
from ragablate.retrieve.filters import Passing, Passings, Rules
from ragablate.retrieve.kept import Kept
from ragablate.retrieve.restrict import depth_problems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragablate.retrieve.maxsim import Tokens

_DECIMALS = 5


class MultiVector:
    """A retriever that compares every token of a search with every token of a passage.

    A score is the mean, over the search's tokens, of the largest cosine with any token of the
    passage: the sum of ColBERT (Khattab and Zaharia 2020) divided by the number of tokens, so
    that long and short searches are on one scale; rounded to five decimals. Token embeddings
    are taken before a sentence-transformers model pools them, its special tokens left out. A
    search without a token finds nothing. The signal ``weakest_token`` is, for the first
    passage, the smallest of those largest cosines: a token of the search that nothing in the
    passage answers to.

    Embeddings are kept while the process runs: one row a token, in single precision. ``pre``
    and ``in`` both compare every passage and rank those that pass.

    Args:
        model: A packaged model's name (``all-MiniLM-L6-v2``, which was trained to be pooled and
            not for this), a folder, or ``organisation/name`` of the Hugging Face hub, downloaded
            before.
        revision: Branch, tag or commit of a model of the hub; ``None`` is its main branch as
            downloaded last. Either way the fingerprint holds the commit.
        query_prefix: Put before every search.
        passage_prefix: Put before every passage.
        max_seq_length: Longest text in the model's tokens; ``None`` is the model's own limit.
        fields: What of a passage is embedded, joined into one text: ``title``, ``text``.
        separator: What joins them.
        depth: How many passages a ranking holds at most.
        pool: Whether a question's pool restricts what is ranked.
        apply_filter: Whether a question's metadata filter restricts what is ranked.
        filters: What may be found whatever is asked: ``where``, ``day``, ``begins``, ``ends``.
        filter_mode: ``pre``, ``in``, ``post`` or ``by_pass_rate``, see ``filters.Rules``.
        pass_rates: Thresholds of ``by_pass_rate``: ``pre`` and ``in``.
        runtime: ``device`` and ``threads``.
    """

    def __init__(  # noqa: PLR0913
        self,
        model: str = "all-MiniLM-L6-v2",
        revision: str | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        max_seq_length: int | None = None,
        fields: Sequence[str] = ("title", "text"),
        separator: str = " ",
        depth: int = 100,
        pool: bool = False,
        apply_filter: bool = False,
        filters: Mapping[str, Any] | None = None,
        filter_mode: str = "pre",
        pass_rates: Mapping[str, float] | None = None,
        runtime: Mapping[str, object] | None = None,
    ) -> None:
        self.model = model
        self.revision = revision
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix
        self.max_seq_length = max_seq_length
        self.fields = fields
        self.separator = separator
        self.depth = depth
        self.pool = pool
        self.apply_filter = apply_filter
        self.filters = filters
        self.filter_mode = filter_mode
        self.pass_rates = pass_rates
        self.runtime = runtime
        self._encoder: Encoder | None = None
        self._indexes: Kept[_Index] = Kept()

    def problems(self) -> list[str]:
        """A missing extra or model, and knobs without a meaning."""
        strings = {
            "query_prefix": self.query_prefix,
            "passage_prefix": self.passage_prefix,
            "separator": self.separator,
        }
        return (
            model_problems(self.model, self.revision)
            + field_problems(self.fields)
            + knob_problems({"max_seq_length": self.max_seq_length}, strings)
            + depth_problems(self.depth)
            + self._rules().problems()
            + runtime_problems(self.runtime, without=("batch_size", "cache", "search_block"))
        )

    def identity(self) -> dict[str, object]:
        """The model's files or commit, and the libraries that run it."""
        return model_identity(self.model, self.revision, runtime_of(self.runtime).cache)

    def close(self) -> None:
        """Give the model's memory back."""
        if self._encoder is not None:
            self._encoder.close()

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Rank the passages whose tokens answer best to those of each search.

        Raises:
            AdapterError: A knob has no meaning, the model cannot be loaded, or a question's
                pool or day has none.
        """
        if not requests:
            return
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        index = self._indexes.get(corpus, self._build)
        rules = self._rules()
        texts = [request.text for request in requests]
        asked = self._embedded().tokens(self.query_prefix, texts)
        for request, query in zip(requests, asked, strict=True):
            _, passing = index.passings.get(rules, corpus, index.passages, request.question)
            ranking, weakest = _rank(index, query, passing, self.depth)
            signals = {**passing.signals, **weakest}
            yield SearchResult(request.id, ranking, signals=signals)

    def _rules(self) -> Rules:
        return Rules(self.pool, self.apply_filter, self.filters, self.filter_mode, self.pass_rates)

    def _embedded(self) -> Encoder:
        if self._encoder is None:
            runtime = runtime_of(self.runtime)
            self._encoder = Encoder(self.model, self.revision, self.max_seq_length, False, runtime)
        return self._encoder

    def _build(self, corpus: Corpus) -> _Index:
        from ragablate.embed.progress import progress
        from ragablate.retrieve.maxsim import Tokens

        passages = sorted(corpus.passages, key=lambda passage: passage.pid)
        texts = [joined(passage, self.fields, self.separator) for passage in passages]
        matrices = []
        with progress("embedding", len(texts)) as advance:
            for matrix in self._embedded().tokens(self.passage_prefix, texts):
                matrices.append(matrix)
                advance(1)
        return _Index(passages, Tokens.of(matrices))


@dataclass(frozen=True, slots=True)
class _Index:
    """A corpus with its token embeddings; passages by ascending pid."""

    passages: Sequence[Passage]
    tokens: Tokens
    passings: Passings = field(default_factory=Passings)


def _rank(
    index: _Index, query: NDArray[np.float32], passing: Passing, depth: int
) -> tuple[Ranking, dict[str, float]]:
    """The best passages, and how well the first answers to the token it answers to least."""
    import numpy as np

    from ragablate.retrieve.bm25_index import top

    rows = np.arange(len(index.passages))
    mask = passing.pool if passing.mode == "post" else passing.allowed
    if mask is not None:
        rows = rows[mask]
    if not len(rows) or not len(query):
        return (), {}
    best = index.tokens.best(query)
    scores = np.round(best.astype(np.float64).mean(axis=0), _DECIMALS) + 0.0
    chosen, values = top(rows, scores[rows], depth)
    kept = passing.cut(chosen.tolist())
    if not kept:
        return (), {}
    first = best[:, chosen[kept[0]]]
    hits = tuple(Hit(index.passages[chosen[n]].pid, float(values[n])) for n in kept)
    return hits, {"weakest_token": round(float(first.min()), _DECIMALS)}

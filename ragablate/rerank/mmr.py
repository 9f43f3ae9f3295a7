"""Reranking for relevance and variety at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragablate.embed.embedder import Embedder
from ragablate.embed.models import model_identity, model_problems
from ragablate.embed.runtime import runtime_of, runtime_problems
from ragablate.embed.texts import field_problems, joined, knob_problems
from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Hit, Item, Ranking
from ragablate.rerank.none import cut_problems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DECIMALS = 6


class MMR:
    """Maximal marginal relevance (Carbonell and Goldstein, 1998) over the candidates.

    Passages are chosen one by one, each time the one with the largest ``trade_off`` ·
    similarity to the question − (1 − ``trade_off``) · largest similarity to a passage chosen
    before; ties go by pid. Similarities are cosines of embeddings, whatever the retriever
    scored; a negative one between passages counts 0. A passage's score is its value when it
    was chosen, rounded to six decimals: it never rises down the ranking.

    Args:
        model: A packaged model's name (``all-MiniLM-L6-v2``), a folder, or
            ``organisation/name`` of the Hugging Face hub, downloaded before.
        revision: Branch, tag or commit of a model of the hub; ``None`` is its main branch as
            downloaded last. Either way the fingerprint holds the commit.
        query_prefix: Put before every question, such as ``"query: "``.
        passage_prefix: Put before every passage.
        max_seq_length: Longest text in the model's tokens; ``None`` is the model's own limit.
        fields: What of a passage is embedded, joined into one text: ``title``, ``text``.
        separator: What joins them.
        trade_off: From 0, variety only, to 1, relevance only; λ in the paper.
        depth: How many candidates are chosen from, from the best; ``None`` is all.
        top_k: How many are chosen; ``None`` orders all.
        runtime: ``batch_size``, ``device``, ``threads`` and ``cache`` (a folder that keeps
            embeddings, shared with the dense retriever).
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
        trade_off: float = 0.5,
        depth: int | None = 50,
        top_k: int | None = 10,
        runtime: Mapping[str, object] | None = None,
    ) -> None:
        self.model = model
        self.revision = revision
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix
        self.max_seq_length = max_seq_length
        self.fields = fields
        self.separator = separator
        self.trade_off = trade_off
        self.depth = depth
        self.top_k = top_k
        self.runtime = runtime
        self._embedder: Embedder | None = None

    def problems(self) -> list[str]:
        """A missing extra or model, and knobs without a meaning."""
        found = model_problems(self.model, self.revision)
        if not isinstance(self.trade_off, int | float) or not 0 <= self.trade_off <= 1:
            found.append(f"trade_off is {self.trade_off!r}: give a number from 0 to 1")
        return (
            found
            + cut_problems(self.top_k)
            + field_problems(self.fields)
            + knob_problems(
                {"max_seq_length": self.max_seq_length, "depth": self.depth},
                {
                    "query_prefix": self.query_prefix,
                    "passage_prefix": self.passage_prefix,
                    "separator": self.separator,
                },
            )
            + runtime_problems(self.runtime, without=("search_block",))
        )

    def identity(self) -> dict[str, object]:
        """The model's files or commit, and the libraries that run it."""
        return model_identity(self.model, self.revision, runtime_of(self.runtime).cache)

    def close(self) -> None:
        """Give the model's memory back."""
        if self._embedder is not None:
            self._embedder.close()

    def rerank(self, corpus: Corpus, requests: Sequence[RerankRequest]) -> Iterator[Item[Ranking]]:
        """Embed all questions and candidates, then choose question by question.

        Raises:
            AdapterError: A knob has no meaning, or the model cannot be loaded.
            StoreError: Embeddings cannot be read or written.
        """
        if not requests:
            return
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        hits = {r.id: r.candidates[: self.depth] for r in requests}
        pids = sorted({hit.pid for ranking in hits.values() for hit in ranking})
        if not pids:
            for request in requests:
                yield Item(request.id, ())
            return
        row = {pid: number for number, pid in enumerate(pids)}
        texts = [joined(corpus.by_pid[pid], self.fields, self.separator) for pid in pids]
        embedder = self._embedded()
        passages = embedder.embed("passage", self.passage_prefix, texts)
        asked = [request.question.text for request in requests]
        questions = embedder.embed("query", self.query_prefix, asked)[:]
        for request, question in zip(requests, questions, strict=True):
            own = sorted(hit.pid for hit in hits[request.id])
            vectors = passages[_rows([row[pid] for pid in own])]
            yield Item(request.id, self._choose(own, question, vectors))

    def _choose(
        self, pids: Sequence[str], question: NDArray[np.float32], vectors: NDArray[np.float32]
    ) -> Ranking:
        """``pids`` are ascending, so that the first of equal values has the smallest pid."""
        import numpy as np

        wide = vectors.astype(np.float64)
        relevance = self.trade_off * (wide @ question.astype(np.float64))
        alike = wide @ wide.T
        nearest = np.zeros(len(pids))
        left = np.ones(len(pids), dtype=np.bool_)
        chosen = []
        for _ in pids[: self.top_k]:
            values = np.round(relevance - (1 - self.trade_off) * nearest, _DECIMALS) + 0.0
            best = int(np.argmax(np.where(left, values, -np.inf)))
            chosen.append(Hit(pids[best], float(values[best])))
            left[best] = False
            nearest = np.maximum(nearest, alike[best])
        return tuple(chosen)

    def _embedded(self) -> Embedder:
        if self._embedder is None:
            self._embedder = Embedder(
                self.model, self.revision, self.max_seq_length, True, self.runtime
            )
        return self._embedder


def _rows(numbers: Sequence[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(numbers, dtype=np.int64)

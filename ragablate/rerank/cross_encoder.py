"""Reranking by a model that reads question and passage together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragablate.embed.loading import check_length, load, threads
from ragablate.embed.models import locate, model_identity, model_problems
from ragablate.embed.runtime import runtime_of, runtime_problems
from ragablate.embed.texts import field_problems, joined, knob_problems, well_formed
from ragablate.errors import AdapterError
from ragablate.protocols import RerankRequest
from ragablate.records import Corpus, Failure, Hit, Item, Ranking
from ragablate.rerank.none import cut_problems

_DIGITS = 6
_HEADS = ("ForSequenceClassification", "ForCausalLM")


class CrossEncoder:
    """A reranker that scores pairs of question and passage (Nogueira and Cho, 2019).

    The model's logit, rounded to six significant digits, replaces the retriever's score; no
    sigmoid is applied, so that clear cases do not tie at 1. Ties go by pid. A pair longer
    than the model's length loses the end of its longer text first.

    Args:
        model: A folder, or ``organisation/name`` of the Hugging Face hub, downloaded before.
        revision: Branch, tag or commit of a model of the hub; ``None`` is its main branch as
            downloaded last. Either way the fingerprint holds the commit.
        depth: How many candidates are scored, from the best; the others are dropped. ``None``
            scores all.
        top_k: How many are kept; ``None`` keeps all that were scored.
        max_length: Longest pair in the model's tokens; ``None`` is the model's own limit.
        fields: What of a passage is read, joined into one text: ``title``, ``text``.
        separator: What joins them.
        runtime: ``batch_size``, ``device``, ``threads`` and ``cache`` (a folder that
            remembers digests of model files).
    """

    def __init__(
        self,
        model: str,
        revision: str | None = None,
        depth: int | None = 100,
        top_k: int | None = 10,
        max_length: int | None = None,
        fields: Sequence[str] = ("title", "text"),
        separator: str = " ",
        runtime: Mapping[str, object] | None = None,
    ) -> None:
        self.model = model
        self.revision = revision
        self.depth = depth
        self.top_k = top_k
        self.max_length = max_length
        self.fields = fields
        self.separator = separator
        self.runtime = runtime
        self._loaded: Any = None

    def problems(self) -> list[str]:
        """A missing extra or model, a model of another kind, knobs without a meaning."""
        found = model_problems(self.model, self.revision)
        return (
            (found or self._kind_problems())
            + cut_problems(self.top_k)
            + field_problems(self.fields)
            + knob_problems(
                {"depth": self.depth, "max_length": self.max_length},
                {"separator": self.separator},
            )
            + runtime_problems(self.runtime, without=("search_block",))
        )

    def identity(self) -> dict[str, object]:
        """The model's files or commit, and the libraries that run it."""
        return model_identity(self.model, self.revision, runtime_of(self.runtime).cache)

    def close(self) -> None:
        """Give the model's memory back."""
        self._loaded = None

    def rerank(self, corpus: Corpus, requests: Sequence[RerankRequest]) -> Iterator[Item[Ranking]]:
        """Score one question's candidates after the other's.

        Raises:
            AdapterError: A knob has no meaning, or the model cannot be loaded.
        """
        if not requests:
            return
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        for request in requests:
            yield self._rerank(corpus, request)

    def _rerank(self, corpus: Corpus, request: RerankRequest) -> Item[Ranking]:
        hits = request.candidates[: self.depth]
        if not hits:
            return Item(request.id, ())
        texts = [joined(corpus.by_pid[h.pid], self.fields, self.separator) for h in hits]
        scores = self._scores(request.question.text, texts)
        ranked = [Hit(h.pid, score) for h, score in zip(hits, scores, strict=True)]
        broken = [hit.pid for hit in ranked if not math.isfinite(hit.score)]
        if broken:
            message = f"the model '{self.model}' gives passage '{broken[0]}' no finite score"
            return Item(request.id, None, Failure("pipeline", message))
        ranked.sort(key=lambda hit: (-hit.score, hit.pid))
        return Item(request.id, tuple(ranked[: self.top_k]))

    def _scores(self, question: str, texts: Sequence[str]) -> list[float]:
        model = self._ready()
        from torch.nn import Identity

        runtime = runtime_of(self.runtime)
        with threads(runtime.threads):
            logits = model.predict(
                [(well_formed(question), well_formed(text)) for text in texts],
                batch_size=runtime.batch_size or (1 if model.device.type == "cpu" else 64),
                show_progress_bar=False,
                activation_fn=Identity(),
            )
        return [float(f"{logit:.{_DIGITS}g}") + 0.0 for logit in logits.tolist()]

    def _ready(self) -> Any:
        if self._loaded is None:
            from sentence_transformers import CrossEncoder as Model

            located = locate(self.model, self.revision)
            options = {"device": runtime_of(self.runtime).device, "max_length": self.max_length}
            model = load(self.model, located, Model, **options)
            check_length(self.model, model.model, self.max_length, "max_length")
            if model.num_labels != 1:
                raise AdapterError(
                    f"the model '{self.model}' gives {model.num_labels} scores a pair: a reranker "
                    "needs a model that gives one"
                )
            self._loaded = model
        return self._loaded

    def _kind_problems(self) -> list[str]:
        """A model without the head that scores, which would get one with random weights."""
        folder = locate(self.model, self.revision).folder
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        kinds = config.get("architectures") or [] if isinstance(config, dict) else []
        if not kinds or any(str(kind).endswith(_HEADS) for kind in kinds):
            return []
        return [
            f"the model '{self.model}' is a {kinds[0]}, which scores no pairs: give a "
            "cross-encoder, whose config.json says ForSequenceClassification"
        ]

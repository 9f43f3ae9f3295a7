"""Support by a model of natural language inference that reads passage and claim together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from ragablate.embed.loading import check_length, load, threads
from ragablate.embed.models import locate, model_identity, model_problems
from ragablate.embed.runtime import runtime_of, runtime_problems
from ragablate.embed.texts import well_formed
from ragablate.errors import AdapterError
from ragablate.judge.support import Ask
from ragablate.records import Claim
from ragablate.text.sentences import sentences

Relation = Literal["supported", "contradicted", "unsupported"]
_ROOM = 8
"""Tokens left free for what a model puts around its two texts."""


class Nli:
    """``nli``: the passage is the premise, the claim the hypothesis.

    Any cross-encoder of sentence-transformers or sequence classifier of transformers will do that
    has a label for entailment; which of its scores that is, its config says. A passage supports a
    claim where entailment has a probability of at least ``threshold``, and contradicts it where
    contradiction has. A passage too long for the model is read in stretches of whole sentences
    that overlap by one, so that no evidence is cut off unseen; a claim is supported where a
    stretch supports it. Passages the model scores alike tie by pid.

    Args:
        model: A folder, or ``organisation/name`` of the Hugging Face hub, downloaded before.
        revision: Branch, tag or commit of a model of the hub; the fingerprint holds the commit.
        threshold: Least probability of entailment, and of contradiction, above 0.5 at most 1.
        max_length: Longest pair in the model's tokens; ``None`` is the model's own limit.
        labels: What the model's scores mean, in order (``entailment``, ``contradiction``,
            anything else for neither), for a model whose config does not say; ``None`` reads them.
        runtime: ``batch_size``, ``device``, ``threads`` and ``cache``, as of the cross-encoder.
    """

    cheap = False

    def __init__(
        self,
        model: str,
        revision: str | None = None,
        threshold: float = 0.5,
        max_length: int | None = None,
        labels: Sequence[str] | None = None,
        runtime: Mapping[str, object] | None = None,
    ) -> None:
        self.model = model
        self.revision = revision
        self.threshold = threshold
        self.max_length = max_length
        self.labels = labels
        self.runtime = runtime
        self._loaded: Any = None
        self._known: dict[tuple[str, str], tuple[float, float]] = {}

    def problems(self) -> list[str]:
        """A missing extra or model, one that knows no entailment, a threshold out of range."""
        found = model_problems(self.model, self.revision)
        found = found or self._label_problems()
        if not 0.5 <= self.threshold <= 1:
            found.append(f"threshold is {self.threshold}: set it from 0.5 to 1")
        if self.max_length is not None and not (
            type(self.max_length) is int and self.max_length > 2 * _ROOM
        ):
            found.append(f"max_length is {self.max_length}: give more than {2 * _ROOM}, or null")
        return found + runtime_problems(self.runtime, without=("search_block",))

    def identity(self) -> dict[str, object]:
        """The model's files or commit, and the libraries that run it."""
        return model_identity(self.model, self.revision, runtime_of(self.runtime).cache)

    def close(self) -> None:
        """Give the model's memory back."""
        self._loaded = None

    def check(self, asks: Sequence[Ask]) -> list[Claim]:
        """What the passages say of each claim.

        Raises:
            AdapterError: A knob has no meaning, or the model cannot be loaded or gives no number.
        """
        pairs = dict.fromkeys((p.text, ask.claim) for ask in asks for p in ask.passages)
        new = [pair for pair in pairs if pair not in self._known]
        if new:
            problems = [] if self._loaded is not None else self.problems()
            if problems:
                raise AdapterError(f"judge: {problems[0]}")
            self._known |= self._scored(new)
        return [self._claim(ask) for ask in asks]

    def _claim(self, ask: Ask) -> Claim:
        scores = {p.pid: self._known[p.text, ask.claim] for p in ask.passages}
        for side, status in ((0, "supported"), (1, "contradicted")):
            best = min(((-pair[side], pid) for pid, pair in scores.items()), default=(0.0, ""))
            if -best[0] >= self.threshold:
                return Claim(ask.claim, cast("Relation", status), best[1])
        return Claim(ask.claim, "unsupported")

    def _scored(
        self, pairs: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[float, float]]:
        """By passage and claim the highest probabilities of entailment and contradiction."""
        model = self._ready()
        from torch.nn import Softmax

        windows = [(window, *pair) for pair in pairs for window in self._windows(model, *pair)]
        runtime = runtime_of(self.runtime)
        with threads(runtime.threads):
            rows = model.predict(
                [(well_formed(window), well_formed(claim)) for window, _, claim in windows],
                batch_size=runtime.batch_size or (1 if model.device.type == "cpu" else 64),
                show_progress_bar=False,
                activation_fn=Softmax(dim=-1),
            ).tolist()
        yes, no = self._places(self._labels())
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for (_, text, claim), row in zip(windows, rows, strict=True):
            if not all(map(math.isfinite, row)):
                raise AdapterError(f"judge: the model '{self.model}' gives no finite score")
            scores = (round(row[yes], 6), round(row[no], 6) if no is not None else 0.0)
            before = found.get((text, claim), (0.0, 0.0))
            found[text, claim] = (max(before[0], scores[0]), max(before[1], scores[1]))
        return found

    def _windows(self, model: Any, text: str, claim: str) -> Iterator[str]:
        """The passage, or stretches of whole sentences that the model can read with the claim."""

        def count(piece: str) -> int:
            return len(model.tokenizer.tokenize(well_formed(piece)))

        limit = self.max_length or _own_length(model) or model.tokenizer.model_max_length
        room = max(_ROOM, limit - count(claim) - _ROOM)
        if count(text) <= room:
            yield text
            return
        spans = sentences(text)
        sizes = [count(text[start:end]) for start, end in spans]
        first = 0
        while first < len(spans):
            last, size = first, sizes[first]
            while last + 1 < len(spans) and size + sizes[last + 1] <= room:
                last += 1
                size += sizes[last]
            yield text[spans[first][0] : spans[last][1]]
            if last + 1 == len(spans):
                return
            first = last if last > first else last + 1

    def _ready(self) -> Any:
        if self._loaded is None:
            from sentence_transformers import CrossEncoder as Model

            located = locate(self.model, self.revision)
            options = {"device": runtime_of(self.runtime).device, "max_length": self.max_length}
            model = load(self.model, located, Model, **options)
            check_length(self.model, model.model, self.max_length, "max_length")
            if model.num_labels != len(self._labels()):
                raise AdapterError(
                    f"judge: the model '{self.model}' gives {model.num_labels} scores a pair, and "
                    f"{len(self._labels())} labels are known: correct labels"
                )
            self._loaded = model
        return self._loaded

    def _labels(self) -> list[str]:
        """Names of the model's scores, in order; empty where nothing tells them."""
        if self.labels is not None:
            return [str(label) for label in self.labels]
        folder = locate(self.model, self.revision).folder
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            names = {int(number): str(name) for number, name in config["id2label"].items()}
            return [names[number] for number in range(len(names))]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return []

    @staticmethod
    def _places(labels: Sequence[str]) -> tuple[int, int | None]:
        """Where entailment and, if there is one, contradiction stand; ValueError without."""
        plain = [label.casefold().replace("-", "_").replace(" ", "_") for label in labels]
        yes = [n for n, name in enumerate(plain) if name in ("entailment", "entail", "entails")]
        no = [n for n, name in enumerate(plain) if name.startswith("contradict")]
        if len(yes) != 1 or len(no) > 1:
            raise ValueError("no label, or more than one, for entailment")
        return yes[0], no[0] if no else None

    def _label_problems(self) -> list[str]:
        labels = self._labels()
        try:
            self._places(labels)
        except ValueError:
            said = ", ".join(labels) or "nothing"
            return [
                f"the model '{self.model}' has no label for entailment (its labels: {said}): give "
                "a model of natural language inference, or say in labels what its scores mean, "
                "such as [contradiction, entailment, neutral]"
            ]
        return []


def _own_length(model: Any) -> int | None:
    """Longest pair the model itself allows, by whatever name its library has for it."""
    name = "max_seq_length" if hasattr(type(model), "max_seq_length") else "max_length"
    found = getattr(model, name, None)
    return None if found is None else int(found)

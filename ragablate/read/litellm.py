"""A chat model of any provider that litellm knows."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragablate.errors import MissingExtra
from ragablate.functions import one_line
from ragablate.read.chat_settings import api_key, endpoint_problems, key_problems
from ragablate.read.http_exchange import Ask, Endpoint, Manners
from ragablate.read.http_reply import Meaning, Transient
from ragablate.read.openai_chat import OpenAIChat

_NO_ADDRESS = "http://none"
_NO_KEY = "EMPTY"
"""Sent to an address of the user's own that needs no key, so that none of the environment is."""
_LITELLMS = {
    "api_base", "api_key", "base_url", "caching", "custom_llm_provider", "fallbacks",
    "max_retries", "mock_response", "num_retries", "timeout",
}  # fmt: skip


class LiteLLM(OpenAIChat):
    """A model that is asked through litellm: Anthropic, Bedrock, Gemini, Mistral, and so on.

    What fails, what an outcome is, how it is retried, counted and paid for is as of
    ``OpenAIChat``; only the way to the model is litellm's, and litellm itself asks once. Where
    a provider reports no token counts, those of an answer are litellm's own estimate.

    Args:
        model: As litellm names it, ``provider/model``.
        base_url: Address of the provider; ``None`` is litellm's own for it.
        api_key_env: As of ``OpenAIChat``; ``None`` leaves it to litellm, which looks for the
            provider's variable, or sends none where ``base_url`` is given.
        prompt: As of ``OpenAIChat``, as is everything that follows.
        sentinel: What the model is told to write to decline.
        temperature: 0 asks for the likeliest token; ``None`` leaves it to the provider.
        top_p: Smallest set of tokens with this share of the probability.
        max_tokens: Longest answer in tokens.
        stop: Texts that end an answer.
        send_seed: Whether the decode's seed is sent; a provider that knows none refuses it.
        extra_body: Further arguments of every request, such as ``{top_k: 1}``.
        runtime: See ``Manners``; and ``prices``.
    """

    def __init__(  # noqa: PLR0913
        self,
        model: str,
        base_url: str | None = None,
        api_key_env: str | None = None,
        prompt: str = "plain",
        sentinel: str = "NO ANSWER",
        temperature: float | None = 0.0,
        top_p: float | None = None,
        max_tokens: int | None = 256,
        stop: Sequence[str] = (),
        send_seed: bool = False,
        extra_body: Mapping[str, Any] | None = None,
        runtime: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            base_url or "",
            model,
            api_key_env,
            prompt,
            sentinel,
            temperature,
            top_p,
            max_tokens,
            stop,
            send_seed,
            extra_body,
            runtime,
        )

    def _asking_problems(self) -> list[str]:
        found = endpoint_problems(self.base_url or _NO_ADDRESS, self.model)
        found += key_problems(self.api_key_env)
        found += [
            f"extra_body.{name}: the reader sets it itself, leave it out"
            for name in sorted(_LITELLMS & {*(self.extra_body or {})})
        ]
        if not importlib.util.find_spec("litellm"):
            found.append(str(MissingExtra("litellm", "litellm", "the reader litellm")))
        return found

    def _endpoint(self, manners: Manners) -> Endpoint:
        return _Provider(self._address() or "", api_key(self.api_key_env), manners)


class _Provider(Endpoint):
    """An endpoint that litellm talks to."""

    def __init__(self, url: str, key: str, manners: Manners) -> None:
        super().__init__(url, key, manners)
        # Here, where no time limit runs yet: it takes seconds to load.
        self._litellm = _library()
        self._where = {"api_base": url or None, "api_key": key or (_NO_KEY if url else None)}

    async def close(self) -> None:
        """End all connections and what else litellm left running on the loop that runs now."""
        await _settle(self._litellm)

    async def _once(self, ask: Ask) -> Meaning:
        start = time.perf_counter()
        sent = json.loads(ask.body)
        limit = self.manners.timeout_s
        try:
            async with asyncio.timeout(limit):
                reply = await self._litellm.acompletion(
                    **sent, **self._where, num_retries=0, max_retries=0, timeout=limit
                )
        except TimeoutError:
            return Transient(f"no whole reply within runtime.timeout_s={limit:g}")
        except Exception as error:
            return _refused(ask, error, time.perf_counter() - start)
        body = reply.model_dump_json().encode()
        return ask.reading.meaning(200, {}, body, time.perf_counter() - start)


def _refused(ask: Ask, error: Exception, took: float) -> Meaning:
    """What an exception of litellm means, read as the reply that it was made from."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        raise error
    headers = dict(getattr(getattr(error, "response", None), "headers", None) or {})
    if (status >= 500 or status == 408) and not headers:
        return Transient(f"no reply: {one_line(error)}")
    said = {"message": str(error), "code": _code(error), "type": getattr(error, "type", None)}
    return ask.reading.meaning(status, headers, json.dumps({"error": said}).encode(), took)


def _code(error: Exception) -> str | None:
    """The name of an error that litellm tells by its class, or the provider's own."""
    names = {
        "ContextWindowExceededError": "context_length_exceeded",
        "ContentPolicyViolationError": "content_filter",
    }
    body = getattr(error, "body", None)
    told = body.get("code") if isinstance(body, Mapping) else getattr(error, "code", None)
    code = names.get(type(error).__name__, told)
    return code if isinstance(code, str) else None


@lru_cache(maxsize=1)
def _library() -> Any:
    """litellm, told to keep to itself: no prices and no telemetry over the network."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with warnings.catch_warnings():
        # Its own models make pydantic warn while it loads, much of it at the first call.
        warnings.simplefilter("ignore")
        import litellm

        logging.getLogger("LiteLLM").setLevel(logging.ERROR)
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        # httpx, which closes with its loop.
        litellm.disable_aiohttp_transport = True
        asyncio.run(_first(litellm))
    return litellm


async def _first(library: Any) -> None:
    asked = [{"role": "user", "content": "?"}]
    await library.acompletion("openai/none", asked, api_key=_NO_KEY, mock_response="!")
    await _settle(library)


async def _settle(library: Any) -> None:
    """Leave nothing of litellm's behind: its clients and its log belong to the loop that runs."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    await library.close_litellm_async_clients()
    library.in_memory_llm_clients_cache.flush_cache()
    await GLOBAL_LOGGING_WORKER.stop(discard_pending=True, timeout=1.0)
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)

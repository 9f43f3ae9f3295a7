"""What a reply of an OpenAI-compatible endpoint means.

200, a chat completion                        an answer, also where it is empty or cut off
200 without one; 408, 409, 425, 429, 5xx      transient: infrastructure, asked again
4xx, the prompt exceeds the context           an outcome of the pipeline
4xx, a content filter refused the prompt      an outcome of the pipeline
401, 402, 403, 404, 405, 3xx, no quota left   the request is wrong, whatever the prompt
any other 4xx                                 unexplained: the prompt, or every prompt
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragablate.errors import AdapterError
from ragablate.read.chat import declined
from ragablate.read.http_retry import retry_after
from ragablate.records import Answer, Failure

_PASSING = {408, 409, 425, 429}
_WRONG: Mapping[int, str] = {
    401: "it does not accept the API key: check reader.api_key_env",
    402: "the account behind the API key cannot pay",
    403: "the API key may not use this model: check reader.model and reader.api_key_env",
    404: "it knows no such address or model: check reader.base_url and reader.model",
    405: "it takes no chat completions at this address: check reader.base_url",
}
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context length exceeded"
    r"|(?:exceeds?|longer than|larger than)\b.{0,60}\bcontext (?:length|size|window)"
    r"|context (?:length|size|window)\b.{0,40}\bexceeded"
    r"|(?:prompt|input|messages?)\b.{0,20}\btoo long|too many (?:input |prompt )?tokens"
    r"|input length\b.{0,40}\bexceeds",
    re.IGNORECASE | re.DOTALL,
)
_OWN_LIMIT = re.compile(r"max_(?:completion_|new_|output_)?tokens\W.{0,40}\btoo large", re.I)
_FILTERED = re.compile(
    r"content_filter|content_policy|content management policy|ResponsibleAIPolicy"
    r"|\bflagged\b",
    re.IGNORECASE,
)
_LONGEST = 300
_LONGEST_NAME = 200
_PLACEHOLDER_KEY = 12


@dataclass(frozen=True, slots=True)
class Transient:
    """No answer for now: infrastructure."""

    message: str
    """What was wrong."""
    wait_s: float | None = None
    """How long the endpoint asks to wait."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """The endpoint does not take the request, and does not say that this prompt is the reason."""

    message: str
    """What it says."""


Meaning = Answer | Failure | Transient | Unexplained


@dataclass(frozen=True, slots=True)
class Reading:
    """How the replies of one endpoint are read."""

    model: str
    """The model asked for, where a reply does not name one."""
    sentinel: str
    """What the model was told to write to decline."""
    key: str = ""
    """The API key, which a reply may quote and nothing may keep."""

    @property
    def where(self) -> str:
        """Who answers, for messages."""
        return f"reader: the endpoint of model '{self.model}'"

    def meaning(
        self, status: int, headers: Mapping[str, str], body: bytes, latency_s: float
    ) -> Meaning:
        """What a reply means.

        Raises:
            AdapterError: No prompt can be answered as the endpoint is asked.
        """
        content = _json(body)
        if 200 <= status < 300:
            inner = _inner_status(content)
            if inner is None:
                return self._answer(content, latency_s)
            status = inner
        if status in _PASSING or status >= 500:
            return self._passing(status, headers, content, body)
        return self._refusal(status, headers, content, body)

    def _answer(self, content: Any, latency_s: float) -> Answer | Transient:
        try:
            choice = content["choices"][0]
            message = choice["message"]
            finish = choice.get("finish_reason")
            text = _text(message.get("content") or message.get("refusal"))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            return Transient("the endpoint sent a reply that is no chat completion")
        if finish == "error":
            return Transient("the endpoint stopped with an error in the middle of the answer")
        text = self._hidden(text)
        return Answer(
            text,
            declined(text, self.sentinel),
            self._name(finish) or "unknown",
            self._served(content),
            _usage(content.get("usage")),
            latency_s,
        )

    def _served(self, content: Mapping[str, Any]) -> str:
        name = self._name(content.get("model")) or self.model
        mark = self._name(content.get("system_fingerprint"))
        return f"{name}@{mark}" if mark else name

    def _name(self, value: Any) -> str:
        text = _whole(value).strip() if isinstance(value, str) else ""
        return self._hidden(" ".join(text.split()))[:_LONGEST_NAME]

    def _passing(
        self, status: int, headers: Mapping[str, str], content: Any, body: bytes
    ) -> Transient:
        said = self._said(content, body)
        if status == 429 and "insufficient_quota" in _codes(content):
            raise AdapterError(f"{self.where} answers {status}, no quota is left{said}")
        return Transient(f"the endpoint answered {status}{said}", retry_after(headers))

    def _refusal(
        self, status: int, headers: Mapping[str, str], content: Any, body: bytes
    ) -> Failure | Unexplained:
        said = self._said(content, body)
        told = f"{_codes(content)} {said}"
        if status in (400, 413, 422) and _TOO_LONG.search(told) and not _OWN_LIMIT.search(told):
            return Failure("pipeline", f"the prompt exceeds the context of the model{said}")
        if status in (400, 403, 422) and _FILTERED.search(told):
            return Failure("pipeline", f"a content filter refused the prompt{said}")
        if status in _WRONG:
            raise AdapterError(f"{self.where} answers {status}, {_WRONG[status]}{said}")
        if status < 400:
            place = self._hidden(_whole(headers.get("location", "")))[:_LONGEST]
            raise AdapterError(
                f"{self.where} answers {status} and points to '{place}': check reader.base_url"
            )
        return Unexplained(f"the endpoint answers {status}{said}")

    def _said(self, content: Any, body: bytes) -> str:
        """The endpoint's own words, ready to end a sentence with."""
        text = _message(content)
        if content is None:
            text = re.sub(r"<[^>]*>", " ", body[:4000].decode("utf-8", "replace"))
        text = " ".join(_whole(text).split())
        if self.key:
            text = text.replace(self.key, "[API key]")
        return f": {text[:_LONGEST]}" if text else ""

    def _hidden(self, text: str) -> str:
        """``text`` without the key; a placeholder such as ``EMPTY`` may be an ordinary word."""
        return text.replace(self.key, "[API key]") if len(self.key) >= _PLACEHOLDER_KEY else text


def _inner_status(content: Any) -> int | None:
    """The real status, which some gateways put into a reply of status 200."""
    if not isinstance(content, Mapping) or content.get("choices"):
        return None
    error = content.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _text(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str | None):
        raise ValueError("no text")
    return _whole(content or "")


def _whole(text: str) -> str:
    """``text`` with what no file can hold, half of a surrogate pair, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _usage(usage: Any) -> dict[str, int]:
    if not isinstance(usage, Mapping):
        return {}
    counts = {key: usage.get(key) for key in ("prompt_tokens", "completion_tokens")}
    return {k: v for k, v in counts.items() if isinstance(v, int) and not isinstance(v, bool)}


def _codes(content: Any) -> str:
    """The machine-readable names of an error."""
    error = content.get("error", content) if isinstance(content, Mapping) else None
    if not isinstance(error, Mapping):
        return ""
    inner = error.get("innererror")
    found = [error.get("code"), error.get("type")]
    found += [inner.get("code")] if isinstance(inner, Mapping) else []
    return " ".join(code for code in found if isinstance(code, str))


def _message(content: Any) -> str:
    """What an error says, in any of the forms that are about."""
    if isinstance(content, Mapping):
        for key in ("error", "message", "detail"):
            if content.get(key):
                return _message(content[key])
        return ""
    if content is None or isinstance(content, bool | int | float):
        return ""
    return content if isinstance(content, str) else json.dumps(content)

"""Which settings of the reader ``openai_chat`` make sense."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ragablate.errors import AdapterError
from ragablate.read.prices import load_prices
from ragablate.read.ranges import Range, knob_problems, runtime_problems, stop_problems

_KNOBS: Mapping[str, Range] = {
    "temperature": Range(float, 0, 100, optional=True),
    "top_p": Range(float, 0, 1, optional=True),
    "max_tokens": Range(int, 1, 10_000_000, optional=True),
}
_RUNTIME: Mapping[str, Range] = {
    "max_concurrency": Range(int, 1, 1024),
    "requests_per_minute": Range(float, 0.001, 1_000_000_000, optional=True),
    "tokens_per_minute": Range(float, 0.001, 1_000_000_000_000, optional=True),
    "timeout_s": Range(float, 0.001, 1_000_000),
    "connect_timeout_s": Range(float, 0.001, 1_000_000),
    "retries": Range(int, 0, 100),
    "backoff_s": Range(float, 0, 3600),
    "longest_wait_s": Range(float, 0, 86400),
}
_OWN = {"model", "messages", "temperature", "top_p", "max_tokens", "stop", "seed"}
_FIXED = {"stream", "n"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def endpoint_problems(base_url: Any, model: Any) -> list[str]:
    """An address that is none, or that holds what must not be written down; a missing model."""
    found = []
    if not isinstance(model, str) or not model.strip():
        found.append("model is blank: give the name the endpoint knows the model by")
    try:
        parts = urlsplit(str(base_url))
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return [*found, "base_url is no address: give one such as http://127.0.0.1:8000/v1"]
    if parts.username is not None or parts.password is not None:
        # Not quoted: it holds a secret.
        found.append("base_url holds a user name or password: take it out, and name the "
                     "environment variable that holds the key in api_key_env")  # fmt: skip
    elif parts.query or parts.fragment:
        found.append("base_url has a part after ? or #: take it out")
    elif not right or re.search(r"\s", str(base_url)):
        found.append(
            f"base_url is '{base_url}': give the address up to where /chat/completions follows, "
            "such as http://127.0.0.1:8000/v1"
        )
    return found


def key_problems(variable: Any) -> list[str]:
    """An environment variable that is none, or that holds no key; a key is never quoted."""
    if variable is None:
        return []
    if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
        return ["api_key_env is not the name of an environment variable: give the name, such as "
                "OPENAI_API_KEY, never the key itself, and null where none is needed"]  # fmt: skip
    # What has small letters may be a key that was put in the wrong place.
    shown = f" {variable}" if variable == variable.upper() else ""
    key = api_key(variable)
    if not key:
        return [
            f"the environment variable{shown} that api_key_env names is not set: set it to the "
            "API key, or give reader.api_key_env=null where the endpoint needs none"
        ]
    if not key.isascii() or not key.isprintable() or " " in key:
        return [
            f"the environment variable{shown} that api_key_env names holds a character that "
            "stands in no API key"
        ]
    return []


def api_key(variable: str | None) -> str:
    """The key, without white space around it; empty where there is none."""
    return os.environ.get(variable, "").strip() if variable else ""


def setting_problems(reader: object) -> list[str]:
    """Settings of a reader that are out of range or of the wrong kind, one sentence each."""
    found = knob_problems(reader, _KNOBS) + stop_problems(getattr(reader, "stop", ()))
    found += _extra_problems(getattr(reader, "extra_body", None) or {})
    runtime = dict(getattr(reader, "runtime", None) or {})
    try:
        load_prices(runtime.pop("prices", None))
    except AdapterError as error:
        found.append(f"runtime.{error}")
    return found + runtime_problems(runtime, _RUNTIME)


def _extra_problems(extra: Any) -> list[str]:
    if not isinstance(extra, Mapping):
        return [f"extra_body is {extra!r}: give names and values, such as {{top_k: 40}}"]
    found = [f"extra_body.{name}: give reader.{_knob(name)} instead" for name in extra
             if name in _OWN]  # fmt: skip
    found += [
        f"extra_body.{name}: one whole answer is read at a time, leave it out"
        for name in extra
        if name in _FIXED
    ]
    return found


def _knob(name: str) -> str:
    return {"messages": "prompt", "seed": "send_seed"}.get(name, name)

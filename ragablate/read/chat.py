"""Between prompts and the messages of an OpenAI-compatible chat endpoint."""

from __future__ import annotations

import re
import string
from itertools import groupby
from typing import Any

from ragablate.records import Answer, Prompt

_MARGIN = string.punctuation + string.whitespace


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """Adjacent segments of one role as one message, joined as they are.

    Half of a surrogate pair, which JSON cannot carry, becomes U+FFFD.
    """
    joined = (
        (role, "".join(segment.text for segment in group))
        for role, group in groupby(prompt.segments, key=lambda segment: segment.role)
    )
    return [{"role": role, "content": _sendable(text)} for role, text in joined]


def answer(reply: Any, sentinel: str, model: str, latency_s: float | None = None) -> Answer:
    """What a chat completion says.

    Args:
        reply: The decoded JSON of the reply.
        sentinel: What the model was told to write to decline.
        model: What the answer's ``model`` is to be.
        latency_s: How long the reply took.

    Raises:
        ValueError: It is not a chat completion.
    """
    try:
        choice = reply["choices"][0]
        text = choice["message"]["content"] or ""
        usage = reply["usage"]
        counts = {key: int(usage[key]) for key in ("prompt_tokens", "completion_tokens")}
        finish = str(choice["finish_reason"])
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"no chat completion: {error!r}") from error
    return Answer(text, declined(text, sentinel), finish, model, counts, latency_s)


def declined(text: str, sentinel: str) -> bool:
    """Whether an answer is an abstention.

    It is where the sentinel stands in it, letter for letter and as whole words, and where it
    is nothing but the sentinel, in any case and between any punctuation.
    """
    if not sentinel.strip():
        return False
    if re.search(rf"(?<!\w){re.escape(sentinel.strip())}(?!\w)", text):
        return True
    return text.strip(_MARGIN).casefold() == sentinel.strip(_MARGIN).casefold()


def _sendable(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

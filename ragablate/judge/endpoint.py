"""The chat model that judges: asked the way a reader is, and never about who answered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragablate.codec import digest
from ragablate.errors import AdapterError
from ragablate.failures import UNASKED
from ragablate.read.openai_chat import OpenAIChat
from ragablate.read.templates import Template, load_template, prompts_dir
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Failure,
    Item,
    Prompt,
    Question,
    ReadRequest,
)

Lent = Callable[[Sequence[ReadRequest]], Iterator[Item[Answer]]]
"""Answers requests, each once."""


class ChatEndpoint:
    """A chat model behind an OpenAI-compatible endpoint; see ``OpenAIChat``.

    Args:
        base_url: Address up to where ``/chat/completions`` follows.
        model: Name the endpoint knows the model by.
        api_key_env: Name of the environment variable with the API key; ``None`` sends none.
        temperature: 0 asks for the likeliest token; ``None`` leaves it to the endpoint.
        top_p: As of ``OpenAIChat``.
        max_tokens: Longest reply in tokens.
        send_seed: Whether a seed, a digest of the prompt, is sent.
        extra_body: Further fields of every request.
        runtime: As of ``OpenAIChat``.
    """

    def __init__(  # noqa: PLR0913
        self,
        base_url: str,
        model: str,
        api_key_env: str | None = None,
        temperature: float | None = 0.0,
        top_p: float | None = 1.0,
        max_tokens: int | None = 256,
        send_seed: bool = True,
        extra_body: Mapping[str, Any] | None = None,
        runtime: Mapping[str, Any] | None = None,
    ) -> None:
        self.base_url = base_url
        self.model = model
        self.api_key_env = api_key_env
        self.temperature = temperature
        self.top_p = top_p
        self.max_tokens = max_tokens
        self.send_seed = send_seed
        self.extra_body = extra_body
        self.runtime = runtime
        self._said: dict[str, Answer | Failure] = {}
        self._lent: Lent | None = None

    @property
    def reader(self) -> OpenAIChat:
        """What asks the model, with its prices and limits."""
        return self._chat()

    def lend(self, ask: Lent) -> None:
        """Have everything that is asked from now on answered by an execution.

        Args:
            ask: Answers requests from the store or by ``reader``, within a budget.
        """
        self._lent = ask

    def problems(self) -> list[str]:
        """What is missing or out of range; the endpoint is not asked."""
        return [text.replace("reader", "endpoint") for text in self._chat().problems()]

    def ask(self, prompts: Sequence[Prompt]) -> list[Answer | Failure]:
        """What is said to each prompt, equal ones asked once.

        A failure of kind ``judge`` is one that may pass: the endpoint could not be reached. One of
        kind ``pipeline`` stays: the prompt is too long for it, or is filtered.

        Raises:
            AdapterError: The endpoint does not take the key, the model or a setting, or nothing
                is answered any more.
        """
        keys = [digest(prompt.segments) for prompt in prompts]
        new = {
            key: ReadRequest(key, prompt, 1, int(key[:15], 16))
            for key, prompt in zip(keys, prompts, strict=True)
            if key not in self._said
        }
        said = {**{key: self._said[key] for key in keys if key in self._said}}
        try:
            for item in (self._lent or self._chat().read)(list(new.values())):
                said[item.id] = item.value or _judges(item.failure)
        except AdapterError as error:
            raise type(error)(str(error).replace("reader", "judge")) from error
        self._said.update({k: v for k, v in said.items() if _lasting(v)})
        return [said[key] for key in keys]

    def _chat(self) -> OpenAIChat:
        return OpenAIChat(
            self.base_url,
            self.model,
            self.api_key_env,
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            send_seed=self.send_seed,
            extra_body=self.extra_body,
            runtime=self.runtime,
        )


def _judges(failure: Failure | None) -> Failure:
    message = failure.message if failure is not None else "no reply"
    if failure is not None and failure.kind == "pipeline":
        return failure
    return Failure("judge", f"{UNASKED}: {message}")


def _lasting(said: Answer | Failure) -> bool:
    return isinstance(said, Answer) or said.kind == "pipeline"


def shipped(name_or_path: str) -> Template:
    """A template of ``conf/judge/prompts`` by its name, or one of the user's own by its path.

    Raises:
        AdapterError: There is no such file, or it does not keep to the format.
    """
    if not isinstance(name_or_path, str):
        raise AdapterError(
            f"prompt {name_or_path!r} is no name: give one of conf/judge/prompts, or the path "
            "of a file"
        )
    path = Path(name_or_path)
    if path.suffix or len(path.parts) > 1:
        return load_template(name_or_path)
    folder = prompts_dir().parent.parent / "judge" / "prompts"
    file = folder / f"{name_or_path}.txt"
    if not name_or_path or not file.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.txt")))
        raise AdapterError(
            f"prompt '{name_or_path}' is unknown: give one of {known}, or the path of a file "
            "such as prompts/mine.txt"
        )
    return load_template(str(file))


def template_problems(*names: str) -> list[str]:
    """Templates that are missing or do not keep to the format."""
    found = []
    for name in names:
        try:
            shipped(name)
        except AdapterError as error:
            found.append(str(error))
    return found


def template_identity(**names: str) -> dict[str, object]:
    """Templates by their content, under the names of the arguments that give them."""
    found: dict[str, object] = {}
    for knob, name in names.items():
        try:
            found[knob] = {"sha256": shipped(name).digest}
        except AdapterError:
            found[knob] = {"missing": name}
    return found


def filled(template: Template, line: str, texts: Sequence[str]) -> Prompt:
    """A prompt about texts, numbered from 1, that can neither close their delimiters nor give
    orders outside them.

    Args:
        template: With places for the line and the texts.
        line: Put in as a JSON string, so that it stays one quoted line whatever it holds.
        texts: Each between its own delimiters.
    """
    passages = tuple(ContextPassage(str(n), text, text) for n, text in enumerate(texts, 1))
    quoted = json.dumps(" ".join(line.split()), ensure_ascii=False)
    return template.render(Question("", quoted), Context(passages), "")

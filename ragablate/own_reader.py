"""Readers that another stage asks: a rewriter's, a chunker's, a gate's, a judge's.

A constructor argument called ``reader``, or a member of one called ``readers``, may hold the
config of a reader. The runner builds it like any reader, hands the adapter an ``OwnReader`` in
its place, and answers what the adapter asks it from the store and within the plan's budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ragablate.protocols import Reader
from ragablate.records import Answer, Context, Item, Prompt, Question, ReadRequest

_METHODS = ("chunk", "rewrite", "retrieve", "rerank", "decide", "assemble", "intervene", "judge")


class OwnReader:
    """A reader in the hands of another stage; it keeps the protocol of a reader.

    Args:
        reader: What is asked.
        fingerprint: Of the reader alone: equal prompts to equal readers share an answer,
            whichever stage asks.
    """

    def __init__(self, reader: Reader, fingerprint: str) -> None:
        self.reader = reader
        self.fingerprint = fingerprint
        self._ask: Callable[[OwnReader, Sequence[ReadRequest]], Iterator[Item[Answer]]] | None
        self._ask = None

    def connect(
        self, ask: Callable[[OwnReader, Sequence[ReadRequest]], Iterator[Item[Answer]]]
    ) -> None:
        """Have everything that is asked from now on answered by an execution."""
        self._ask = ask

    def prompt(self, question: Question, context: Context) -> Prompt:
        """The reader's own prompt, for stages that have no wording of their own."""
        return self.reader.prompt(question, context)

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """Answers, by the execution it is connected to or else by the reader itself."""
        if self._ask is None:
            return self.reader.read(requests)
        return self._ask(self, requests)

    @property
    def stochastic(self) -> bool:
        """Whether equal prompts may get different answers."""
        return bool(getattr(self.reader, "stochastic", False))

    @property
    def remote(self) -> bool:
        """Whether it asks a model elsewhere."""
        return bool(getattr(self.reader, "remote", False))


def asked(instance: Any) -> Any:
    """The reader behind an ``OwnReader``; anything else as it is."""
    return instance.reader if isinstance(instance, OwnReader) else instance


def own_readers(adapters: Iterable[Any]) -> list[OwnReader]:
    """The readers that adapters hold, or adapters within them, each once."""
    found: dict[int, OwnReader] = {}
    todo = list(adapters)
    while todo:
        for each in _members(todo.pop()):
            if isinstance(each, OwnReader):
                found.setdefault(id(each), each)
            elif any(callable(getattr(type(each), method, None)) for method in _METHODS):
                todo.append(each)
    return list(found.values())


class Endpoint(Protocol):
    """A chat model that judges: what it is asked can be answered by an execution."""

    @property
    def reader(self) -> Reader:
        """What asks it."""
        ...

    def lend(self, ask: Callable[[Sequence[ReadRequest]], Iterator[Item[Answer]]]) -> None:
        """Have everything that is asked from now on answered by ``ask``."""
        ...


def endpoints(adapters: Iterable[Any]) -> list[Endpoint]:
    """The chat models that judges hold, or parts of judges, each once."""
    found: dict[int, Endpoint] = {}
    seen: set[int] = set()
    todo = list(adapters)
    while todo:
        for each in _members(todo.pop()):
            if callable(getattr(type(each), "lend", None)):
                found.setdefault(id(each), each)
            elif id(each) not in seen and type(each).__module__.startswith("ragablate."):
                seen.add(id(each))
                todo.append(each)
    return list(found.values())


def asked_of_models(judges: Mapping[str, tuple[Any, str]]) -> list[str]:
    """Measures of the judges that ask a chat model, by name and fingerprint given."""
    return [
        measure.name
        for judge, _ in judges.values()
        if endpoints([judge]) or own_readers([judge])
        for measure in judge.measures()
    ]


def _members(adapter: Any) -> Iterator[Any]:
    """What an adapter stores, one by one."""
    for value in getattr(adapter, "__dict__", {}).values():
        yield from value.values() if isinstance(value, Mapping) else [value]


def reader_nodes(node: Mapping[str, Any]) -> dict[tuple[str, ...], Mapping[str, Any]]:
    """Configs of readers in an adapter's own, also in adapters within it, by where they stand."""
    found: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for key, value in node.items():
        if not isinstance(value, Mapping):
            continue
        if key == "reader" and "_target_" in value:
            found[(key,)] = value
        elif key == "readers":
            found |= {(key, k): v for k, v in value.items()
                      if isinstance(v, Mapping) and "_target_" in v}  # fmt: skip
        else:
            found |= {(key, *path): inner for path, inner in reader_nodes(value).items()}
    return found

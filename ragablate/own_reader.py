"""Readers that another stage asks: a rewriter's, a chunker's, a gate's, a judge's.

A constructor argument called ``reader``, or a member of one called ``readers``, may hold the
config of a reader. The runner builds it like any reader, hands the adapter an ``OwnReader`` in
its place, and answers what the adapter asks it from the store and within the plan's budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragablate.protocols import Reader
from ragablate.records import Answer, Context, Item, Prompt, Question, ReadRequest

ARGUMENTS = ("reader", "readers")
"""Constructor arguments that may hold a reader, or several by name."""


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
    """The readers that adapters hold, each once."""
    found: dict[int, OwnReader] = {}
    for adapter in adapters:
        for name in ARGUMENTS:
            held = getattr(adapter, name, None)
            for each in held.values() if isinstance(held, Mapping) else [held]:
                if isinstance(each, OwnReader):
                    found.setdefault(id(each), each)
    return list(found.values())


def reader_nodes(node: Mapping[str, Any]) -> dict[tuple[str, ...], Mapping[str, Any]]:
    """Configs of readers in an adapter's own, by where they stand in it."""
    found: dict[tuple[str, ...], Mapping[str, Any]] = {}
    single, several = (node.get(name) for name in ARGUMENTS)
    if _builds(single):
        found[("reader",)] = single  # type: ignore[assignment]
    if isinstance(several, Mapping):
        found |= {("readers", str(k)): v for k, v in several.items() if _builds(v)}
    return found


def _builds(node: Any) -> bool:
    return isinstance(node, Mapping) and "_target_" in node

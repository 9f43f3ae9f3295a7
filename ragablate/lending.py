"""Answering what stages ask readers of their own: from the store, within the budget.

An answer is known as it is at the end of the pipeline: by reader, prompt digest, decode seed
and replicate. What a rewriter asked once is not asked again by another arm, another plan or
the execution that resumes this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ragablate.adapters import source
from ragablate.budget import Budget
from ragablate.codec import digest
from ragablate.own_reader import Endpoint, OwnReader, endpoints, own_readers
from ragablate.prompts import prompt_digest
from ragablate.reading import answers, reading_key
from ragablate.records import Answer, Item, ReadRequest
from ragablate.stages import Pending, Progress, Work
from ragablate.store import Store


def connect(adapters: Sequence[Any], lending: Lending) -> None:
    """Have the readers and chat models that stages and judges hold asked through the store."""
    for own in own_readers(adapters):
        own.connect(lending.ask)
    for endpoint in endpoints(adapters):
        reader = endpoint.reader
        asked = OwnReader(reader, digest("endpoint", _settings(endpoint), source(type(reader))))
        endpoint.lend(partial(lending.ask, asked))


def _settings(endpoint: Endpoint) -> dict[str, Any]:
    """What a chat model's replies depend on besides the prompt."""
    own = {key: value for key, value in vars(endpoint).items() if not key.startswith("_")}
    return {**own, "runtime": None}


@dataclass(frozen=True, slots=True)
class Lending:
    """Asks readers on behalf of the stages that hold them."""

    store: Store
    """Where answers are kept; infrastructure failures are not."""
    budget: Budget
    """Of the execution: calls of stages and calls for answers add up."""
    progress: Progress
    """Told as answers arrive, under the stage ``ask``."""

    def ask(self, own: OwnReader, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """One answer a request; requests with equal prompts, seeds and replicates share one.

        Raises:
            AdapterError: The reader broke its contract, or cannot be asked.
            BudgetError: The budget allows no further call.
        """
        wanted: dict[str, list[ReadRequest]] = {}
        for request in requests:
            key = reading_key(prompt_digest(request.prompt), request.seed, request.replicate)
            wanted.setdefault(key, []).append(request)
        cheap = bool(getattr(own.reader, "cheap", False))
        work = Work("read", own.fingerprint, Item[Answer], own.reader.read, cheap)
        pending = Pending(
            work,
            {f"{own.fingerprint}/{k}": replace(same[0], id=k) for k, same in wanted.items()},
            self.store,
        )
        missing = [(own.reader, request) for request in pending.missing]
        with closing(self.budget.read(missing, answers)) as found:
            for done, (_, item) in enumerate(found, start=1):
                pending.take(item)
                self.progress("ask", done, len(missing))
        results = pending.finish()
        for key, same in wanted.items():
            for request in same:
                yield replace(results[f"{own.fingerprint}/{key}"], id=request.id)

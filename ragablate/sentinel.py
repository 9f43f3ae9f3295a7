"""Asking a model elsewhere again what an earlier execution stored of it.

Answers are kept for good, the model behind an endpoint is not. Where a plan takes answers of a
remote reader that were stored before it began, a seeded sample of them is asked once more, and
a difference shows that the model may be another one by now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ragablate.adapters import Pipeline
from ragablate.budget import Budget
from ragablate.codec import decode, digest, encode
from ragablate.observed import AskedAgain
from ragablate.reading import Reading, Settings, answers
from ragablate.records import Answer, Item, ReadRequest
from ragablate.seeds import decode_seed, derive
from ragablate.stages import Pending, Progress, Work
from ragablate.store import Store

ASKED_AGAIN = 20
"""Stored answers of a reader that are asked for once more."""


@dataclass(frozen=True, slots=True)
class Sentinel:
    """What a plan found stored when it began, kept so that the same plan finds it again.

    Args:
        store: Where answers and repetitions are kept.
        settings: Seed of the sample.
    """

    store: Store
    settings: Settings

    def watch(
        self, wanted: Sequence[Reading], pipelines: Mapping[str, Pipeline]
    ) -> dict[str, list[Reading]]:
        """By reader the answers to ask for again; called before anything is read.

        What the plan itself stored before it was interrupted is none of them.
        """
        found: dict[str, list[Reading]] = {}
        plan = _plan(wanted)
        for own in _remote(pipelines):
            of = {r.key: r for r in wanted if r.key.partition("/")[0] == own}
            stored = self.store.shelf("read", own)
            stored.refresh()
            notes = self.store.shelf("sentinel", own)
            notes.refresh()
            note = notes.entries.get(plan)
            if note is not None:
                some = decode(note.value, tuple[str, ...])
            else:
                known = [key for key in of if key in stored.entries]
                some = tuple(sorted(known, key=self._place)[:ASKED_AGAIN])
                notes.put(plan, encode(some))
            if some:
                found[own] = [of[key] for key in some]
        return found

    def ask(
        self,
        wanted: Sequence[Reading],
        watched: Mapping[str, Sequence[Reading]],
        pipelines: Mapping[str, Pipeline],
        stored: Mapping[str, Item[Answer]],
        budget: Budget,
        progress: Progress,
    ) -> dict[str, AskedAgain]:
        """By arm, what its reader said when it was asked again.

        Args:
            wanted: Every decode of the plan.
            watched: From ``watch``.
            pipelines: By arm.
            stored: Answers of the plan by reading key.
            budget: Of the execution: repetitions count like any call.
            progress: Told as answers arrive.

        Raises:
            AdapterError: The reader cannot be asked.
            BudgetError: The limits allow no further call.
        """
        readers = _remote(pipelines)
        shelves = {own: digest("asked again", own, _plan(wanted)) for own in watched}
        found = {
            own: self._again(shelves[own], readers[own], some, stored, budget, progress)
            for own, some in watched.items()
        }
        return {
            arm: found[pipeline.fingerprints["reader"]]
            for arm, pipeline in pipelines.items()
            if pipeline.fingerprints["reader"] in found
        }

    def _again(
        self,
        shelf: str,
        reader: Any,
        some: Sequence[Reading],
        stored: Mapping[str, Item[Answer]],
        budget: Budget,
        progress: Progress,
    ) -> AskedAgain:
        requests = {r.key.partition("/")[2]: self._request(r) for r in some}
        # Kept by the plan: another one, at another time, asks anew.
        work: Work[ReadRequest, Answer] = Work("asked_again", shelf, Item[Answer], reader.read)
        pending = Pending(work, requests, self.store)
        asks = [(reader, request) for request in pending.missing]
        with closing(budget.read(asks, answers)) as said:
            for done, (_, item) in enumerate(said, start=1):
                pending.take(item)
                progress("asked_again", done, len(asks))
        again = pending.finish()
        pairs = [
            (r.prepared.question.qid, stored[r.key].value, again[r.key.partition("/")[2]].value)
            for r in some
        ]
        # What fails this time says nothing of the model.
        both = [(qid, a, b) for qid, a, b in pairs if a is not None and b is not None]
        return AskedAgain(
            asked=len(both),
            differ=tuple(sorted(qid for qid, a, b in both if a.text != b.text)),
            models=tuple(sorted({each.model for _, a, b in both for each in (a, b)} - {""})),
        )

    def _request(self, reading: Reading) -> ReadRequest:
        assert reading.prompt is not None
        key = reading.key.partition("/")[2]
        qid = reading.prompt.qid
        seed = decode_seed(self.settings.seed, qid, reading.replicate)
        return ReadRequest(key, reading.prompt, reading.replicate, seed)

    def _place(self, key: str) -> tuple[int, str]:
        return derive(self.settings.seed, "asked again", key), key


def _plan(wanted: Sequence[Reading]) -> str:
    """A plan, to the readers: all it wants of any of them."""
    return digest("sentinel", sorted({reading.key for reading in wanted}))


def _remote(pipelines: Mapping[str, Pipeline]) -> dict[str, Any]:
    """Readers that ask a model elsewhere, by fingerprint."""
    return {
        p.fingerprints["reader"]: p["reader"]
        for p in pipelines.values()
        if getattr(p["reader"], "remote", False)
    }

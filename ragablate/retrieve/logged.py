"""The rankings of a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragablate.logs import Entry, read_log, read_problems
from ragablate.protocols import SearchRequest
from ragablate.recorded import recorded_digest
from ragablate.records import Corpus, Failure, Hit, Item, Ranking
from ragablate.retrieve.restrict import depth_problems


class Logged:
    """The ranking the log holds for a question; its order is kept.

    Scores are the log's where they descend strictly, else the reciprocal of the rank. A
    question without a ranking in the log has the order of what its reader was shown, where
    that is known, and is unmeasured otherwise. A passage may be ranked whose text the log
    lacks: another assembler then fails on the question and says so.

    Args:
        path: The log, as for ``dataset=traces``.
        format: How it is read.
        fields: By our name of a field, the field of the log's rows.
        depth: How many passages a ranking holds at most.
    """

    def __init__(
        self,
        path: str,
        format: str = "auto",
        fields: Mapping[str, str | None] | None = None,
        depth: int = 100,
    ) -> None:
        self.path = path
        self.format = format
        self.fields = fields
        self.depth = depth
        self._rankings: dict[str, Ranking | None] | None = None

    def problems(self) -> list[str]:
        """A file that is missing, a setting that does not exist."""
        found = read_problems(self.path, self.format, self.fields or {}, "retriever")
        return found + depth_problems(self.depth)

    def identity(self) -> dict[str, object]:
        """The log by its digest."""
        return {"path": recorded_digest(self.path)}

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """The logged ranking of each search's question."""
        if self._rankings is None:
            log = read_log(self.path, self.format, self.fields)
            first = sorted(log.entries, key=lambda e: -e.replicate)
            self._rankings = {entry.qid: _ranking(entry) for entry in first}
        for request in requests:
            qid = request.question.qid
            ranking = self._rankings.get(qid)
            if ranking is None:
                reason = f"{self.path} holds no ranking for question '{qid}'"
                yield Item(request.id, None, Failure("infrastructure", reason))
            else:
                yield Item(request.id, ranking[: self.depth])


def _ranking(entry: Entry) -> Ranking | None:
    if entry.retrieved is None:
        pids = entry.shown
        scores: list[float | None] = [None] * len(pids or ())
    else:
        found = {p.pid: p.score for p in reversed(entry.retrieved)}
        pids = tuple(dict.fromkeys(p.pid for p in entry.retrieved))
        scores = [found[pid] for pid in pids]
    if pids is None:
        return None
    pids = tuple(dict.fromkeys(pids))
    keys = [(-s if s is not None else 0.0, pid) for s, pid in zip(scores, pids, strict=False)]
    if None not in scores and keys == sorted(keys):
        return tuple(Hit(pid, s or 0.0) for pid, s in zip(pids, scores, strict=True))
    return tuple(Hit(pid, 1 / rank) for rank, pid in enumerate(pids, 1))

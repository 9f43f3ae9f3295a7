"""From the answers of a log to what is suspected of each that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ragablate.diagnose.tiers import causes
from ragablate.diagnose.tiers.judged import Asked, Judged, Read, judge
from ragablate.diagnose.tiers.metrics import metadata, metrics, suspected
from ragablate.diagnose.tiers.report import Diagnosed, TierReport
from ragablate.diagnose.tiers.thresholds import Thresholds
from ragablate.logs import Entry

Right = Callable[[Entry], bool | None]
_NO_CONTEXT = "the log does not hold the texts of its context"


def diagnose_tiers(
    entries: Iterable[Entry],
    *,
    thresholds: Thresholds | None = None,
    right: Right | None = None,
    endpoint: Asked | None = None,
    documents: Mapping[str, str] | None = None,
) -> TierReport:
    """What is suspected of every failing question, by metrics and, if asked for, by a judge.

    Args:
        entries: A log's, the first decode of each question.
        thresholds: From where on metrics pass.
        right: Whether an answer is known to be right; ``None`` where that is not known.
        endpoint: Who is asked about answers whose retrieval passes; nobody by default.
        documents: By passage id, texts for logs that hold ids alone.

    Raises:
        AdapterError: A prompt of the judged tier is missing.
    """
    thresholds = thresholds or Thresholds()
    found: dict[str, Diagnosed | None] = {}
    about: dict[str, Mapping[str, str]] = {}
    reads: dict[str, Read | None] = {}
    ungolden = 0
    for entry in entries:
        if entry.qid in found:
            continue
        values = metrics(entry)
        is_right = None if right is None else right(entry)
        shown = suspected(entry, values, is_right, thresholds)
        ungolden += values.recall is None and shown is None and entry.answerable
        found[entry.qid] = None if shown is None else Diagnosed(entry.qid, shown[0], "metrics",
                                                                shown[1])  # fmt: skip
        about[entry.qid] = metadata(entry)
        if endpoint is not None and not is_right and _passes(shown) and entry.answerable:
            reads[entry.qid] = _read(entry, documents or {})
    inconclusive: dict[str, str] = {}
    if endpoint is not None:
        inconclusive = _judged(reads, endpoint, found)
    notes = _notes(ungolden)
    return TierReport(about, tuple(d for d in found.values() if d), inconclusive, notes)


def _passes(shown: tuple[str, object] | None) -> bool:
    return shown is None or shown[0] == causes.UNDETERMINED


def _judged(
    reads: Mapping[str, Read | None], endpoint: Asked, found: dict[str, Diagnosed | None]
) -> dict[str, str]:
    """Put what the judge suspects into ``found``; by qid, why it decided nothing."""
    known = [read for read in reads.values() if read is not None]
    said: dict[str, Judged] = judge(known, endpoint)
    inconclusive = {qid: _NO_CONTEXT for qid, read in reads.items() if read is None}
    for qid, verdict in said.items():
        if verdict.cause:
            found[qid] = Diagnosed(qid, verdict.cause, "judge", {"verdicts": verdict.verdicts})
        elif verdict.inconclusive:
            inconclusive[qid] = verdict.inconclusive
    return dict(sorted(inconclusive.items()))


def _read(entry: Entry, documents: Mapping[str, str]) -> Read | None:
    """What the judge is shown; ``None`` where a text of the context is not known."""
    if entry.answer is None:
        return None
    if entry.context is not None:
        texts = tuple(passage.text for passage in entry.context)
        return Read(entry.qid, entry.question, entry.answer, texts)
    own = {p.pid: p.text for p in entry.retrieved or () if p.text is not None}
    pids = entry.shown if entry.shown is not None else tuple(p.pid for p in entry.retrieved or ())
    known = {**documents, **own}
    if not pids or any(pid not in known for pid in pids):
        return None
    return Read(entry.qid, entry.question, entry.answer, tuple(known[pid] for pid in pids))


def _notes(ungolden: int) -> tuple[str, ...]:
    if not ungolden:
        return ()
    return (
        f"{ungolden:,} questions have no gold and no metrics of their ranking: of these, errors "
        "and empty answers alone can be seen.",
    )

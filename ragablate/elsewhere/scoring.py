"""Scores of logged answers: the log's own verdicts, or the product's rules."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.judge.abstention import Abstention
from ragablate.judge.correct import Correct
from ragablate.logs import Entry
from ragablate.protocols import JudgeRequest
from ragablate.records import (
    Answer,
    Context,
    Failure,
    Gold,
    ResolvedGold,
    Trace,
)

OWN = "the log's own verdicts"
RULE = "the reference answers"


def trace_of(entry: Entry) -> Trace:
    """A logged answer as a trace, for judges that look at the answer alone."""
    failure = Failure("pipeline", entry.error) if entry.error else None
    answer = None
    if entry.answer is not None:
        answer = Answer(entry.answer, abstained=bool(entry.abstained), model=entry.model)
    elif failure is None:
        failure = Failure("infrastructure", "the log holds no answer")
    return Trace(
        arm="", qid=entry.qid, replicate=entry.replicate, question=entry.question,
        history=entry.history, searches=(), candidates=(), retrieved=(), gate=None,
        context=Context(entry.context or ()), context_digest="", frame_digest="",
        prompt_digest="", answer=answer, failure=failure,
    )  # fmt: skip


def scores(
    entries: Sequence[Entry], measure: str, phrases: Sequence[str], own: bool
) -> dict[str, tuple[float | None, ...]]:
    """By qid, one score a decode, in order.

    Args:
        entries: One arm's.
        measure: Its name.
        phrases: What counts as declining.
        own: Whether the log's own verdicts are taken; what it does not judge is unmeasured.
    """
    found: dict[str, list[tuple[int, float | None]]] = {}
    for entry in entries:
        value = entry.verdicts.get(measure) if own else ruled(entry, phrases)
        found.setdefault(entry.qid, []).append((entry.replicate, value))
    return {
        qid: tuple(value for _, value in sorted(values, key=lambda pair: pair[0]))
        for qid, values in found.items()
    }


def declined(entry: Entry, phrases: Sequence[str]) -> bool | None:
    """Whether the answer declines; ``None`` where there is none."""
    if entry.abstained is not None or entry.answer is None:
        return entry.abstained
    item = next(iter(Abstention(phrases).judge([_request(entry)])))
    value = item.value[0].value if item.value else None
    return None if value is None else value >= 0.5


def shown_gold(entry: Entry, gold: tuple[tuple[str, ...], ...]) -> float | None:
    """1 where every part of the gold was shown, by id; ``None`` where the log cannot say.

    A passage that was cut short may have lost the words that matter, so it decides nothing.
    """
    if not entry.answerable or not gold or entry.shown is None:
        return None
    cut = {p.pid for p in entry.context or () if p.truncated or p.removed}
    shown = set(entry.shown)
    if not all(shown.intersection(part) for part in gold):
        return 0.0
    return 1.0 if all((shown - cut).intersection(part) for part in gold) else None


def ruled(entry: Entry, phrases: Sequence[str]) -> float | None:
    """Right or wrong by the reference answers; ``None`` without any."""
    return Correct(phrases).measured(_request(entry))[0]


def _request(entry: Entry) -> JudgeRequest:
    gold = Gold(entry.qid, (), entry.references, entry.answerable)
    return JudgeRequest(entry.qid, trace_of(entry), gold, ResolvedGold(entry.qid))

"""What judges have in common: one item per request, and what a failure is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ragablate.protocols import JudgeRequest
from ragablate.records import Claim, Failure, Item, Measure, Trace, Verdict

Measured = tuple[float | None, str]
"""A value in [0, 1] and what it rests on, or ``None`` and why it is unmeasured."""

Detailed = tuple[float | None, str, tuple[Claim, ...]]
"""The same, with what was checked one by one."""

Items = Iterator[Item[tuple[Verdict, ...]]]
"""What a judge answers."""


def verdicts(
    requests: Sequence[JudgeRequest],
    measures: Sequence[Measure],
    measure: Callable[[JudgeRequest], Mapping[str, Measured | Detailed]],
) -> Items:
    """One item per request, its verdicts in the order of ``measures``."""
    for request in requests:
        yield item(request, measures, measure(request))


def item(
    request: JudgeRequest,
    measures: Sequence[Measure],
    measured: Mapping[str, Measured | Detailed],
) -> Item[tuple[Verdict, ...]]:
    """The verdicts of one request, in the order of ``measures``."""
    trace = request.trace
    return Item(
        request.id,
        tuple(Verdict(trace.qid, trace.replicate, m.name, *measured[m.name]) for m in measures),
    )


def same(measures: Sequence[Measure], measured: Measured) -> dict[str, Measured]:
    """``measured`` for every one of ``measures``."""
    return {m.name: measured for m in measures}


def no_answer(trace: Trace) -> Measured | None:
    """What an answer that does not exist scores, or ``None`` where there is one.

    A failure of the pipeline is an outcome, worth 0; any other is unmeasured. A gate that
    did not go on is no failure.
    """
    if trace.failure is not None:
        return failed(trace.failure)
    if trace.answer is None and not gate_declined(trace):
        return None, "no answer was recorded"
    return None


def unspoken(trace: Trace, abstained: bool) -> Measured | None:
    """Why an answer says nothing that could be checked, or ``None`` where it says something."""
    if abstained:
        return None, "abstained"
    if trace.failure is not None:
        return None, failed(trace.failure)[1]
    if trace.answer is None:
        return None, "no answer was recorded"
    return None if trace.answer.text.strip() else (None, "empty answer")


def never_ranked(trace: Trace) -> Measured | None:
    """What the ranking of a question scores that failed before it was ranked, else ``None``.

    A question that failed before it reached the reader has no prompt.
    """
    if trace.failure is None or trace.prompt_digest or trace.retrieved:
        return None
    return failed(trace.failure)


def never_assembled(trace: Trace) -> Measured | None:
    """What the context of a question scores that failed before it was assembled, else ``None``."""
    if trace.failure is None or trace.prompt_digest or trace.context.passages:
        return None
    return failed(trace.failure)


def failed(failure: Failure) -> Measured:
    """What a failure scores: 0 where the pipeline itself failed, else unmeasured."""
    value = 0.0 if failure.kind == "pipeline" else None
    return value, f"{failure.kind} failure: {failure.message or 'no message'}"


def gate_declined(trace: Trace) -> bool:
    """Whether the gate did not let the question go on, so that no reader was called."""
    return trace.gate is not None and trace.gate.outcome != "go"

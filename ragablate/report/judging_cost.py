"""What the chat models of judges may take, found by judging made-up answers without asking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragablate.own_reader import Endpoint, endpoints
from ragablate.protocols import JudgeRequest
from ragablate.read.prices import Estimate
from ragablate.records import Answer, Context, Item, Question, ReadRequest, ResolvedGold, Trace

if TYPE_CHECKING:
    from ragablate.checked import Checked

WORDS = 60
"""Length of the made-up answers."""


@dataclass(frozen=True, slots=True)
class JudgesEstimate:
    """What judging all answers of a plan takes, where they are as long as ``WORDS`` words."""

    calls: int
    """Questions to the models; stored and equal ones take none."""
    prompt_tokens: int
    """Of all prompts together, without the models' own tokenizers."""
    completion_tokens: int | None
    """Of all replies together at most; ``None`` without a longest reply."""
    usd: float | None
    """US dollars; ``None`` without a price."""


@dataclass(slots=True)
class _Recorder:
    """Notes what a model would be asked, and says NO, after which most is asked."""

    endpoint: Endpoint
    asked: list[ReadRequest] = field(default_factory=list)

    def __call__(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        self.asked += requests
        for request in requests:
            yield Item(request.id, Answer("NO"))


def judges_estimate(
    checked: Checked, contexts: Sequence[tuple[Question, Context]], answers: int
) -> JudgesEstimate | None:
    """Calls, tokens and cost of the judges that ask a chat model; ``None`` where none does.

    Args:
        checked: The plan.
        contexts: Some of its questions with a context as an arm shows it.
        answers: How many answers the plan has at most.
    """
    judges = [deepcopy(judge) for judge, _ in checked.judges.values() if endpoints([judge])]
    if not judges or not contexts:
        return None
    recorders = [_Recorder(e) for e in endpoints(judges)]
    for recorder in recorders:
        recorder.endpoint.lend(recorder)
    requests = [_made_up(checked, q, context) for q, context in contexts]
    for judge in judges:
        list(judge.judge(requests))
    each = [(len(r.asked), _estimate(r)) for r in recorders]
    scale = answers / len(contexts)
    tokens = [e.completion_tokens for _, e in each if e.completion_tokens is not None]
    usd = [e.usd for _, e in each if e.usd is not None]
    return JudgesEstimate(
        round(scale * sum(calls for calls, _ in each)),
        round(scale * sum(e.prompt_tokens for _, e in each)),
        round(scale * sum(tokens)) if len(tokens) == len(each) else None,
        scale * sum(usd) if len(usd) == len(each) else None,
    )


def _estimate(recorder: _Recorder) -> Estimate:
    reader: Any = recorder.endpoint.reader
    found: Estimate = reader.estimate([request.prompt for request in recorder.asked])
    return found


def _made_up(checked: Checked, question: Question, context: Context) -> JudgeRequest:
    """An answer that repeats its context, as an arm might give it."""
    words = " ".join(p.body for p in context.passages).split() or question.text.split()
    answer = Answer(" ".join((words * WORDS)[:WORDS]))
    trace = Trace(
        arm="", qid=question.qid, replicate=1, question=question.text, history=question.history,
        searches=(), candidates=(), retrieved=(), gate=None, context=context, context_digest="",
        frame_digest="", prompt_digest="?", answer=answer, failure=None,
    )  # fmt: skip
    gold = checked.dataset.gold[question.qid]
    resolved = ResolvedGold(question.qid, answerable=gold.answerable)
    return JudgeRequest(question.qid, trace, gold, resolved)


def in_words(found: JudgesEstimate) -> str:
    """An estimate on one line."""
    said = (
        f"about {found.calls:,} calls where answers have {WORDS} words, about "
        f"{found.prompt_tokens:,} tokens of prompts"
    )
    if found.completion_tokens is not None:
        said += f" and at most {found.completion_tokens:,} of replies"
    if found.usd is None:
        return f"{said}; no cost without endpoint.runtime.prices."
    return f"{said}; at most about {found.usd:.2g} USD."

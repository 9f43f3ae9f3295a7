from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ragablate.protocols import JudgeRequest
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Failure,
    GateDecision,
    Gold,
    GoldPassage,
    Hit,
    ResolvedAlternative,
    ResolvedGold,
    Trace,
)

PHRASES = ("I don't know", "the context does not", "* cannot be determined", "我不知道", "لا أعرف")


def shown(pid: str, text: str, truncated: bool = False) -> ContextPassage:
    return ContextPassage(pid, text, text, truncated)


def make_request(
    answer: str | Answer | None = "an answer",
    *,
    references: Sequence[str] = ("Paris",),
    answerable: bool = True,
    passages: Sequence[tuple[str, str]] = (),
    retrieved: Sequence[str] = (),
    candidates: Sequence[str] = (),
    gold: Sequence[Sequence[str]] = (),
    gold_text: str = "gold",
    failure: Failure | None = None,
    gate: GateDecision | None = None,
    prompted: bool = True,
    question: str = "Which one?",
    rid: str = "r1",
    qid: str = "q1",
) -> JudgeRequest:
    """One answer to judge. ``gold`` lists parts, each a list of alternative pids."""
    if isinstance(answer, str):
        answer = Answer(answer)
    parts = tuple(
        tuple(
            ResolvedAlternative((GoldPassage(shown(pid, gold_text), (gold_text,)),)) for pid in part
        )
        for part in gold
    )
    trace = Trace(
        arm="",
        qid=qid,
        replicate=1,
        question=question,
        history=(),
        searches=(question,),
        candidates=tuple(Hit(pid, 1.0) for pid in candidates),
        retrieved=tuple(Hit(pid, 1.0) for pid in retrieved),
        gate=gate,
        context=Context(tuple(shown(pid, text) for pid, text in passages)),
        context_digest="c",
        frame_digest="f" if prompted else "",
        prompt_digest="p" if prompted else "",
        answer=answer,
        failure=failure,
    )
    return JudgeRequest(
        rid,
        trace,
        Gold(qid, answers=tuple(references), answerable=answerable),
        ResolvedGold(qid, parts, answerable),
    )


def measured(judge: Any, request: JudgeRequest) -> dict[str, tuple[float | None, str]]:
    [item] = judge.judge([request])
    assert item.id == request.id
    assert [v.measure for v in item.value] == [m.name for m in judge.measures()]
    return {v.measure: (v.value, v.reason) for v in item.value}


@pytest.fixture(scope="session")
def request_of() -> Callable[..., JudgeRequest]:
    return make_request


@pytest.fixture(scope="session")
def verdict() -> Callable[[Any, JudgeRequest], dict[str, tuple[float | None, str]]]:
    return measured


@pytest.fixture(scope="session")
def value(verdict: Callable[..., dict[str, tuple[float | None, str]]]) -> Callable[..., Any]:
    """The value of a judge's first measure, or of the named one."""

    def look(judge: Any, request: JudgeRequest, name: str = "") -> float | None:
        return verdict(judge, request)[name or judge.measures()[0].name][0]

    return look


@pytest.fixture(scope="session")
def phrases() -> tuple[str, ...]:
    return PHRASES

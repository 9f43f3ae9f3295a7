"""Adapters that break what a causal claim rests on, each in one way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import scripted_world

from ragablate.assemble.ranked import Ranked
from ragablate.judge.correct import Correct
from ragablate.protocols import AssembleRequest, JudgeRequest
from ragablate.read.evidence import show, shown
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Corpus,
    Failure,
    Item,
    Prompt,
    Question,
    ReadRequest,
    Segment,
    Verdict,
)
from ragablate.seeds import derive


class Reader(scripted_world.Reader):
    """The scripted reader with two knobs, and with one fault.

    ``clock`` prints the time in its prompt, ``count`` the number of passages; ``short`` puts
    only the beginning of every passage into it. ``cache`` keeps its first answer to every
    prompt, whatever the seed, and ``memo`` its first answer to every question. ``drift`` gets
    worse with every call, ``replaced`` answers as another model after its first calls.
    ``length`` stops at the length limit where it sees no gold, ``window`` reads no more than
    5 tokens, ``timeout`` fails once, ``dead`` always.
    """

    calls = 0

    def __init__(
        self,
        script: str,
        fault: str = "",
        style: str = "plain",
        temperature: float = 0.0,
        remote: bool = False,
    ) -> None:
        super().__init__(script, fault)
        self.style = style
        self.temperature = temperature
        self.remote = remote
        self._kept: dict[str, str] = {}

    @property
    def stochastic(self) -> bool:
        """Whether it samples."""
        return self.temperature > 0

    def prompt(self, question: Question, context: Context) -> Prompt:
        """The scripted prompt, spoilt where the fault lies in it."""
        if self.fault == "short":
            cut = [replace(p, text=p.text[:12], body=p.body[:12]) for p in context.passages]
            context = replace(context, passages=tuple(cut))
        prompt = show(question, context, f"Answer in a {self.style} style.")
        line = {
            "clock": f"Now it is {time.time_ns()}.\n",
            "count": f"Found {len(context.passages)} passages.\n",
        }.get(self.fault)
        return prompt if line is None else _headed(prompt, line)

    def answer(self, request: ReadRequest) -> Answer:
        """The scripted answer, spoilt where the fault lies in it."""
        Reader.calls += 1
        told = self.questions[request.prompt.qid]
        bodies = [p.body for p in shown(request.prompt)]
        text = self._sampled(self.said(told, bodies), request)
        if self.fault in ("cache", "memo"):
            key = repr(request.prompt.segments) if self.fault == "cache" else request.prompt.qid
            text = self._kept.setdefault(key, text)
        if self.fault == "drift" and derive(0, request.id) % 200 < Reader.calls:
            text = "The word must be wrongly."
        return Answer(
            text,
            finish_reason="length" if self._stops(told, bodies) else "stop",
            model="fake-2" if self.fault == "replaced" and Reader.calls > 30 else "fake-1",
            usage=self._counted(bodies),
        )

    def read(self, requests: Sequence[ReadRequest]) -> Iterator[Item[Answer]]:
        """One answer a request; one of them may time out."""
        for number, request in enumerate(requests):
            if self.fault == "dead" or (self.fault == "timeout" and number == 0):
                yield Item(request.id, None, Failure("infrastructure", "timed out"))
            else:
                yield Item(request.id, self.answer(request))

    def _sampled(self, text: str, request: ReadRequest) -> str:
        return f"{text} Sample {request.seed % 1000}." if self.temperature else text

    def _counted(self, bodies: Sequence[str]) -> dict[str, int]:
        if self.fault != "window":
            return {}
        return {"prompt_tokens": min(5, 1 + sum(len(body.split()) for body in bodies))}

    def _stops(self, told: Mapping[str, Any], bodies: Sequence[str]) -> bool:
        return self.fault == "length" and scripted_world.fact(told["number"]) not in bodies


def _headed(prompt: Prompt, line: str) -> Prompt:
    head, *rest = prompt.segments
    return replace(prompt, segments=(Segment(head.role, line + head.text), *rest))


class CuttingAssembler(Ranked):
    """Shows only the beginning of gold passages, under their own ids and as if whole."""

    def assemble(
        self, corpus: Corpus, requests: Sequence[AssembleRequest]
    ) -> Iterator[Item[Context]]:
        """The context as it should be, with the gold cut."""
        for item in super().assemble(corpus, requests):
            context = item.value
            assert context is not None
            yield Item(item.id, replace(context, passages=tuple(map(_cut, context.passages))))


def _cut(passage: ContextPassage) -> ContextPassage:
    if not passage.pid.startswith("g"):
        return passage
    return replace(passage, text=passage.text[:12], body=passage.body[:12])


class Judge(Correct):
    """The rule of the shipped judge, with a value that is no score on one question."""

    def __init__(self, value: str, phrases: Sequence[str] = ()) -> None:
        super().__init__(phrases)
        self.value = value

    def judge(self, requests: Sequence[JudgeRequest]) -> Iterator[Item[tuple[Verdict, ...]]]:
        """Verdicts, the first of which is spoilt."""
        for number, item in enumerate(super().judge(requests)):
            if number or item.value is None:
                yield item
            else:
                yield Item(item.id, tuple(replace(v, value=float(self.value)) for v in item.value))

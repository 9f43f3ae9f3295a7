"""The second tier: closed questions to a chat model, which stop at the first that fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragablate.diagnose.tiers import causes
from ragablate.errors import AdapterError
from ragablate.judge.endpoint import filled, shipped
from ragablate.records import Answer, Failure, Prompt

_STEPS = (
    ("answerable", causes.CONTEXT_INSUFFICIENT),
    ("grounded", causes.HALLUCINATION),
    ("complete", causes.INCOMPLETE),
)
"""Prompt of each question, and what is suspected where the reply is NO."""
_REPLY = re.compile(r"\W*(yes|no)\W*", re.IGNORECASE)
_TOGETHER = 64


class Asked(Protocol):
    """What is asked; see ``ragablate.judge.endpoint.ChatEndpoint``."""

    def ask(self, prompts: Sequence[Prompt]) -> list[Answer | Failure]:
        """What is said to each prompt."""


@dataclass(frozen=True, slots=True)
class Read:
    """What the judge is shown of one question."""

    qid: str
    """The question."""
    question: str
    """Its text."""
    answer: str
    """What was said."""
    passages: tuple[str, ...]
    """Texts of what the reader was shown."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge made of one question."""

    cause: str
    """What is suspected; empty where every reply was YES, or one decided nothing."""
    verdicts: Mapping[str, str]
    """By question asked, ``yes``, ``no``, or what came instead."""
    inconclusive: str
    """Why nothing was decided; empty where it was."""


def judge(reads: Iterable[Read], endpoint: Asked) -> dict[str, Judged]:
    """Ask of every question, in order: is the context enough, is every claim supported, is the
    question addressed in full. The first NO is what is suspected.

    A reply that is neither YES nor NO, and an endpoint that does not answer, leave a question
    inconclusive, which is no failure.
    """
    open_ = {read.qid: read for read in reads}
    verdicts: dict[str, dict[str, str]] = {qid: {} for qid in open_}
    found: dict[str, Judged] = {}
    for name, cause in _STEPS:
        for qid, reply in _replies(name, open_, endpoint).items():
            verdicts[qid][name] = reply
            if reply == "no":
                found[qid] = Judged(cause, verdicts[qid], "")
            elif reply != "yes":
                found[qid] = Judged("", verdicts[qid], reply)
        open_ = {qid: read for qid, read in open_.items() if qid not in found}
    return found | {qid: Judged("", verdicts[qid], "") for qid in open_}


def _replies(name: str, reads: Mapping[str, Read], endpoint: Asked) -> dict[str, str]:
    template = shipped(name)
    found: dict[str, str] = {}
    todo = list(reads.values())
    for start in range(0, len(todo), _TOGETHER):
        batch = todo[start : start + _TOGETHER]
        prompts = [filled(template, *_shown(name, read)) for read in batch]
        try:
            said: Sequence[Answer | Failure] = endpoint.ask(prompts)
        except AdapterError as error:
            said = [Failure("judge", str(error))] * len(batch)
        found |= {read.qid: _reply(one) for read, one in zip(batch, said, strict=True)}
    return found


def _shown(name: str, read: Read) -> tuple[str, Sequence[str]]:
    if name == "complete":
        return read.question, [read.answer]
    return (read.question if name == "answerable" else read.answer), read.passages


def _reply(said: Answer | Failure) -> str:
    if isinstance(said, Failure):
        return said.message or "no reply"
    match = _REPLY.fullmatch(said.text.strip())
    return match[1].lower() if match else f"unclear reply: {said.text.strip()[:80]}"

"""How a rewriter asks its reader, and what it makes of the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ragablate.errors import AdapterError
from ragablate.protocols import RewriteRequest
from ragablate.read.templates import Template
from ragablate.records import (
    Answer,
    Context,
    ContextPassage,
    Failure,
    Item,
    Passage,
    Prompt,
    Searches,
)

FALLBACKS = ("question", "fail")
"""What happens where a reader writes nothing that can be searched."""

_PASSAGE = "<passage {n}>\n{text}\n</passage {n}>"
_QUOTES = "\"'“”„‘’«»「」`*"
_LABEL = re.compile(
    r"^(?:(?:the )?(?:standalone|rewritten|rephrased|search|full|final|new)? ?"
    r"(?:question|query|search)(?: \d+)?|q\d*|answer|output)\s*[:：]\s*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^(?:[-*•–]+|\(?\d{1,2}[.):]|\(?[a-z][.)])\s+", re.IGNORECASE)


def prompt(
    system: str,
    user: str,
    request: RewriteRequest,
    shown: Sequence[Passage] = (),
    turns: int | None = None,
) -> Prompt:
    """What the reader is asked about one question.

    ``{question}`` and ``{history}`` stand for the question and its earlier turns, one a line;
    ``{passages}`` for passages, numbered and delimited. Text from outside can close no
    delimiter and forge no turn.

    Args:
        system: Instruction.
        user: What is given.
        request: The question.
        shown: The passages.
        turns: How many of the last turns are shown; ``None`` shows all.
    """
    template = Template("", "", (("system", system), ("user", user)), _PASSAGE)
    context = Context(tuple(ContextPassage(p.pid, _titled(p), p.text) for p in shown))
    history = request.question.history
    kept = history if turns is None else history[len(history) - min(turns, len(history)) :]
    return template.render(replace(request.question, history=kept), context, "")


def searches(
    request: RewriteRequest,
    answer: Item[Answer],
    read: Callable[[str], Sequence[str]],
    fallback: str,
    also: Sequence[str] = (),
    k: int = 60,
) -> Item[Searches]:
    """The searches a reader wrote for one question.

    A reader that could not be asked leaves the question unmeasured, as its own answer would.

    Args:
        request: The question.
        answer: What the reader said.
        read: What of a text is to be searched.
        fallback: Where that is nothing, ``question`` searches the question as it was asked and
            ``fail`` is a failure of the pipeline.
        also: What is searched besides, first.
        k: How much their fusion levels the top ranks.
    """
    if answer.value is None:
        failure = answer.failure or Failure("pipeline", "the reader gave no answer")
        return Item(request.id, None, Failure(failure.kind, f"rewriter.reader: {failure.message}"))
    written = [] if answer.value.abstained else list(read(answer.value.text))
    if not written and fallback == "fail":
        reason = "the rewriter's reader wrote nothing that can be searched"
        return Item(request.id, None, Failure("pipeline", reason))
    both = (*also, *(written or [request.question.text]))
    return Item(request.id, Searches(tuple(dict.fromkeys(both)), k=k))


def first_line(text: str) -> list[str]:
    """The first line that says something, without label and quotation marks; or nothing."""
    return lines(text)[:1]


def lines(text: str) -> list[str]:
    """Lines that say something, without bullets, labels and quotation marks.

    A line that ends in a colon announces the next ones and is none of them.
    """
    found = (plain(line) for line in text.splitlines())
    return [
        line
        for line in found
        if any(char.isalnum() for char in line) and not line.endswith((":", "："))
    ]


def plain(line: str) -> str:
    """One line without bullet, label and quotation marks."""
    text = _BULLET.sub("", line.strip().strip("*_ "))
    return _LABEL.sub("", text).strip().strip(_QUOTES).strip()


def wording_problems(system: str, user: str, needed: Sequence[str], fallback: str) -> list[str]:
    """Wordings without their placeholders, and an unknown fallback."""
    found = [f"user has no {{{name}}}: put it where it belongs"
             for name in needed if f"{{{name}}}" not in user]  # fmt: skip
    if "{passages}" in system:
        found.append("system holds {passages}: put them into user")
    if fallback not in FALLBACKS:
        found.append(f"fallback is {fallback!r}: choose one of {', '.join(FALLBACKS)}")
    return found


def fusion_problems(k: object) -> list[str]:
    """A levelling that fusion cannot take."""
    if isinstance(k, int) and not isinstance(k, bool) and k >= 0:
        return []
    return [f"k is {k!r}: give a whole number of at least 0"]


def check(problems: Sequence[str]) -> None:
    """Raise AdapterError with the first problem."""
    if problems:
        raise AdapterError(f"rewriter: {problems[0]}")


def _titled(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text

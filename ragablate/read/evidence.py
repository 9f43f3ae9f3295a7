"""Passages in a prompt, and their way back out of it.

Readers that work from text rather than from a chat put each passage into two pieces of
evidence: a numbered marker with the passage's header, then the passage's own text. The
marker is evidence too, so that the frame does not depend on the number of passages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.records import Context, ContextPassage, Prompt, Question, Segment

_GAP = "\n\n"
_DELIMITERS = re.compile(r"\A<passage \d+>\n|\n</passage \d+>\Z")


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage as it stands in a prompt."""

    number: int
    """What it is cited by, from 1."""
    header: str
    """Title and metadata lines; may be empty."""
    body: str
    """The passage's own text."""

    @property
    def text(self) -> str:
        """Header and own text, exactly as the assembler made them."""
        return self.header + self.body


def show(question: Question, context: Context, instruction: str) -> Prompt:
    """Instruction, numbered passages, earlier turns and the question, as one user message."""
    segments = [Segment("user", instruction + _GAP)]
    for number, passage in enumerate(context.passages, start=1):
        head, body = _parts(passage)
        segments.append(Segment("user", f"[{number}] {head}", passage.pid))
        segments.append(Segment("user", body + _GAP, passage.pid))
    turns = "".join(f"{turn.speaker}: {turn.text}\n" for turn in question.history)
    segments.append(Segment("user", f"{turns}Question: {question.text}\nAnswer:"))
    return Prompt(question.qid, question.text, tuple(segments))


def shown(prompt: Prompt) -> list[Shown]:
    """The passages of a prompt, in order.

    One that ``show`` made tells header and own text apart. In one of a stage that asks in words
    of its own a passage is one segment, between delimiter lines that are left out.
    """
    pieces: dict[str, list[str]] = {}
    for segment in prompt.segments:
        if segment.pid:
            pieces.setdefault(segment.pid, []).append(segment.text)
    return [_shown(number, texts) for number, texts in enumerate(pieces.values(), start=1)]


def _shown(number: int, texts: Sequence[str]) -> Shown:
    if len(texts) == 2:
        return Shown(number, texts[0].removeprefix(f"[{number}] "), texts[1].removesuffix(_GAP))
    whole = "".join(texts).strip()
    return Shown(number, "", _DELIMITERS.sub("", whole).strip())


def _parts(passage: ContextPassage) -> tuple[str, str]:
    """Header and own text; all is own text where an assembler put something below it."""
    if not passage.text.endswith(passage.body):
        return "", passage.text
    cut = len(passage.text) - len(passage.body)
    return passage.text[:cut], passage.text[cut:]

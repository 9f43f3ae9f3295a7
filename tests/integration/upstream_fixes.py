"""Small real fixes that scenarios turn on: what a reader would write, where a page would be cut."""

from __future__ import annotations

import re

TRANSCRIPT = "\n\n=== transcript ===\n\n"
_ABOUT = re.compile(r"user: I am reading about (.+?)\.\n")


def resolve_it(question: str, passages: list[str], prompt: str) -> str:
    """The follow-up with what ``it`` stands for."""
    told = _ABOUT.search(prompt)
    return question.replace(" it", f" {told[1]}") if told else ""


def take_apart(question: str, passages: list[str]) -> str:
    """The two questions that one asks."""
    first, _, second = question.partition(" And also: ")
    return f"1. {first}\n2. {second}"


def as_extracted(text: str) -> list[tuple[int, int]]:
    """The page as an extraction left it."""
    return [(0, text.index(TRANSCRIPT))]


def as_transcribed(text: str) -> list[tuple[int, int]]:
    """The same page, transcribed."""
    return [(text.index(TRANSCRIPT) + len(TRANSCRIPT), len(text))]

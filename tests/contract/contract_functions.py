"""A researcher's functions, as plain as the docs show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragablate.records import Passage


def search(question: str, passages: Sequence[Passage], depth: int) -> list[tuple[str, float]]:
    words = set(question.lower().split())
    scored = [(p.pid, float(len(words & set(p.text.lower().split())))) for p in passages]
    return [pair for pair in scored if pair[1] > 0][:depth]


def rescore(question: str, passages: Sequence[Passage], scores: Sequence[float]) -> list[float]:
    return [float(len(p.text)) for p in passages]


def answer(question: str, passages: Sequence[str]) -> str:
    return passages[0] if passages else "I do not know."


def write(question: str, passages: Sequence[str], prompt: str) -> str:
    """What a stage's own reader writes; it is told apart from a reader's answer by no context."""
    return f"1. Search: {question}\n2. {' '.join(reversed(question.split()))} ({len(prompt)})"


def parts(question: str, history: Sequence[object]) -> list[str]:
    return [question, *question.split()[:1]]


def places(text: str) -> list[tuple[int, int]]:
    """Halves."""
    return [(0, len(text) // 2), (len(text) // 2, len(text))]


def checked(question: str, passages: Sequence[str], prompt: str) -> str:
    """A yes with the first words that a gate's reader was shown of a passage."""
    shown = prompt.split("<passage 1>\n")[-1].split("\n</passage 1>")[0]
    return f'YES: "{shown}"' if shown != prompt else "NO"


def let_through(question: str, passages: Sequence[Passage], signals: Mapping[str, float]) -> str:
    """A gate that refuses where nothing was found."""
    return "go" if passages else "refuse"

"""What an answer claims, one thing at a time."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from ragablate.judge.content import content_words
from ragablate.judge.figures import bulleted, figures
from ragablate.judge.markers import marked_pids, statements
from ragablate.records import Trace
from ragablate.text.clauses import clauses


def claims(trace: Trace) -> list[str]:
    """The claims of an answer, in order: its clauses that say something that can be checked.

    Citation markers are left out. Empty without an answer, and for answers such as yes.
    """
    if trace.answer is None:
        return []
    return claims_in(trace.answer.text, marked_pids(trace))


def claims_in(answer: str, pids: Collection[str] = ()) -> list[str]:
    """The claims of a text; ``pids`` are those its citation markers may name."""
    said = statements(bulleted(answer), pids)
    return [clause for s in said for clause in clauses(s.text) if is_claim(clause)]


@lru_cache(maxsize=1 << 14)
def is_claim(text: str) -> bool:
    """Whether a text says something that could be supported: a content word or a figure."""
    return bool(content_words(text) or figures(text))

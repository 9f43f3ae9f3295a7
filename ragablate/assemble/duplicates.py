"""Which passages of a ranking say the same as a better one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ragablate.records import Passage
from ragablate.text.normalize import answer_tokens

SHINGLE = 5
"""Words in a shingle, a run of adjacent words (Broder 1997); a shorter text is one shingle."""


def near_duplicates(passages: Sequence[Passage], threshold: float) -> set[str]:
    """Pids of passages whose own text resembles that of an earlier one that is kept.

    Args:
        passages: Best first; the better of two alike is kept.
        threshold: Smallest Jaccard similarity of word shingles, in (0, 1], that makes two
            texts alike. At 1 they must be equal but for case, compatibility forms and
            white space.
    """
    kept: list[tuple[str, frozenset[tuple[str, ...]]]] = []
    dropped = set()
    for passage in passages:
        form = _form(passage.text)
        own = shingles(passage.text) if threshold < 1 else frozenset()
        if any(f == form or _alike(s, own, threshold) for f, s in kept):
            dropped.add(passage.pid)
        else:
            kept.append((form, own))
    return dropped


@lru_cache(maxsize=1 << 14)
def _form(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of ``SHINGLE`` adjacent words of a text; empty where it has no word."""
    found = answer_tokens(text)
    if not found:
        return frozenset()
    last = max(len(found) - SHINGLE, 0)
    return frozenset(tuple(found[i : i + SHINGLE]) for i in range(last + 1))


def _alike(
    one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]], threshold: float
) -> bool:
    union = len(one | other)
    return union > 0 and len(one & other) / union >= threshold

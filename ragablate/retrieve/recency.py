"""Any retriever's ranking with old passages held back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from ragablate.errors import AdapterError
from ragablate.protocols import Retriever, SearchRequest
from ragablate.records import Corpus, Hit, Item, Passage, Ranking
from ragablate.retrieve.conditions import is_day


class Recency:
    """A retriever's candidates, reordered by score and age.

    A score above 0 is multiplied by ``1 - weight + weight * 0.5 ** (age / half_life_days)``;
    the age is counted in days before ``day`` and is 0 for what is newer. Scores of 0 and below
    stay as they are, since a factor would raise them. The retriever's ``depth`` says what is
    reordered; its signals are passed on.

    Args:
        retriever: What finds the candidates, with scores that are proportional to relevance
            (fused ranks are not).
        day: The day ages are counted from, as ``YYYY-MM-DD``; never today's.
        half_life_days: After how many days a passage counts half, above 0.
        weight: From 0, age does not count, to 1.
        date: Where a passage's date stands in its metadata, as ISO 8601.
        undated: Factor of a passage without a readable date, from 0 to 1.
    """

    def __init__(
        self,
        retriever: Retriever,
        day: str,
        half_life_days: float = 365.0,
        weight: float = 1.0,
        date: str = "updated_at",
        undated: float = 1.0,
    ) -> None:
        self.retriever = retriever
        self.day = day
        self.half_life_days = half_life_days
        self.weight = weight
        self.date = date
        self.undated = undated

    @property
    def fuses(self) -> bool:
        """Whether its scores come of ranks."""
        return bool(getattr(self.retriever, "fuses", False))

    def problems(self) -> list[str]:
        """Knobs without a meaning, and the retriever's own problems."""
        found = []
        if not is_day(self.day):
            found.append(f"day is {self.day!r}: give the day to count from as YYYY-MM-DD")
        if not _is_number(self.half_life_days) or self.half_life_days <= 0:
            found.append(f"half_life_days is {self.half_life_days!r}: give days above 0")
        for name in ("weight", "undated"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value <= 1:
                found.append(f"{name} is {value!r}: give a number from 0 to 1")
        ask = getattr(self.retriever, "problems", None)
        return found + (ask() if ask else [])

    def close(self) -> None:
        """Close the retriever, where it can be closed."""
        close = getattr(self.retriever, "close", None)
        if close:
            close()

    def retrieve(
        self, corpus: Corpus, requests: Sequence[SearchRequest]
    ) -> Iterator[Item[Ranking]]:
        """Search, then reorder search by search.

        Raises:
            AdapterError: A knob has no meaning.
        """
        problems = self.problems()
        if problems:
            raise AdapterError(problems[0])
        for item in self.retriever.retrieve(corpus, requests):
            if item.value is None:
                yield item
                continue
            hits = [Hit(h.pid, self._aged(h, corpus.by_pid[h.pid])) for h in item.value]
            yield replace(item, value=tuple(sorted(hits, key=lambda h: (-h.score, h.pid))))

    def _aged(self, hit: Hit, passage: Passage) -> float:
        if hit.score <= 0:
            return hit.score
        written = str(passage.meta.get(self.date) or "")[:10]
        if not is_day(written):
            return hit.score * self.undated
        age = (date.fromisoformat(self.day) - date.fromisoformat(written)).days
        decay = 0.5 ** (max(age, 0) / self.half_life_days)
        return float(hit.score * (1 - self.weight + self.weight * decay))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

"""How a filter is applied: before the search, within it, after it, or by how much passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from ragablate import codec
from ragablate.errors import AdapterError
from ragablate.records import Corpus, Item, Passage, Question, Ranking, SearchResult
from ragablate.retrieve.conditions import carries, condition_problems, holds_on, is_day
from ragablate.retrieve.restrict import pool_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

Mode = Literal["pre", "in", "post"]
MODES = ("pre", "in", "post", "by_pass_rate")
_OF_QUESTION = "filter:"
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Filter:
    """The node ``filters`` of a retriever: what may be found, whatever is asked."""

    where: Mapping[str, Any] = field(default_factory=dict)
    """Conditions by metadata key, as ``conditions.carries`` has them."""
    day: str = ""
    """The day passages must hold on; ``filter:KEY`` is the one of a question's filter."""
    begins: str = "effective_from"
    """Where a passage's first day stands in its metadata."""
    ends: str = "effective_until"
    """Where its last day stands."""


@dataclass(frozen=True, slots=True)
class Passing:
    """Which rows of an index one question may find."""

    pool: Mask | None = None
    """Rows of the question's pool; ``None`` for all."""
    passes: Mask | None = None
    """Of these, the rows that pass the filter; ``None`` where there is no filter."""
    mode: Mode = "pre"
    """How the filter is applied."""
    signals: Mapping[str, float] = field(default_factory=dict)
    """``pass_rate``: share of the searched passages that pass; ``filtered_<mode>`` is 1."""

    @property
    def allowed(self) -> Mask | None:
        """Rows that may be found in the end; ``None`` for all."""
        return self.pool if self.passes is None else self.passes

    def cut(self, rows: Sequence[int]) -> list[int]:
        """Positions in a ranking of rows that stay once it is filtered after the search."""
        if self.mode != "post" or self.passes is None:
            return list(range(len(rows)))
        return [number for number, row in enumerate(rows) if self.passes[row]]

    def item(self, id: str, ranking: Ranking) -> Item[Ranking]:
        """A ranking with these signals; a plain item where there are none."""
        if not self.signals:
            return Item(id, ranking)
        return SearchResult(id, ranking, signals=self.signals)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a retriever's knobs say about who may be found.

    ``pre`` searches only what passes, ``in`` searches everything and skips what does not pass;
    where every passage is compared they find the same. ``post`` cuts the ranking to its depth
    and filters then, so that it may be short or empty. ``by_pass_rate`` takes ``pre`` where at
    most ``pass_rates.pre`` of what is searched passes, ``in`` at most ``pass_rates.in``, else
    ``post``.
    """

    pool: bool
    apply_filter: bool
    filters: Mapping[str, Any] | None
    mode: str
    pass_rates: Mapping[str, float] | None

    def problems(self) -> list[str]:
        """Knobs without a meaning, one sentence each."""
        own = self.filter
        known = [f.name for f in fields(Filter)]
        found = [
            f"filters.{name} is no knob: the knobs are {', '.join(known)}"
            for name in self.filters or {}
            if name not in known
        ]
        found += condition_problems(own.where, "filters.where")
        if own.day and not own.day.startswith(_OF_QUESTION) and not is_day(own.day):
            found.append(
                f"filters.day is {own.day!r}: give a day as YYYY-MM-DD, {_OF_QUESTION}KEY for "
                "the one of a question's filter, or nothing"
            )
        if self.mode not in MODES:
            found.append(f"filter_mode is {self.mode!r}: give one of {', '.join(MODES)}")
        low, high = self._thresholds()
        if not all(map(_is_share, (low, high))) or low > high:
            found.append(
                f"pass_rates are {dict(self.pass_rates or {})!r}: give pre and in, two shares from "
                "0 to 1, the first not above the second"
            )
        return found

    @property
    def filter(self) -> Filter:
        """The node ``filters`` with defaults for what it leaves out."""
        known = {f.name for f in fields(Filter)}
        given = {k: v for k, v in (self.filters or {}).items() if k in known and v is not None}
        return Filter(**given)

    def key(self, question: Question) -> bytes:
        """Equal for questions that may find the same."""
        pool = question.pool if self.pool else None
        return codec.encode((pool, self._asked(question), self._day(question)))

    def passing(self, corpus: Corpus, passages: Sequence[Passage], question: Question) -> Passing:
        """Which of the rows ``passages`` a question may find.

        Raises:
            AdapterError: Its pool names an unknown passage, or its day is none.
        """
        import numpy as np

        pids = pool_of(corpus, question) if self.pool and question.pool is not None else None
        pool = None
        if pids is not None:
            pool = np.fromiter((p.pid in pids for p in passages), dtype=np.bool_)
        own, asked, day = self.filter, self._asked(question), self._day(question)
        for problem in condition_problems(asked, f"question '{question.qid}': filter"):
            raise AdapterError(problem)
        if not own.where and not asked and not day:
            return Passing(pool)
        met = (
            carries(p, own.where) and carries(p, asked)
            and (not day or holds_on(p, day, own.begins, own.ends))
            for p in passages
        )  # fmt: skip
        passes = np.fromiter(met, dtype=np.bool_)
        searched = len(passages) if pool is None else int(pool.sum())
        if pool is not None:
            passes &= pool
        rate = int(passes.sum()) / searched if searched else 0.0
        mode = self._mode(rate)
        return Passing(pool, passes, mode, {"pass_rate": rate, f"filtered_{mode}": 1.0})

    def _mode(self, rate: float) -> Mode:
        if self.mode != "by_pass_rate":
            return self.mode  # type: ignore[return-value]
        low, high = self._thresholds()
        return "pre" if rate <= low else "in" if rate <= high else "post"

    def _thresholds(self) -> tuple[float, float]:
        given = self.pass_rates or {}
        return given.get("pre", 0.05), given.get("in", 0.8)

    def _asked(self, question: Question) -> dict[str, Any]:
        """Conditions of the question's own, less the one that is its day."""
        asked = dict(question.filter) if self.apply_filter else {}
        asked.pop(self.filter.day.removeprefix(_OF_QUESTION), None)
        return asked

    def _day(self, question: Question) -> str:
        day = self.filter.day
        if not day.startswith(_OF_QUESTION):
            return day
        key = day.removeprefix(_OF_QUESTION)
        asked = question.filter.get(key)
        if asked is None:
            return ""
        if not is_day(asked):
            raise AdapterError(
                f"question '{question.qid}' has {asked!r} as '{key}' of its filter: give a day as "
                "YYYY-MM-DD, which retriever.filters.day asks for"
            )
        return str(asked)


class Passings:
    """What questions may find in one index, kept by what they ask for."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Passing] = {}

    def get(
        self, rules: Rules, corpus: Corpus, passages: Sequence[Passage], question: Question
    ) -> tuple[bytes, Passing]:
        """The passing rows of a question, with a key that equal ones share."""
        key = rules.key(question)
        if key not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[key] = rules.passing(corpus, passages, question)
        return key, self._kept[key]


def _is_share(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= 1  # type: ignore[arg-type, operator]

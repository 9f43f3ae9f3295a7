"""What one execution may spend on calls of readers and of models that judge."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragablate.errors import BudgetError
from ragablate.records import Answer, Context, Item, Question, ReadRequest

Asking = tuple[Any, ReadRequest]
"""A reader and what to ask it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most one execution may spend; what is stored already costs nothing."""

    max_calls: int | None = None
    """Answers asked for; the attempts for one answer are one call."""
    max_usd: float | None = None
    """US dollars, by the prices the readers were given."""


class Budget:
    """Lets readers be asked as long as the limits allow, and keeps count.

    Calls are only made together where all of them can be paid even if each answer is as long
    as it may be, so that money is never overspent and no answer that was paid for is lost. A
    reader without a method ``most_usd`` costs nothing. An answer that does not tell its
    tokens, and one that was lost on its way, counts with the most it can have cost.

    Args:
        limits: The most that may be spent.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.calls = 0
        """Calls made."""
        self.usd = 0.0
        """US dollars spent."""

    def read(
        self,
        asks: Sequence[Asking],
        answers: Callable[[Sequence[Asking]], Iterator[tuple[Any, Item[Answer]]]],
    ) -> Generator[tuple[Any, Item[Answer]], None, None]:
        """Answers with the reader that gave them.

        Args:
            asks: What to ask whom.
            answers: How.

        Raises:
            BudgetError: The next call would be too much.
        """
        left = asks
        while left:
            most = self._affordable(left)
            now, left = left[: len(most)], left[len(most) :]
            known = {(id(reader), r.id): m for (reader, r), m in zip(now, most, strict=True)}
            self.calls += len(now)
            for reader, item in answers(now):
                self.usd += _cost(reader, item, known.get((id(reader), item.id), 0.0))
                yield reader, item

    def _affordable(self, asks: Sequence[Asking]) -> list[float]:
        """The most that each of the next calls can cost, as many as can be paid together."""
        room = len(asks)
        if self._limits.max_calls is not None:
            room = min(room, self._limits.max_calls - self.calls)
        if room <= 0:
            raise self._reached(f"budget.max_calls={self._limits.max_calls}")
        if self._limits.max_usd is None:
            return [0.0] * room
        found: list[float] = []
        together = self.usd
        for reader, request in asks[:room]:
            most = most_usd(reader, request)
            if most is None:
                raise BudgetError(UNPRICED)
            if together + most > self._limits.max_usd:
                break
            found.append(most)
            together += most
        if not found:
            raise self._reached(f"budget.max_usd={self._limits.max_usd:g}")
        return found

    def _reached(self, limit: str) -> BudgetError:
        spent = f" and {self.usd:.4g} USD" if self._limits.max_usd is not None else ""
        return BudgetError(
            f"budget reached ({limit}) after {self.calls} calls of readers and judges{spent}; "
            "finished work is kept: the same command resumes, with a larger budget to the end"
        )


UNPRICED = (
    "budget.max_usd is set, but what a call can cost is not known: give the price of the model in "
    "reader.runtime.prices and its longest answer in reader.max_tokens, and those of a model that "
    "judges in the same places of its endpoint"
)
"""Said where a reader cannot tell the cost of a call."""


def most_usd(reader: Any, request: ReadRequest) -> float | None:
    """The most one call can cost; ``None`` where the reader does not know."""
    ask = getattr(reader, "most_usd", None)
    most: float | None = ask(request) if ask is not None else 0.0
    return most


def limit_problems(budget: Mapping[str, Any]) -> list[str]:
    """Limits that are none, one sentence each."""
    wrong = []
    calls, usd = budget["max_calls"], budget["max_usd"]
    if calls is not None and (not isinstance(calls, int) or isinstance(calls, bool) or calls < 1):
        wrong.append(f"budget.max_calls must be a positive whole number, or null, not {calls!r}")
    number = isinstance(usd, int | float) and not isinstance(usd, bool)
    if usd is not None and not (number and 0 < usd < float("inf")):
        wrong.append(f"budget.max_usd must be a positive number, or null, not {usd!r}")
    return wrong


def price_problems(limits: Limits, readers: Sequence[Any], question: Question) -> list[str]:
    """Readers whose calls cannot be priced, although money is limited."""
    if limits.max_usd is None:
        return []
    asked = (ReadRequest("", reader.prompt(question, Context()), 1, 0) for reader in readers)
    if any(most_usd(r, a) is None for r, a in zip(readers, asked, strict=True)):
        return [UNPRICED]
    return []


def _cost(reader: Any, item: Item[Answer], most: float) -> float:
    if item.failure is not None:
        # A prompt that was refused costs nothing; one that got lost may have.
        return most if item.failure.kind == "infrastructure" else 0.0
    ask = getattr(reader, "cost_usd", None)
    cost: float | None = ask(item.value) if ask is not None else 0.0
    return most if cost is None else cost

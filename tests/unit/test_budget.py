from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.budget import Asking, Budget, Limits, limit_problems, price_problems
from ragablate.errors import BudgetError
from ragablate.records import Answer, Context, Failure, Item, Prompt, Question, ReadRequest

QUESTION = Question("q", "?")


class Priced:
    """Every call may cost so much at most, and costs what a script says; None is not told."""

    def __init__(self, most: float | None, costs: Sequence[float | Failure | None]) -> None:
        self.most = most
        self.costs = list(costs)
        self.asked = 0

    def prompt(self, question: Question, context: Context) -> Prompt:
        return Prompt(question.qid, question.text, ())

    def most_usd(self, request: ReadRequest) -> float | None:
        return self.most

    def cost_usd(self, answer: Answer) -> float | None:
        return None if answer.text == "" else float(answer.text)


class Free:
    prompt = Priced.prompt


def asks(reader: Any, count: int) -> list[Asking]:
    return [(reader, ReadRequest(f"r{i}", Prompt("q", "?", ()), 1, i)) for i in range(count)]


def answers(now: Sequence[Asking]) -> Iterator[tuple[Any, Item[Answer]]]:
    for reader, request in now:
        cost = getattr(reader, "costs", [0.0] * 99).pop(0)
        if isinstance(cost, Failure):
            yield reader, Item(request.id, None, cost)
        else:
            yield reader, Item(request.id, Answer("" if cost is None else str(cost)))


def spend(budget: Budget, asked: list[Asking]) -> tuple[list[str], str]:
    """Ids that were answered, and what stopped it."""
    found: list[str] = []
    try:
        for _, item in budget.read(asked, answers):
            found.append(item.id)
    except BudgetError as reached:
        return found, str(reached)
    return found, ""


def test_without_limits_everything_is_asked_at_once() -> None:
    sizes = []

    def counting(now: Sequence[Asking]) -> Iterator[tuple[Any, Item[Answer]]]:
        sizes.append(len(now))
        return answers(now)

    budget = Budget(Limits())
    assert len(list(budget.read(asks(Free(), 50), counting))) == budget.calls == 50
    assert sizes == [50]


def test_calls_stop_at_their_limit_and_what_was_answered_is_given_out() -> None:
    budget = Budget(Limits(max_calls=3))
    found, why = spend(budget, asks(Free(), 5))
    assert found == ["r0", "r1", "r2"]
    assert why.startswith(
        "budget reached (budget.max_calls=3) after 3 calls of readers and judges; finished work"
    )


def test_a_limit_that_is_just_enough_stops_nothing() -> None:
    assert spend(Budget(Limits(max_calls=5)), asks(Free(), 5)) == ([f"r{i}" for i in range(5)], "")


def test_calls_count_over_several_readings() -> None:
    budget = Budget(Limits(max_calls=6))
    assert spend(budget, asks(Free(), 4))[1] == ""
    found, why = spend(budget, asks(Free(), 4))
    assert (len(found), budget.calls) == (2, 6)
    assert "after 6 calls of readers and judges" in why


def test_nothing_to_ask_never_reaches_a_budget() -> None:
    budget = Budget(Limits(max_calls=1))
    spend(budget, asks(Free(), 1))
    assert spend(budget, []) == ([], "")


def test_money_is_spent_until_no_further_call_can_be_paid_for_sure() -> None:
    reader = Priced(1.0, [0.25] * 99)
    budget = Budget(Limits(max_usd=3.0))
    found, why = spend(budget, asks(reader, 50))
    # 9 calls cost 2.25; a tenth might cost more than is left.
    assert len(found) == 9
    assert budget.usd == pytest.approx(2.25)
    assert "(budget.max_usd=3) after 9 calls of readers and judges and 2.25 USD" in why


def test_a_cost_that_is_not_told_and_a_lost_answer_count_with_the_most() -> None:
    lost = Failure("infrastructure", "reset")
    refused = Failure("pipeline", "too long")
    budget = Budget(Limits(max_usd=100.0))
    spend(budget, asks(Priced(1.0, [0.5, None, lost, refused]), 4))
    assert budget.usd == pytest.approx(2.5)


def test_a_reader_without_prices_is_free() -> None:
    budget = Budget(Limits(max_usd=0.01))
    assert len(spend(budget, asks(Free(), 9))[0]) == 9
    assert budget.usd == 0.0


def test_a_call_whose_cost_is_unknown_is_not_made() -> None:
    found, why = spend(Budget(Limits(max_usd=1.0)), asks(Priced(None, []), 3))
    assert found == []
    assert "reader.runtime.prices" in why


def test_it_is_told_before_anything_is_spent() -> None:
    readers = [Free(), Priced(None, [])]
    assert price_problems(Limits(max_usd=1.0), readers, QUESTION)
    assert price_problems(Limits(max_usd=1.0), [Free(), Priced(1.0, [])], QUESTION) == []
    assert price_problems(Limits(max_calls=1), readers, QUESTION) == []


@settings(deadline=None, max_examples=150)
@given(
    st.floats(0.1, 50),
    st.lists(st.floats(0, 1) | st.none(), max_size=60),
    st.none() | st.integers(1, 40),
)
def test_no_limit_is_ever_passed(usd: float, costs: list[float | None], calls: int | None) -> None:
    budget = Budget(Limits(calls, usd))
    found, why = spend(budget, asks(Priced(1.0, costs), len(costs)))
    assert budget.usd <= usd + 1e-9
    assert budget.calls == len(found) <= (calls or len(costs))
    assert (why == "") == (len(found) == len(costs))
    if "max_usd" in why:
        assert budget.usd + 1.0 > usd


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        ({"max_calls": 0, "max_usd": None}, "budget.max_calls must be a positive whole number"),
        ({"max_calls": 1.5, "max_usd": None}, "budget.max_calls"),
        ({"max_calls": True, "max_usd": None}, "budget.max_calls"),
        ({"max_calls": None, "max_usd": 0}, "budget.max_usd must be a positive number"),
        ({"max_calls": None, "max_usd": "5"}, "budget.max_usd"),
        ({"max_calls": None, "max_usd": float("nan")}, "budget.max_usd"),
    ],
)
def test_a_limit_that_is_none_is_told(budget: dict[str, Any], told: str) -> None:
    (problem,) = limit_problems(budget)
    assert problem.startswith(told)


def test_limits_may_be_left_open() -> None:
    assert limit_problems({"max_calls": None, "max_usd": None}) == []
    assert limit_problems({"max_calls": 1, "max_usd": 0.5}) == []

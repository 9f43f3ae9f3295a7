"""Sharing a joint change among the factors that changed: Shapley values and ordered ladders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import factorial
from typing import TypeVar

from ragablate.compare.inference.arrays import Floats
from ragablate.errors import DesignError

MOST_FACTORS = 5
"""More factors than this would take more than 32 arms."""

Value = TypeVar("Value", float, Floats)


def shapley(values: Mapping[frozenset[str], Value]) -> dict[str, Value]:
    """Each factor's share of the total change: its average step over all orders of changing.

    share_j = sum over sets T without j of |T|! (m - |T| - 1)!/m! (v(T + j) - v(T)). Weights
    stay integers and are divided by m! once, so values that are whole counts lose nothing
    before that division; rational numbers stay rational. The shares sum to v(all) - v(none).
    They are a convention for splitting an interaction, not physical effects.

    Source: Shapley, "A value for n-person games".

    Args:
        values: What is measured with exactly these factors at their new value, for every
            subset: a number, or an array of one number a question.

    Returns:
        The share of each factor, in alphabetical order.

    Raises:
        DesignError: A subset is missing, or there are more than 5 factors.
    """
    factors = sorted(frozenset().union(*values))
    _check(values, factors)
    shares: dict[str, Value] = {}
    for factor in factors:
        others = [name for name in factors if name != factor]
        total = 0 * values[frozenset()]
        for size in range(len(factors)):
            weight = factorial(size) * factorial(len(others) - size)
            for chosen in map(frozenset, combinations(others, size)):
                step = values[chosen | {factor}] - values[chosen]
                total = total + weight * step
        shares[factor] = total / factorial(len(factors))
    return shares


def ordered_ladder(
    values: Mapping[frozenset[str], Value], order: Sequence[str]
) -> dict[str, Value]:
    """Each factor's step when the factors are changed one after the other in this order.

    The steps sum to the total change and depend on the order: none is *the* contribution.

    Args:
        values: What is measured with exactly these factors at their new value; only the
            sets along the order are needed.
        order: The factors, first changed first.

    Raises:
        DesignError: A set along the order is missing, or a factor is named twice.
    """
    if len(set(order)) != len(order):
        raise DesignError([f"the order {list(order)} names a factor twice: name each once."])
    along = [frozenset(order[:size]) for size in range(len(order) + 1)]
    _refuse_missing([cell for cell in along if cell not in values])
    return {
        factor: values[after] - values[before]
        for factor, before, after in zip(order, along, along[1:], strict=False)
    }


def _check(values: Mapping[frozenset[str], Value], factors: Sequence[str]) -> None:
    """Refuse too many factors, or cells that are missing."""
    if len(factors) > MOST_FACTORS:
        raise DesignError(
            [
                f"{len(factors)} factors changed ({', '.join(factors)}), which would take "
                f"{2 ** len(factors)} arms: group them into at most {MOST_FACTORS}."
            ]
        )
    every = [frozenset(c) for size in range(len(factors) + 1) for c in combinations(factors, size)]
    _refuse_missing([cell for cell in every if cell not in values])


def _refuse_missing(cells: Sequence[frozenset[str]]) -> None:
    """Name all arms that have to be run first."""
    if cells:
        names = "; ".join(" + ".join(sorted(cell)) or "nothing changed" for cell in cells)
        raise DesignError([f"the change cannot be shared out, these arms are missing: {names}."])

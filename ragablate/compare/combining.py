"""The terms of changing several variables: steps, shares and interactions as sums of cells.

A cell is the arm with some variables at their new level, its role a string of 0 and 1 in
the order of the variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from math import factorial

import numpy as np

from ragablate.compare.cells import Weights
from ragablate.compare.families import Estimand, step
from ragablate.compare.inference.shapley import ordered_ladder, shapley
from ragablate.records import Factor

TOTAL = "total"
INTERACTION = "interaction"


def roles(factors: int) -> tuple[str, ...]:
    """Every cell."""
    return tuple("".join(bits) for bits in product("01", repeat=factors))


def cell(changed: Sequence[int], factors: int) -> str:
    """The cell with these variables, by place, at their new level."""
    return "".join("1" if place in changed else "0" for place in range(factors))


def total(factors: int) -> Estimand:
    """All variables changed at once."""
    return step(TOTAL, "0" * factors, "1" * factors)


def alone(factors: Sequence[Factor]) -> tuple[Estimand, ...]:
    """Each variable changed in control, all others as in control."""
    none = cell((), len(factors))
    return tuple(
        step(_given(factors, i, new=False), none, cell((i,), len(factors)))
        for i in range(len(factors))
    )


def last(factors: Sequence[Factor]) -> tuple[Estimand, ...]:
    """Each variable changed after all others."""
    every = range(len(factors))
    return tuple(
        step(
            _given(factors, i, new=True),
            cell([j for j in every if j != i], len(factors)),
            cell(every, len(factors)),
        )
        for i in every
    )


def _given(factors: Sequence[Factor], place: int, new: bool) -> str:
    """A variable with the levels at which the others are held."""
    others = [f for i, f in enumerate(factors) if i != place]
    held = ", ".join(f"{f.variable}={f.level if new else f.control_level}" for f in others)
    return f"{factors[place].variable} | {held}"


def shares(factors: Sequence[Factor]) -> tuple[Estimand, ...]:
    """Each variable's share of the total: its average step over all orders of changing.

    The shares add up to the total. They split interactions by convention (Shapley).
    """
    m = len(factors)
    units = np.eye(2**m)
    found = shapley({_set(role): units[i] for i, role in enumerate(roles(m))})
    return tuple(
        Estimand(f.variable, _weights(roles(m), found[str(i)], factorial(m)), ("0" * m, "1" * m))
        for i, f in enumerate(factors)
    )


def interactions(factors: Sequence[Factor]) -> tuple[Estimand, ...]:
    """By how much each two variables change each other's effect, averaged over the others.

    With two variables this is the whole interaction.
    """
    m = len(factors)
    found = []
    for i, j in combinations(range(m), 2):
        name = f"{factors[i].variable} x {factors[j].variable}" if m > 2 else INTERACTION
        share = Fraction(1, 2 ** (m - 2))
        weights = {r: share if r[i] == r[j] else -share for r in roles(m)}
        found.append(Estimand(name, weights, ("0" * m, "1" * m)))
    return tuple(found)


def sequence(factors: Sequence[Factor], order: Sequence[str]) -> tuple[Estimand, ...]:
    """The steps of changing the variables one after the other, in this order."""
    place = {f.variable: str(i) for i, f in enumerate(factors)}
    along = along_order(factors, order)
    units = np.eye(len(along))
    found = ordered_ladder(
        {_set(role): units[i] for i, role in enumerate(along)}, [place[v] for v in order]
    )
    return tuple(
        Estimand(variable, _weights(along, found[place[variable]], 1), (along[i], along[i + 1]))
        for i, variable in enumerate(order)
    )


def along_order(factors: Sequence[Factor], order: Sequence[str]) -> tuple[str, ...]:
    """The cells of a sequence, control first."""
    place = {f.variable: i for i, f in enumerate(factors)}
    return tuple(
        cell([place[v] for v in order[:done]], len(factors)) for done in range(len(order) + 1)
    )


def _set(role: str) -> frozenset[str]:
    """The places of the variables that a cell changes."""
    return frozenset(str(i) for i, bit in enumerate(role) if bit == "1")


def _weights(columns: Sequence[str], values: np.ndarray, denominator: int) -> Weights:
    """What a linear function of cells gives each of them, as exact fractions."""
    exact = (Fraction(float(v)).limit_denominator(denominator) for v in values)
    return {role: weight for role, weight in zip(columns, exact, strict=True) if weight}

"""Planted worlds through the runner: what was planted is what is found, question by question."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from validation.studies import ladder as simulated
from validation.worlds import BY_NAME, TERMS, Draws, World, draw, sets

from ragablate.records import Term
from ragablate.session import Outcome

N = 100
Enact = Callable[..., Outcome]


def one_set(world: World, n: int = N) -> Draws:
    return next(sets(world, n, 1, seed=11))


def scores_of(outcome: Outcome, arm: str, measure: str = "correct") -> list[float | None]:
    found = outcome.bundle.study().scores[arm][measure]
    return [found[qid][0] for qid in sorted(found)]


def counted(draws: Draws) -> dict[str, Fraction]:
    """The terms of the ladder, counted by hand from the draws."""
    y = {role: values.astype(int) for role, values in draws.scores().items()}
    full, lacks = draws.full.astype(int), 1 - y["O"]
    faithful = draws.faithful.astype(int)
    found = {
        "assembly": y["A"] - y["B"],
        "retrieval": y["D"] - y["A"],
        "ordering": full * (y["S"] - y["D"]),
        "distractor": full * (y["O"] - y["S"]),
        "reader": full * lacks * (1 - faithful),
        "source-or-label": full * lacks * faithful,
        "joint": (1 - full) * (1 - y["D"]),
    }
    per_question = sum(found.values())
    assert np.array_equal(per_question, 1 - y["B"])
    return {name: Fraction(int(values.sum()), len(draws)) for name, values in found.items()}


def told(terms: tuple[Term, ...]) -> dict[str, dict[str, Any]]:
    """What a ladder says of every term, but for how the arms are called."""
    left_out = {"effect", "reasons"}
    return {
        t.name: {f.name: getattr(t, f.name) for f in fields(t) if f.name not in left_out}
        for t in terms
    }


def check_world(enact: Enact, world: World) -> None:
    draws = one_set(world)
    outcome = enact(draws, "experiment=[localize,placebo]")
    study, ladder = outcome.bundle.study(), outcome.comparison.analyses[0]
    roles: Mapping[str, str] = study.analyses[0].arms
    for role in "BADSON":
        assert scores_of(outcome, roles[role]) == draws.scores()[role].astype(float).tolist(), role
    assert scores_of(outcome, "control", "evidence_in_context") == draws.full.tolist()
    assert scores_of(outcome, roles["O"], "faithfulness") == draws.faithful.tolist()

    values = {term.name: term.value for term in ladder.terms}
    expected = counted(draws)
    shown = {n: v for n, v in values.items() if n != "reader-or-label"}
    assert shown == {name: float(expected[name]) for name in shown}
    assert math.fsum(values.values()) == pytest.approx(ladder.total, abs=1e-12)
    assert ladder.total == float(1 - Fraction(int(draws.scores()["B"].sum()), N))

    # The comparator is told the same by a bundle as by the simulation of many sets.
    alone = simulated(draws).analyses[0]
    assert told(ladder.terms) == told(alone.terms)
    assert (ladder.named, ladder.candidates) == (alone.named, alone.candidates)

    truth = world.terms()
    for name, value in shown.items():
        error = math.sqrt(max(truth[name] * (1 - truth[name]), 0.01) / N)
        assert abs(value - truth[name]) < 4 * error, name
    assert [c.label for c in outcome.comparison.conclusions if c.contrast == "localize"] == [
        "causal with limits" if world.name == "contaminated" else "causal"
    ]


def test_a_planted_world_is_found_as_it_was_planted(enact: Enact) -> None:
    check_world(enact, BY_NAME["balanced"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "balanced"])
def test_every_planted_world_is_found_as_it_was_planted(enact: Enact, name: str) -> None:
    check_world(enact, BY_NAME[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in BY_NAME if n.endswith("-bound")])
def test_the_planted_bottleneck_is_named(enact: Enact, name: str) -> None:
    world = BY_NAME[name]
    outcome = enact(one_set(world, 150), "experiment=[localize,placebo]")
    assert outcome.comparison.analyses[0].named == world.bottleneck


def test_the_closed_form_is_what_draws_come_to(request: pytest.FixtureRequest) -> None:
    for world in BY_NAME.values():
        draws = draw(world, 200_000, np.random.default_rng(3))
        truth, found = world.terms(), counted(draws)
        for name in TERMS:
            assert float(found[name]) == pytest.approx(truth[name], abs=0.004), (world.name, name)
        assert sum(truth[name] for name in TERMS) == pytest.approx(1 - truth["B"], abs=1e-12)


def test_a_world_without_faults_has_no_shortfall(enact: Enact) -> None:
    world = replace(BY_NAME["balanced"], retrieved=1.0, evicted=0.0, able=1.0, mislabelled=0.0,
                    distracted=0.0)  # fmt: skip
    outcome = enact(draw(world, N, np.random.default_rng(0)), "experiment=[localize,placebo]")
    ladder = outcome.comparison.analyses[0]
    assert ladder.total == 0.0
    assert {term.value for term in ladder.terms} == {0.0}
    conclusion = next(c for c in outcome.comparison.conclusions if c.contrast == "localize")
    assert conclusion.verdict == "no material shortfall"

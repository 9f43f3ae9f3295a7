"""Ladders through the real runner: every step proven, every term adding up."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import scripted

from ragablate import session
from ragablate.session import Outcome

pytestmark = pytest.mark.usefixtures("hydra")


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    scripted.reset()
    yield
    scripted.reset()


@pytest.fixture
def localize(toy: Path, tmp_path: Path) -> Any:
    def call(*overrides: str) -> Outcome:
        return session.run(
            [
                "dataset=jsonl",
                f"dataset.path={toy}",
                f"outputs={tmp_path / 'outputs'}",
                "experiment=localize",
                *overrides,
            ]
        )

    return call


def by_hand(outcome: Outcome, roles: dict[str, str], qids: list[str]) -> dict[str, Fraction]:
    """The terms from the bundle's verdicts alone, in rationals."""
    scores = outcome.bundle.study().scores

    def score(role: str, qid: str) -> Fraction:
        (value,) = scores[roles[role]]["correct"][qid]
        return Fraction(value or 0)

    base = "B'" if "B'" in roles else "B"
    found = dict.fromkeys(("gate", "assembly", "retrieval", "rest"), Fraction(0))
    for qid in qids:
        found["gate"] += score(base, qid) - score("B", qid)
        found["assembly"] += score("A", qid) - score(base, qid)
        found["retrieval"] += score("D", qid) - score("A", qid)
        found["rest"] += 1 - score("D", qid)
    return {name: value / len(qids) for name, value in found.items()}


ANSWERABLE = [f"q{i}" for i in range(1, 7)]


def test_a_ladder_through_the_runner_is_proven_at_every_step_and_adds_up(localize: Any) -> None:
    outcome = localize("reader=extractive", "assembler.budget_tokens=60", "reranker.top_k=3")

    (result,) = outcome.comparison.analyses
    (conclusion,) = outcome.comparison.conclusions
    terms = {t.name: t.value for t in result.terms}
    expected = by_hand(outcome, dict(outcome.bundle.analyses[0].arms), ANSWERABLE)
    assert sum(terms.values()) == pytest.approx(result.total, abs=1e-12)
    assert terms["assembly"] == pytest.approx(float(expected["assembly"]), abs=1e-12)
    assert terms["retrieval"] == pytest.approx(float(expected["retrieval"]), abs=1e-12)
    assert result.order == "ladder B>A>D>S>O"
    assert conclusion.label == "causal with limits"
    assert not any(p.status == "fail" for p in outcome.bundle.proofs["localize"])
    assert {e.role for e in outcome.comparison.effects} == {"term", "signal"}


def test_what_a_gate_refuses_is_the_gates_own_loss(localize: Any) -> None:
    outcome = localize(
        "reader=extractive",
        f"hydra.searchpath=[file://{Path(__file__).parent / 'conf'}]",
        "gate=refuses_some",
    )

    (result,) = outcome.comparison.analyses
    (conclusion,) = outcome.comparison.conclusions
    terms = {t.name: t for t in result.terms}
    expected = by_hand(outcome, dict(outcome.bundle.analyses[0].arms), ANSWERABLE)
    assert result.order == "ladder B>B'>A>D>S>O"
    assert conclusion.label == "causal with limits", conclusion.sentences
    assert terms["gate"].fixed > 0
    assert terms["gate"].value == pytest.approx(float(expected["gate"]), abs=1e-12)
    assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)
    study = outcome.bundle.study()
    assert study.buckets["q1"] == "gate"


@pytest.mark.parametrize(
    ("budget", "top_k", "reasons"),
    [
        (12, 2, {"assembly": {"q3": "truncated", "q4": "budget_cut", "q6": "truncated"}}),
        (
            15,
            1,
            {
                "assembly": {"q3": "truncated", "q4": "truncated"},
                "retrieval": {"q4": "reranked_out"},
            },
        ),
    ],
)
def test_losses_carry_the_reasons_that_the_traces_record(
    localize: Any, budget: int, top_k: int, reasons: dict[str, dict[str, str]]
) -> None:
    outcome = localize(
        "reader=extractive", f"assembler.budget_tokens={budget}", f"reranker.top_k={top_k}"
    )

    study = outcome.bundle.study()
    (result,) = outcome.comparison.analyses
    (conclusion,) = outcome.comparison.conclusions
    assert study.reasons == reasons
    for term in result.terms:
        if term.reasons:
            assert sum(term.reasons.values()) == pytest.approx(term.value, abs=1e-12)
    twice = any("on 1 question both assembly and retrieval lost" in s for s in conclusion.limits)
    assert twice == ("retrieval" in reasons)


def test_the_same_plan_twice_gives_the_same_ladder(localize: Any) -> None:
    first, second = (localize("reader=extractive").comparison for _ in range(2))

    assert first == second

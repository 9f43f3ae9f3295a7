from __future__ import annotations

import math

import pytest

from ragablate.gate.combined import Combined
from ragablate.gate.fitting import misfits
from ragablate.gate.floor import Floor
from ragablate.gate.floor_then_relevance import FloorThenRelevance
from ragablate.gate.function import FunctionGate
from ragablate.gate.gap import Gap
from ragablate.gate.relevance import Relevance
from ragablate.protocols import GateRequest
from ragablate.records import Corpus, Hit, Passage, Question
from ragablate.rerank.none import NoReranker
from ragablate.retrieve.hybrid import Hybrid
from ragablate.retrieve.none import NoRetriever
from ragablate.rewrite.none import NoRewriter

CORPUS = Corpus(tuple(Passage(f"p{i:02d}", f"passage {i}") for i in range(30)), "digest")


def request(qid, top, tenth, reranked, segment=""):
    """A question whose candidates fall evenly from the first to the tenth."""
    step = (top - tenth) / 9
    candidates = tuple(Hit(f"p{i:02d}", top - i * step) for i in range(10))
    retrieved = tuple(Hit(f"p{i:02d}", reranked - i / 100) for i in range(10))
    slices = {"kind": segment} if segment else {}
    return GateRequest(qid, Question(qid, f"{qid}?", slices=slices), candidates, retrieved)


A = request("phone support on the Pro plan", 0.83, 0.81, 0.12)
B = request("billing in another currency", 0.71, 0.46, 0.88)
PET = request("pet insurance", 0.41, 0.40, 0.05)
NOTHING = GateRequest("nothing", Question("nothing", "?"), (), ())


def outcomes(gate, *requests):
    assert gate.problems() == []
    return [item.value.outcome for item in gate.decide(CORPUS, requests)]


def test_a_floor_lets_a_crowded_neighbourhood_through():
    assert outcomes(Floor(0.60), A, B, PET, NOTHING) == ["go", "go", "refuse", "refuse"]


def test_a_floor_that_refuses_the_crowded_one_refuses_the_good_one_too():
    assert outcomes(Floor(0.84), A, B, PET) == ["refuse", "refuse", "refuse"]


def test_the_gap_tells_a_crowd_from_a_hit():
    assert outcomes(Gap(0.10), A, B, PET) == ["refuse", "go", "refuse"]


def test_a_lone_candidate_has_no_gap_and_no_crowd_is_told_of_it():
    lone = GateRequest("lone", Question("lone", "?"), (Hit("p00", 0.9),), (Hit("p00", 0.9),))
    for gate in (Gap(0.0), Combined({"gap": 1.0})):
        (item,) = gate.decide(CORPUS, [lone])
        assert item.value.outcome == "refuse"
        assert "gap" not in item.value.signals
        assert item.value.reason == "A single passage was found, and nothing to compare it with."


def test_relevance_reads_the_ranking():
    assert outcomes(Relevance(0.45), A, B, PET, NOTHING) == ["refuse", "go", "refuse", "refuse"]


def test_both_floors_say_which_one_it_was():
    gate = FloorThenRelevance(0.60, 0.45)
    assert outcomes(gate, A, B, PET, NOTHING) == ["refuse", "go", "refuse", "refuse"]
    told = [item.value for item in gate.decide(CORPUS, [A, PET])]
    assert told[0].signals["relevance"] == pytest.approx(0.12)
    assert "none answers it" in told[0].reason
    assert "near enough" in told[1].reason
    assert "relevance_floor" not in told[1].signals


def test_a_question_at_the_floor_goes_on():
    assert outcomes(Floor(0.71), B) == ["go"]
    assert outcomes(Floor(math.nextafter(0.71, 1)), B) == ["refuse"]


def test_a_segment_has_a_floor_of_its_own():
    gate = Floor(0.60, segment="kind", floors={"pricing": 0.80})
    own = request("priced", 0.71, 0.46, 0.88, "pricing")
    other = request("other", 0.71, 0.46, 0.88, "errors")
    assert outcomes(gate, own, other, B) == ["refuse", "go", "go"]


def test_below_the_floor_it_may_ask_back():
    assert outcomes(Floor(0.60, below="clarify"), PET, NOTHING) == ["clarify", "refuse"]


def test_signals_are_weighed_together():
    gate = Combined({"top": 1.0, "relevance": 10.0}, intercept=-5.0)
    assert outcomes(gate, A, B, NOTHING) == ["refuse", "go", "refuse"]
    told = next(iter(gate.decide(CORPUS, [B]))).value.signals
    assert told["combined"] == pytest.approx(1 / (1 + math.exp(5.0 - 0.71 - 8.8)))


@pytest.mark.parametrize(
    ("gate", "part"),
    [
        (Floor(None), "floor is None"),  # type: ignore[arg-type]
        (Floor(float("nan")), "floor is nan"),
        (Floor(0.5, below="shout"), "below is 'shout'"),
        (Floor(0.5, floors={"a": 0.2}), "segment names no slice"),
        (Floor(0.5, segment="kind", floors={"a": "x"}), "floors.a is 'x'"),  # type: ignore[dict-item]
        (FloorThenRelevance(0.5, True), "relevance is True"),
        (Combined({}), "weights is empty"),
        (Combined({"beauty": 1.0}), "names 'beauty'"),
        (Combined({"top": math.inf}), "top is inf"),
    ],
)
def test_what_has_no_meaning_is_said(gate, part):
    assert any(part in problem for problem in gate.problems())


def decide(question, passages, signals, least):
    if question.startswith("pet"):
        return "refuse", "No pets."
    return "go" if signals["top"] >= least and passages else "shout"


def test_a_function_decides_and_what_it_may_not_say_fails_that_question_alone(monkeypatch):
    monkeypatch.syspath_prepend(__file__.rsplit("/", 1)[0])
    gate = FunctionGate("test_floors:decide", args={"least": 0.8})
    a, b, pet = gate.decide(CORPUS, [A, B, PET])
    assert a.value.outcome == "go"
    assert "returned 'shout'" in b.failure.message
    assert (pet.value.outcome, pet.value.reason) == ("refuse", "No pets.")


def test_ranks_of_a_hybrid_are_no_scores_for_a_floor():
    stages = {"rewriter": NoRewriter(), "retriever": Hybrid({"bm25": NoRetriever()}),
              "reranker": NoReranker()}  # fmt: skip
    (said,) = misfits(["top", "gap"], stages)
    assert said.startswith("a gate on gap and top decides on the retriever's scores, and Hybrid")
    assert misfits(["agreement"], stages) == []
    assert misfits(["top"], {**stages, "retriever": NoRetriever()}) == []

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.judge.abstention import Abstention
from ragablate.judge.answer_match import AnswerMatch
from ragablate.judge.citation import Citation
from ragablate.judge.correct import Correct
from ragablate.judge.distractor import Distractor
from ragablate.judge.evidence import Evidence
from ragablate.judge.faithfulness import Faithfulness
from ragablate.judge.lexical import Lexical
from ragablate.judge.numbers import Numbers
from ragablate.judge.retrieval import Retrieval
from ragablate.records import Answer, Failure, GateDecision

PHRASES = ("I don't know", "* not in the")
JUDGES = [
    Abstention(PHRASES),
    AnswerMatch(PHRASES),
    AnswerMatch(PHRASES, "squad"),
    Citation(PHRASES),
    Correct(PHRASES),
    Distractor(Lexical(), PHRASES),
    Evidence(),
    Faithfulness(Lexical(), PHRASES),
    Numbers(PHRASES),
    Retrieval(recall=[1, 10], ranking="candidates"),
]
WORDS = [
    *["Paris", "[1]", "[p1]", "[9]", "1957.", "14.5%", "I don't know", "yes", "no", "。", "巴黎"],
    *["是", "باريس", "\n", "1.", "2.", "Straße", "25 March", "but", "not"],
]
TEXT = st.text(max_size=30) | st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
PIDS = st.sampled_from(["p1", "p2", "p3", "1"])
REQUESTS = st.fixed_dictionaries(
    {
        "answer": st.none() | TEXT | st.builds(Answer, TEXT, st.booleans()),
        "references": st.lists(TEXT, max_size=2),
        "answerable": st.booleans(),
        "passages": st.lists(st.tuples(PIDS, TEXT), max_size=3, unique_by=lambda p: p[0]),
        "retrieved": st.lists(PIDS, unique=True, max_size=3),
        "candidates": st.lists(PIDS, unique=True, max_size=4),
        "gold": st.lists(st.lists(PIDS, min_size=1, max_size=2), max_size=2),
        "gold_text": st.just("gold") | TEXT,
        "failure": st.none()
        | st.builds(Failure, st.sampled_from(["pipeline", "infrastructure", "judge"]), TEXT),
        "gate": st.none()
        | st.builds(GateDecision, st.sampled_from(["go", "refuse", "clarify", "broaden"]), TEXT),
        "prompted": st.booleans(),
        "question": TEXT,
    }
)


@pytest.mark.parametrize("judge", JUDGES, ids=lambda j: type(j).__name__)
@settings(deadline=None, max_examples=120)
@given(REQUESTS)
def test_a_value_is_a_share_or_missing_with_a_reason(request_of, judge, fields):
    [item] = judge.judge([request_of(**fields)])
    assert item.failure is None
    assert [v.measure for v in item.value] == [m.name for m in judge.measures()]
    for verdict in item.value:
        assert verdict.reason
        assert verdict.value is None or 0.0 <= verdict.value <= 1.0


@pytest.mark.parametrize("judge", JUDGES, ids=lambda j: type(j).__name__)
@settings(deadline=None, max_examples=25)
@given(st.lists(REQUESTS, max_size=5), st.randoms(use_true_random=False))
def test_neither_order_nor_company_of_requests_matters(request_of, judge, many, rng: random.Random):
    requests = [request_of(**fields, rid=f"r{i}") for i, fields in enumerate(many)]
    together = {item.id: item for item in judge.judge(requests)}
    alone = {r.id: next(iter(judge.judge([r]))) for r in requests}
    shuffled = [*requests]
    rng.shuffle(shuffled)
    assert together == alone == {item.id: item for item in judge.judge(shuffled)}


@pytest.mark.parametrize("judge", JUDGES, ids=lambda j: type(j).__name__)
@settings(deadline=None, max_examples=25)
@given(REQUESTS)
def test_a_failure_of_the_infrastructure_is_never_an_outcome_of_the_reader(
    request_of, judge, fields
):
    fields = {**fields, "answer": None, "failure": Failure("infrastructure", "timed out")}
    [item] = judge.judge([request_of(**fields)])
    values = {
        v.value for v, m in zip(item.value, judge.measures(), strict=True) if m.stage == "read"
    }
    assert values <= {None}


@pytest.mark.parametrize("judge", JUDGES, ids=lambda j: type(j).__name__)
def test_measures_of_all_judges_have_names_of_their_own(judge):
    names = [m.name for m in judge.measures()]
    others = [m.name for j in JUDGES if type(j) is not type(judge) for m in j.measures()]
    assert len({*names}) == len(names)
    assert {*names}.isdisjoint(others)

import pytest

from ragablate.judge.abstention import Abstention
from ragablate.records import Answer, Failure, GateDecision


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("I don't know.", 1.0), (Answer("-", abstained=True), 1.0), ("Paris", 0.0), ("", 0.0)],
)
@pytest.mark.parametrize("answerable", [True, False])
def test_declining_is_measured_on_every_question(
    request_of, value, phrases, answer, answerable, expected
):
    assert value(Abstention(phrases), request_of(answer, answerable=answerable)) == expected


def test_a_refusing_gate_says_why(request_of, verdict):
    request = request_of(None, gate=GateDecision("refuse", "nothing near"), prompted=False)
    assert verdict(Abstention(), request)["abstained"] == (
        1.0,
        "the gate said refuse: nothing near",
    )


@pytest.mark.parametrize(("kind", "expected"), [("pipeline", 0.0), ("infrastructure", None)])
def test_a_failure_is_no_abstention(request_of, value, kind, expected):
    assert value(Abstention(), request_of(None, failure=Failure(kind, "x"))) == expected


def test_neither_direction_is_better():
    assert Abstention().measures()[0].higher_is_better is None

import pytest

from ragablate.judge.numbers import Numbers
from ragablate.records import Failure, GateDecision


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It grew 14.5 % to 1,000 units.", 1.0),
        ("It grew 15 % to 1000 units.", 0.5),
        ("On 12 March 2020 it closed.", 1.0),
        ("On 13 March 2020 it closed.", 0.0),
        ("增长了14.5%，达到1000。", 1.0),
        ("نما بنسبة ١٤٫٥٪", 1.0),
        ("Es wuchs um 14,5 Prozent auf 1.000 Stück [7].", 1.0),
        ("1. It grew 14.5 %\n2. It closed", 1.0),
        ("It grew a lot.", None),
        ("In 1999 it grew a lot.", None),
        ("In 1999 it grew 20 %.", 0.0),
    ],
)
def test_figures_of_the_answer_must_stand_in_the_context(request_of, value, answer, expected):
    passages = [("a", "Growth was 14.5%."), ("b", "1000 units; closed 2020-03-12")]
    request = request_of(answer, passages=passages, question="What happened in 1999?")
    assert value(Numbers(), request) == expected


def test_one_passage_must_state_a_figure_alone(request_of, value):
    passages = [("a", "opened on 12 March"), ("b", "in 2020")]
    request = request_of("It opened on 12 March 2020.", passages=passages)
    assert value(Numbers(), request) == 0.0


def test_the_lost_figures_are_named(request_of, verdict):
    request = request_of("5, 6 and 7", passages=[("a", "6")])
    assert verdict(Numbers(), request)["numbers_supported"] == (1 / 3, "not in the context: 5, 7")


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "I don't know 5."},
        {"answer": ""},
        {"answer": None, "failure": Failure("pipeline", "x")},
        {"answer": None, "gate": GateDecision("refuse")},
    ],
)
def test_what_says_nothing_has_no_figures(request_of, verdict, phrases, change):
    got, reason = verdict(Numbers(phrases), request_of(**change))["numbers_supported"]
    assert got is None
    assert reason

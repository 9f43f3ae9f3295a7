import pytest

from ragablate.judge.correct import Correct
from ragablate.records import Answer, Failure, GateDecision


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [
        ("It is in Paris, France.", "Paris", True),
        ("the PARIS!", "paris", True),
        ("Parisian life", "Paris", False),
        ("It costs 14.5 euros", "4.5", False),
        ("It costs 1,000 euros", "1000", True),
        ("New York is not old York City", "New York City", False),
        ("巴黎是法国的首都。", "法国", True),
        ("法兰西的国都", "法国", False),
        ("عاصمة فرنسا هي باريس.", "باريس", True),
        ("Die Hauptstadt ist München.", "münchen", True),
        ("It was founded [1] in 1851 [2].", "founded in 1851", True),
        ("It has 12 rooms [3].", "3", False),
        ("See [doc-7].", "doc", False),
    ],
)
def test_a_reference_must_occur_as_a_sequence_of_tokens(
    request_of, value, answer, reference, right
):
    request = request_of(answer, references=[reference], passages=[("doc-7", "text")])
    assert value(Correct(), request) == float(right)


@pytest.mark.parametrize(
    ("answer", "reference", "right"),
    [
        ("No.", "no", True),
        ("Yes [1]", "yes", True),
        ("There is no evidence.", "no", False),
        ("Yes, both are.", "yes", False),
        ("不是", "是", False),
        ("是。", "是", True),
    ],
)
def test_yes_and_no_must_be_the_whole_answer(request_of, value, answer, reference, right):
    judge = Correct(exact=["yes", "no", "是"])
    assert value(judge, request_of(answer, references=[reference])) == float(right)


def test_any_reference_will_do(request_of, verdict):
    request = request_of("It was Mbappé", references=["Messi", "", "Mbappé"])
    assert verdict(Correct(), request) == {"correct": (1.0, "holds 'Mbappé'")}


def test_references_of_symbols_and_articles_are_compared_too(request_of, value):
    assert value(Correct(), request_of("A", references=["A"])) == 1.0
    assert value(Correct(), request_of("+", references=["+"])) == 1.0
    assert value(Correct(), request_of("-", references=["+"])) == 0.0


@pytest.mark.parametrize("references", [[], ["", "  "]])
def test_an_answerable_question_without_reference_is_unmeasured(request_of, verdict, references):
    for failure in (None, Failure("pipeline", "overflow")):
        request = request_of("Paris", references=references, failure=failure)
        assert verdict(Correct(), request)["correct"] == (None, "no reference answer")


@pytest.mark.parametrize(("answerable", "expected"), [(True, 0.0), (False, 1.0)])
@pytest.mark.parametrize("answer", ["I don't know Paris", Answer("", abstained=True)])
def test_an_abstention_is_right_only_where_there_is_no_answer(
    request_of, value, phrases, answer, answerable, expected
):
    request = request_of(answer, answerable=answerable)
    assert value(Correct(phrases), request) == expected


@pytest.mark.parametrize("outcome", ["refuse", "clarify", "broaden"])
@pytest.mark.parametrize(("answerable", "expected"), [(True, 0.0), (False, 1.0)])
def test_a_gate_that_declines_is_an_abstention(request_of, value, outcome, answerable, expected):
    gate = GateDecision(outcome, "too far")
    request = request_of(None, answerable=answerable, gate=gate, prompted=False)
    assert value(Correct(), request) == expected


def test_a_gate_that_lets_go_abstains_from_nothing(request_of, value):
    assert value(Correct(), request_of("Paris", gate=GateDecision("go"))) == 1.0


@pytest.mark.parametrize("answerable", [True, False])
@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_is_wrong_everywhere(request_of, verdict, answer, answerable):
    request = request_of(answer, answerable=answerable)
    assert verdict(Correct(), request)["correct"] == (0.0, "empty answer")


def test_an_answer_to_an_unanswerable_question_is_wrong(request_of, value):
    assert value(Correct(), request_of("Paris", answerable=False)) == 0.0


@pytest.mark.parametrize("answerable", [True, False])
@pytest.mark.parametrize(
    ("kind", "expected"), [("pipeline", 0.0), ("infrastructure", None), ("judge", None)]
)
def test_only_a_failure_of_the_pipeline_is_an_outcome(
    request_of, verdict, kind, expected, answerable
):
    request = request_of(None, failure=Failure(kind, "went wrong"), answerable=answerable)
    assert verdict(Correct(), request)["correct"] == (expected, f"{kind} failure: went wrong")


def test_a_trace_without_answer_or_failure_is_unmeasured(request_of, verdict):
    assert verdict(Correct(), request_of(None))["correct"] == (None, "no answer was recorded")

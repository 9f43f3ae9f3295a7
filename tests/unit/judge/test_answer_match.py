import pytest

from ragablate.judge.answer_match import AnswerMatch
from ragablate.records import Failure


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "f1", "contains"),
    [
        ("the Eiffel Tower", "Eiffel tower", 1.0, 1.0, 1.0),
        ("the tall Eiffel Tower", "Eiffel tower", 0.0, 0.8, 1.0),
        ("tower of Eiffel", "Eiffel tower", 0.0, 0.8, 0.0),
        ("the the cat cat", "cat", 0.0, 2 / 3, 1.0),
        ("Rome", "Paris", 0.0, 0.0, 0.0),
        ("巴黎市", "巴黎", 0.0, 0.8, 1.0),
        ("北京", "巴黎", 0.0, 0.0, 0.0),
        ("١٢٣", "123", 1.0, 1.0, 1.0),
        ("Straße [1]", "STRASSE", 1.0, 1.0, 1.0),
    ],
)
def test_words_match_in_any_script(request_of, verdict, answer, reference, exact, f1, contains):
    got = verdict(AnswerMatch(), request_of(answer, references=[reference]))
    assert got["exact_match"][0] == exact
    assert got["token_f1"][0] == pytest.approx(f1, abs=1e-15)
    assert got["contains"][0] == contains


def test_each_measure_takes_its_best_reference(request_of, verdict):
    got = verdict(AnswerMatch(), request_of("New York", references=["York", "New York", "City"]))
    assert {name: value for name, (value, _) in got.items()} == {
        "exact_match": 1.0,
        "token_f1": 1.0,
        "contains": 1.0,
    }


def test_squad_normalization_is_that_of_the_script(request_of, value):
    request = request_of("U.S.A", references=["USA"])
    assert value(AnswerMatch(normalization="squad"), request) == 1.0
    chinese = request_of("巴黎市", references=["巴黎"])
    assert value(AnswerMatch(normalization="squad"), chinese, "token_f1") == 0.0
    articles = request_of("The The", references=["the"])
    assert value(AnswerMatch(normalization="squad"), articles, "token_f1") == 1.0


@pytest.mark.parametrize("answer", ["I don't know the Paris thing", "", "  "])
def test_declining_and_silence_match_nothing(request_of, verdict, phrases, answer):
    got = verdict(AnswerMatch(phrases), request_of(answer))
    assert [value for value, _ in got.values()] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("change", [{"answerable": False}, {"references": []}])
def test_without_a_reference_nothing_is_measured(request_of, verdict, change):
    got = verdict(AnswerMatch(), request_of("Paris", **change))
    assert all(value is None and reason for value, reason in got.values())


def test_only_a_failure_of_the_pipeline_is_an_outcome(request_of, value):
    assert value(AnswerMatch(), request_of(None, failure=Failure("pipeline", "x"))) == 0.0
    assert value(AnswerMatch(), request_of(None, failure=Failure("infrastructure", "x"))) is None


def test_an_unknown_normalization_is_a_problem():
    assert "words, squad" in AnswerMatch(normalization="snow").problems()[0]
    assert AnswerMatch(normalization="squad").problems() == []

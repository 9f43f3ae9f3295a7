import tracemalloc

import pytest

from ragablate.judge.declining import is_abstention, phrase_problems
from ragablate.records import Failure


@pytest.mark.parametrize(
    ("answer", "declined"),
    [
        ("I don't know.", True),
        ("I DON’T KNOW!", True),
        ("I don't know what the passages say about pet insurance. Please ask support.", True),
        ("The context does not say.", True),
        ("The context does not say [1].", True),
        ("我不知道。", True),
        ("لا أعرف", True),
        ("The year cannot be determined.", True),
        ("The year cannot be determined [2].", False),
        ("Her hit was I Don't Know.", False),
        ("Paris. I don't know more.", False),
        ("I don't know the day, but it was in 1887.", False),
        ("I don't know. However, it was built in 1887.", False),
        ("I don't know. It was not built by anyone, however.", True),
        ("我不知道，但是可能是巴黎。", False),
        ("", False),
        ("[1]", False),
        ("Paris", False),
    ],
)
def test_a_phrase_declines_at_the_start_of_an_answer(request_of, phrases, answer, declined):
    assert is_abstention(request_of(answer).trace, phrases) is declined


def test_without_phrases_only_the_sentinel_declines(request_of):
    assert not is_abstention(request_of("I don't know").trace, ())


def test_a_longer_phrase_takes_its_own_turn_with_it(request_of):
    trace = request_of("I'm sorry, but I can't say.").trace
    assert is_abstention(trace, ("I'm sorry", "I'm sorry, but I"))
    assert not is_abstention(trace, ("I'm sorry",))


def test_a_failed_answer_declines_nothing(request_of, phrases):
    request = request_of("I don't know", failure=Failure("pipeline", "overflow"))
    assert not is_abstention(request.trace, phrases)


def test_what_a_passage_says_makes_no_abstention(request_of, phrases):
    request = request_of("Paris", passages=[("p", "I don't know. The context does not say.")])
    assert not is_abstention(request.trace, phrases)


@pytest.mark.parametrize("phrase", ["", " ", "* ", "*"])
def test_a_phrase_without_words_is_a_problem_and_matches_nothing(request_of, phrase):
    assert len(phrase_problems(["no answer", phrase])) == 1
    assert not is_abstention(request_of("Paris").trace, [phrase])


def test_judging_a_refusal_of_many_words_takes_memory_by_its_length_not_its_square(
    request_of, phrases
):
    trace = request_of("I don't know " + "word " * 10_000).trace
    is_abstention(request_of("I don't know").trace, phrases)
    tracemalloc.start()
    try:
        assert is_abstention(trace, phrases)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000

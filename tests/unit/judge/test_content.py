import pytest

from ragablate.judge.content import content_words, denies, names, vocabulary


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The treaty was signed in Paris in 1951.", {"treaty", "signed", "paris"}),
        ("Obama's wife isn't Angela.", {"obama", "wife", "angela"}),
        ("Der Vertrag wurde in Paris unterzeichnet.", {"vertrag", "paris", "unterzeichnet"}),
        ("巴黎是法国首都", {"巴黎", "法国", "国首", "首都"}),
        ("巴黎，伦敦", {"巴黎", "伦敦"}),
        ("火", {"火"}),
        ("وقعت المعاهدة في باريس", {"وقعت", "المعاهدة", "باريس"}),
        ("Yes.", set()),
        ("No, not 1951!", set()),
        ("是的", set()),
        ("不是", set()),
        ("", set()),
        ("+ … 😀", set()),
    ],
)
def test_content_leaves_out_function_words_denials_and_figures(text, words):
    assert content_words(text) == words


def test_a_text_holds_its_own_content_and_names():
    text = "The Paris-born Émile said that 巴黎是首都 isn't O'Hara's ʼOkina."
    assert content_words(text) <= vocabulary(text)
    assert names(text) <= vocabulary(text)


def test_a_sentence_may_leave_out_a_function_word():
    assert content_words("法国首都") <= vocabulary("法国的首都")
    assert content_words("法国的首都") <= vocabulary("法国首都")
    assert not content_words("法国首都") <= vocabulary("法国。首都")


def test_single_letters_of_unspaced_scripts_are_held():
    assert "火" in vocabulary("大火车")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Paris is in France.", {"france"}),
        ("Then “Angela Merkel” met (UNESCO) envoys.", {"angela", "merkel", "unesco"}),
        ("Der Vertrag galt.", {"vertrag"}),
        ("巴黎是首都", set()),
        ("Paris", set()),
    ],
)
def test_names_are_capitalised_behind_the_first_word(sentence, expected):
    assert names(sentence) == expected


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("It is not true.", True),
        ("It isn’t true.", True),
        ("Das ist kein Vertrag.", True),
        ("No lo sabía nunca.", True),
        ("这不是真的", True),
        ("ليس صحيحا", True),
        ("It is true, notably in Northumbria.", False),
        ("", False),
    ],
)
def test_denials_are_whole_words(text, denied):
    assert denies(text) is denied

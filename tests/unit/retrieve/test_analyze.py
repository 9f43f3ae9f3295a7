import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.errors import AdapterError
from ragablate.retrieve.analyze import Analyzer
from ragablate.retrieve.words import cut, unify

EXAMPLES = settings(deadline=None, max_examples=150)
PLAIN = Analyzer(language="multilingual")


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("en", "The dogs were running in the U.S.", ["dog", "were", "run", "u", "s"]),
        ("en", "Don’t eat O'Brien's pies", ["don't", "eat", "o'brien", "pie"]),
        ("en", "It costs 1,234.50, or 12,5 %; call_me maybe.",
         ["cost", "1,234.50", "12,5", "call", "me", "mayb"]),
        ("de", "Die Häuser an der großen Straße", ["haus", "gross", "strass"]),
        ("fr", "L'eau de l’école", ["eau", "écol"]),
        ("es", "Los niños estaban corriendo", ["niñ", "corr"]),
        ("ru", "Красивые книги в библиотеках", ["красив", "книг", "библиотек"]),
        ("ar", "المدرسة الكبيرة", ["مدرس", "كبير"]),
        ("tr", "IŞIK ve İSTANBUL'da", ["ışık", "istanbul"]),
        ("zh", "黑豹队的防守", ["黑豹", "豹队", "队的", "的防", "防守"]),
        ("ja", "東京タワーへ行く", ["東京", "京タ", "タワ", "ワー", "ーへ", "へ行", "行く"]),
        ("th", "ประเทศไทย", ["ปร", "ระ", "ะเ", "เท", "ทศ", "ศไ", "ไท", "ทย"]),
        ("ko", "한국어는 쉽다", ["한국어는", "쉽다"]),
        ("hi", "मैं हिन्दी बोलता हूँ", ["हिन्द", "बोल", "हूँ"]),
    ],
)  # fmt: skip
def test_real_sentences_become_terms(language, text, terms):
    assert Analyzer(language=language).terms(text) == terms


def test_marks_stay_with_their_letters_in_every_script():
    assert PLAIN.terms("हिन्दी ভাষা தமிழ்") == ["हिन्दी", "ভাষা", "தமிழ்"]
    assert PLAIN.terms("ที่นี่") == ["ที่นี่"]
    assert PLAIN.terms("ខ្មែរ")[0].startswith("ខ្")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cafe\u0301", "café"),
        ("ﬁnance", "finance"),
        ("ＡＢＣ１２", "abc12"),
        ("ｱｲｽ", "アイス"),
        ("مُحَمَّد", "محمد"),
        ("مـحـمـد", "محمد"),
        ("שָׁלוֹם", "שלום"),
        ("٣٠٨", "308"),
        ("๖๐", "60"),
        ("co\u00adoperate", "cooperate"),
        ("\ufeffLos", "los"),
        ("ไทย\u200bดี", "ไทย ดี"),
        ("o’clock", "o'clock"),
    ],
)
def test_spellings_a_reader_takes_to_be_the_same_give_the_same_terms(one, other):
    assert PLAIN.terms(one) == PLAIN.terms(other) != []


def test_scripts_without_spaces_are_cut_whatever_the_language():
    assert Analyzer(language="en").terms("visit 東京 NFL的") == ["visit", "東京", "nfl", "的"]


def test_a_single_character_of_such_a_script_stands_for_itself():
    assert PLAIN.terms("京") == ["京"]
    assert PLAIN.terms("一、二") == ["一", "二"]


def test_no_pair_spans_punctuation_or_other_scripts():
    assert PLAIN.terms("中国・日本") == ["中国", "日本"]
    assert PLAIN.terms("第3章") == ["第", "3", "章"]


def test_underscores_separate():
    assert PLAIN.terms("Super_Bowl_50") == ["super", "bowl", "50"]


@pytest.mark.parametrize("text", ["", " \n", "?!…", "🙂", "\u0301", "\ud800"])
def test_text_without_letters_and_digits_has_no_terms(text):
    assert Analyzer().terms(text) == []


@EXAMPLES
@given(st.text())
def test_any_text_can_be_analysed_and_gives_no_empty_terms(text):
    assert all(Analyzer(language="de").terms(text + " Wort"))


@EXAMPLES
@given(st.text(alphabet=st.characters(codec="ascii")), st.booleans())
def test_the_rule_for_ascii_text_is_the_general_one(text, apostrophes):
    # A letter that is not ASCII switches to the general rule; the space keeps it apart.
    general = cut(unify(text + " é", True), apostrophes)
    assert cut(unify(text, True), apostrophes) == general[:-1]


@EXAMPLES
@given(st.text())
def test_whitespace_is_lower_and_split_to_the_letter(text):
    naive = Analyzer(tokenizer="whitespace", stemmer="none", stopwords="none")
    assert naive.terms(text) == text.lower().split()


def test_whitespace_leaves_scripts_without_spaces_whole():
    naive = Analyzer(tokenizer="whitespace", stemmer="none", stopwords="none")
    assert naive.terms("黑豹队 的防守。 It's") == ["黑豹队", "的防守。", "it's"]


def test_case_is_kept_where_lowercase_is_off():
    assert Analyzer(lowercase=False, stemmer="none").terms("Apple apple") == ["Apple", "apple"]


def test_half_a_surrogate_pair_is_a_word_like_any_other():
    assert Analyzer(tokenizer="whitespace").terms("\ud800 dogs") == ["\ud800", "dog"]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("as", "as"),
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("relational", "relat"),
        ("assembly", "assembl"),
        ("assemblies", "assembl"),
        ("ecology", "ecolog"),
        ("biology", "biologi"),
        ("nobly", "nobli"),
        ("incredibly", "incred"),
        ("generalizations", "gener"),
    ],
)
def test_porter_is_the_one_of_lucene(word, stem):
    assert Analyzer(stemmer="porter", stopwords="none").terms(word) == [stem]


def test_snowball_english_is_not_porter():
    assert Analyzer(stemmer="snowball").terms("generously news") == ["generous", "news"]
    assert Analyzer(stemmer="porter").terms("generously news") == ["gener", "new"]


def test_stop_words_go_before_stemming_and_by_list():
    text = "the computer is on fire"
    assert Analyzer(stemmer="none").terms(text) == ["computer", "fire"]
    assert Analyzer(stemmer="none", stopwords="none").terms(text) == text.split()
    assert Analyzer(stemmer="none", stopwords="en").terms("the river is") == ["river"]
    assert Analyzer(language="de", stemmer="none").terms("und der Fluss") == ["fluss"]


def test_lucene_has_33_stop_words():
    listed = (
        "a an and are as at be but by for if in into is it no not of on or such that the their "
        "then there these they this to was will with"
    )
    assert len(listed.split()) == 33
    assert Analyzer(stopwords="lucene").terms(listed + " from were he") == ["from", "were", "he"]


def test_multilingual_has_the_rules_of_no_language():
    terms = ["the", "dogs", "houses", "und", "häuser"]
    assert PLAIN.terms("The dogs’ houses und Häuser") == terms
    assert Analyzer(language="none").terms("The dogs’ houses und Häuser") == terms


def test_a_language_without_rules_is_cut_all_the_same():
    assert Analyzer(language="sw").terms("Habari za asubuhi") == ["habari", "za", "asubuhi"]


def by_comma(text):
    return [part.strip() for part in text.split(",")]


def not_a_list(text):
    return text


def test_a_function_can_be_the_tokenizer(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "my_cutter", __import__("types").ModuleType("m"))
    module = __import__("sys").modules["my_cutter"]
    module.by_comma, module.not_a_list = by_comma, not_a_list
    module.__spec__ = __import__("importlib.machinery").machinery.ModuleSpec("my_cutter", None)
    analyzer = Analyzer(tokenizer="my_cutter:by_comma", stemmer="none")
    assert analyzer.terms("New York, the, 東京都") == ["new york", "東京都"]
    with pytest.raises(AdapterError, match="my_cutter:not_a_list returned str"):
        Analyzer(tokenizer="my_cutter:not_a_list").terms("x")


@pytest.mark.parametrize(
    ("knobs", "problem"),
    [
        ({"language": "english"}, "analyzer.language is 'english': give a two-letter code"),
        ({"language": False}, "Norwegian is 'nb'"),
        ({"stemmer": "lancaster"}, "give one of auto, none, porter, snowball"),
        ({"stemmer": "porter", "language": "de"}, "porter is for English"),
        ({"stemmer": "snowball", "language": "zh"}, "has no rules for analyzer.language=zh"),
        ({"stemmer": "snowball", "language": "multilingual"}, "has no rules"),
        ({"stopwords": "xx"}, "analyzer.stopwords is 'xx', for which there is no list"),
        ({"tokenizer": "spacy"}, "analyzer.tokenizer is 'spacy': give words, whitespace or"),
        ({"tokenizer": "no_such_module:f"}, "there is no module 'no_such_module'"),
    ],
)
def test_a_knob_without_meaning_is_a_problem_before_and_an_error_while_running(knobs, problem):
    (found,) = Analyzer(**knobs).problems()
    assert problem in found
    with pytest.raises(AdapterError):
        Analyzer(**knobs).terms("text")


def test_the_identity_names_the_libraries_that_are_used():
    assert Analyzer(stemmer="none").identity() == {}
    assert Analyzer().identity()["stemmer"].startswith("snowball: PyStemmer ")
    assert Analyzer(language="de").identity()["stopwords"].startswith("de: stop-words ")
    assert "stopwords" not in Analyzer().identity()
    function = Analyzer(tokenizer="ragablate.retrieve.words:cut", stemmer="none").identity()
    assert len(function["tokenizer"]) > 64

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.errors import AdapterError, MissingExtra
from ragablate.text.tokens import (
    WORDS,
    count_tokens,
    tokenizer_identity,
    tokenizer_problems,
    truncate,
)

REAL = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab c1.,'-\n\t 今天の東京ภาษาไทยאבגعربي한국हिन्दी😀"),
        st.sampled_from("\u0301\u200d\ufe0f\u0e31\u093f\u05b8\u064b\u200f"),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("don't", 3),
        ("3.14", 3),
        ("snake_case", 1),
        ("今天好。", 4),
        ("東京タワー", 5),
        ("ไทย", 3),
        ("हिन्दी में", 2),
        ("שָׁלוֹם", 1),
        ("e\u0301te\u0301", 1),
        ("👨\u200d👩\u200d👧", 3),
        ("❤\ufe0f", 1),
        ("한국어 문장", 2),
        ("\u0301", 1),
    ],
)
def test_words_rule_counts_words_spaceless_letters_and_symbols(text, tokens):
    assert count_tokens(text) == tokens


@settings(deadline=None, max_examples=150)
@given(REAL, st.integers(0, 30))
def test_truncation_keeps_the_longest_prefix_that_fits(text, limit):
    cut = truncate(text, limit)
    assert text.startswith(cut)
    assert count_tokens(cut) == min(limit, count_tokens(text))
    if count_tokens(text) <= limit and limit:
        assert cut == text


@settings(deadline=None, max_examples=100)
@given(REAL, REAL)
def test_joining_texts_never_costs_more_than_both(left, right):
    assert count_tokens(left + right) <= count_tokens(left) + count_tokens(right)


def test_truncation_to_nothing_is_empty():
    assert truncate("some words", 0) == ""
    assert truncate("some words", -3) == ""


def test_words_rule_has_no_problems_and_is_its_own_identity():
    assert tokenizer_problems(WORDS) == []
    assert tokenizer_identity(WORDS) == WORDS


def test_missing_tokenizer_file_is_a_problem_that_names_it(tmp_path):
    path = str(tmp_path / "tokenizer.json")
    problems = tokenizer_problems(path)
    assert len(problems) == 1
    assert path in problems[0]


def test_identity_of_a_tokenizer_file_follows_its_content(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    first = tokenizer_identity(str(path))
    path.write_text("{ }")
    assert first.startswith("sha256:")
    assert tokenizer_identity(str(path)) != first


def test_a_model_tokenizer_without_its_package_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"ragablate\[tokenizers\]"):
        count_tokens("text", "some/absent-model")


def test_a_tokenizer_file_is_used_for_counting_and_cutting(tmp_path):
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    vocabulary = {"[UNK]": 0, "red": 1, "green": 2, "blue": 3}
    path.write_text(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "pre_tokenizer": {"type": "Whitespace"},
                "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
            }
        )
    )
    assert count_tokens("red green blue", str(path)) == 3
    assert truncate("red green blue", 2, str(path)) == "red green"


def test_a_broken_tokenizer_file_is_an_adapter_error(tmp_path):
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    path.write_text("not json")
    with pytest.raises(AdapterError, match="cannot be loaded"):
        count_tokens("text", str(path))

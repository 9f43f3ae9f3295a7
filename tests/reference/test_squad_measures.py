"""Exact match and token F1 against the evaluation script of SQuAD v1.1."""

import re
import string
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ragablate.judge.answer_match import AnswerMatch
from ragablate.protocols import JudgeRequest
from ragablate.records import Answer, Context, Gold, ResolvedGold, Trace

# The functions below are the script's own, after Rajpurkar et al. (2016).


def normalize_answer(s):
    s = "".join(ch for ch in s.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", s).split())


def f1_score(prediction, ground_truth):
    prediction_tokens = normalize_answer(prediction).split()
    ground_truth_tokens = normalize_answer(ground_truth).split()
    num_same = sum((Counter(prediction_tokens) & Counter(ground_truth_tokens)).values())
    if num_same == 0:
        return 0
    precision = 1.0 * num_same / len(prediction_tokens)
    recall = 1.0 * num_same / len(ground_truth_tokens)
    return (2 * precision * recall) / (precision + recall)


def exact_match_score(prediction, ground_truth):
    return normalize_answer(prediction) == normalize_answer(ground_truth)


WORDS = ["the", "a", "Denver", "Broncos", "24–10", "1,000", "U.S.", "an", "won;", "2016", "Café"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@settings(deadline=None, max_examples=200)
@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_squad_script(prediction, references):
    assume(all(normalize_answer(text) for text in (prediction, *references)))
    trace = Trace(
        "", "q", 1, "q", (), (), (), (), None, Context(), "c", "f", "p", Answer(prediction), None
    )
    request = JudgeRequest("r", trace, Gold("q", (), tuple(references)), ResolvedGold("q"))
    [item] = AnswerMatch(normalization="squad").judge([request])
    got = {v.measure: v.value for v in item.value}
    assert got["exact_match"] == max(exact_match_score(prediction, ref) for ref in references)
    assert got["token_f1"] == pytest.approx(
        max(f1_score(prediction, ref) for ref in references), abs=1e-12
    )

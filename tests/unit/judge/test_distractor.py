"""Wrong answers and the passages they were taken from."""

from __future__ import annotations

import pytest

from ragablate.judge.distractor import Distractor
from ragablate.judge.lexical import Lexical
from ragablate.judge.tracing import gold_shown, grounded_elsewhere
from ragablate.records import Answer, ContextPassage, Failure

OLD = ("old", "Tariff 2021: the standard delivery takes 9 working days.")
NEW = ("new", "Tariff 2024: the standard delivery takes 4 working days.")
OTHER = ("other", "Returns are free of charge.")


def test_a_wrong_answer_names_the_passage_it_was_taken_from(request_of, verdict):
    request = request_of(
        "The standard delivery takes 9 working days [1].",
        references=["4 working days"],
        passages=[OLD, NEW, OTHER],
        gold=[["new"]],
        gold_text=NEW[1],
    )
    judge = Distractor(Lexical())
    value, reason = verdict(judge, request)["wrong_passage"]
    assert (value, reason) == (1.0, "grounded in the wrong passage: old")
    [item] = judge.judge([request])
    [claim] = item.value[0].claims
    assert (claim.pid, claim.text) == ("old", "The standard delivery takes 9 working days.")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"answer": "It takes 4 working days."}, 0.0),
        ({"answer": "The standard delivery takes 7 working days."}, 0.0),
        # Wrong, but the gold says it as well.
        ({"answer": "Working days.", "references": ["four"]}, 0.0),
        ({"answer": "Returns are free of charge."}, 1.0),
        ({"answer": "Returns are free of charge.", "answerable": False, "gold": []}, 1.0),
        ({"answer": "Nine."}, 0.0),
        ({"answer": "Yes."}, None),
        ({"answer": "I don't know."}, None),
        ({"answer": ""}, None),
        ({"answer": Answer("x", abstained=True)}, None),
        ({"answer": None, "failure": Failure("infrastructure", "x")}, None),
        ({"gold": []}, None),
        ({"references": []}, None),
    ],
)
def test_only_a_traced_wrong_answer_counts(request_of, value, phrases, change, expected):
    fields = {
        "answer": "The standard delivery takes 9 working days.",
        "references": ["4 working days"],
        "passages": [OLD, NEW, OTHER],
        "gold": [["new"]],
        "gold_text": NEW[1],
        **change,
    }
    assert value(Distractor(Lexical(), phrases), request_of(**fields)) == expected


def test_a_log_is_traced_without_a_model_and_with_pids_alone():
    passages = [ContextPassage(pid, text, text) for pid, text in (OLD, NEW, OTHER)]
    answer = "The standard delivery takes 9 working days; returns are free of charge."
    found = grounded_elsewhere(answer, passages, {"new"})
    assert [(c.pid, c.status) for c in found] == [("old", "supported"), ("other", "supported")]
    assert grounded_elsewhere(answer, passages, {"new", "old", "other"}) == ()
    assert grounded_elsewhere("", passages, {"new"}) == ()


def test_a_duplicate_of_the_gold_is_no_wrong_passage(request_of):
    request = request_of(passages=[NEW, ("copy", NEW[1])], gold=[["new"]], gold_text=NEW[1])
    assert gold_shown(request.resolved, request.trace.context.passages) == {"new", "copy"}

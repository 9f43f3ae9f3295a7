from __future__ import annotations

import pytest

from ragablate.diagnose import observed_reasons
from ragablate.records import (
    ContextPassage,
    Evicted,
    Gold,
    GoldPassage,
    Hit,
    ResolvedAlternative,
    ResolvedGold,
)
from ragablate.traces import QuestionLine, Retrieved, TraceLine

BODY = "The Zorbat Bridge was opened by Ada Lind in 1931."


def gold(pid, indexed=True):
    return GoldPassage(ContextPassage(pid, BODY + pid, BODY + pid), ("Ada Lind",), indexed)


def question(*parts, documents=()):
    resolved = ResolvedGold(
        "q", tuple((ResolvedAlternative((passage,)),) for passage in parts), True
    )
    return QuestionLine("q", "?", "", "", Gold("q"), resolved, False, "", {}, dict(documents))


def line(retrieved=(), candidates=(), evicted=()):
    return TraceLine(
        "control",
        "q",
        1,
        "?",
        tuple(Retrieved(pid, 1.0, i, document) for i, (pid, document) in enumerate(retrieved, 1)),
        (),
        "a",
        candidates=tuple(Hit(pid, 1.0) for pid in candidates),
        evicted=tuple(Evicted(pid, reason) for pid, reason in evicted),
    )


def shown(pid, body=None):
    text = BODY + pid if body is None else body
    return ContextPassage(pid, text, text, body is not None)


def test_nothing_is_lost_where_all_evidence_is_shown():
    assert observed_reasons(line([("p", "")]), question(gold("p")), [shown("p")]) == {}


@pytest.mark.parametrize("reason", ["deduped", "budget_cut", "depth_cut", "cleaned"])
def test_what_the_assembler_left_out_has_its_reason(reason):
    log = line([("p", "")], evicted=[("p", reason)])

    assert observed_reasons(log, question(gold("p")), []) == {"assembly": reason}


def test_a_passage_cut_before_its_evidence_is_truncated():
    log = line([("p", "")])

    found = observed_reasons(log, question(gold("p")), [shown("p", "The Zorbat Bridge was")])

    assert found == {"assembly": "truncated"}


@pytest.mark.parametrize(
    ("log", "asked", "reason"),
    [
        (line(), question(gold("p", indexed=False)), "not_indexed"),
        (line(candidates=["x"]), question(gold("p")), "not_in_candidates"),
        (line(candidates=["x", "p"]), question(gold("p")), "reranked_out"),
        (line([("doc#2", "doc")], ["doc#2"]), question(gold("doc#1"), documents=[("doc#1", "doc")]),
         "right_document_other_passage"),
        (line([("doc#2", "doc")], ["doc#2", "doc#1"]),
         question(gold("doc#1"), documents=[("doc#1", "doc")]), "reranked_out"),
        (line([("other#1", "other")]), question(gold("doc#1"), documents=[("doc#1", "doc")]),
         "not_in_candidates"),
        (line([("x", "")]), question(gold("p")), "not_in_candidates"),
    ],
)  # fmt: skip
def test_what_was_not_retrieved_has_the_reason_the_ranking_shows(log, asked, reason):
    assert observed_reasons(log, asked, []) == {"retrieval": reason}


def test_of_several_reasons_the_earliest_in_the_pipeline_is_named():
    log = line([("a", ""), ("b", "")], ["a", "b", "c"], [("a", "budget_cut"), ("b", "deduped")])
    asked = question(gold("a"), gold("b"), gold("c"), gold("d", indexed=False))

    assert observed_reasons(log, asked, []) == {"assembly": "deduped", "retrieval": "not_indexed"}


def test_an_eviction_that_was_not_recorded_is_said_as_such():
    assert observed_reasons(line([("p", "")]), question(gold("p")), []) == {
        "assembly": "not_recorded"
    }

"""Answers sentence by sentence."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.judge.faithfulness import Faithfulness
from ragablate.records import ContextPassage, Verdict
from ragablate.report.saying import lexical_judge, said

BRIDGE = ContextPassage("p1", "The Zorbat Bridge was opened in 1931.", "")
RIVER = ContextPassage("p2", "The Mirr is a river of 214 kilometres.", "")
BOTH = (BRIDGE, RIVER)
JUDGE = Faithfulness().supporting


def _verdict(value: float | None, reason: str) -> Verdict:
    return Verdict("q", 1, "faithfulness", value, reason)


def test_each_claim_names_the_passage_that_supports_it() -> None:
    answer = "The Zorbat Bridge was opened in 1931. The Mirr is a river of 214 kilometres."
    found = said(answer, BOTH, (), _verdict(1.0, "supported by p1, p2"), JUDGE)
    assert [(s.support, s.claim) for s in found] == [("p1", True), ("p2", True)]


def test_a_claim_that_nothing_supports_is_told_from_one_that_was_not_judged() -> None:
    answer = "The Zorbat Bridge was opened in 1931. Its architect was Edna Moll."
    reason = "supported by p1; 1 of 2 claims unsupported"
    half = _verdict(0.5, reason)
    judged = said(answer, BOTH, (), half, JUDGE)
    assert [(s.support, s.claim) for s in judged] == [("p1", True), ("", True)]
    for verdict, judge in ((None, JUDGE), (_verdict(None, "declined"), JUDGE), (half, None)):
        unjudged = said(answer, BOTH, (), verdict, judge)
        assert [(s.support, s.claim) for s in unjudged] == [("", False)] * 2


def test_support_that_would_contradict_the_verdict_is_not_shown() -> None:
    answer = "The Zorbat Bridge was opened in 1931. Its architect was Edna Moll."
    found = said(answer, BOTH, (), _verdict(0.75, "supported by p1, p2"), JUDGE)
    assert not any(s.claim for s in found)


def test_a_sentence_without_a_claim_is_supported_by_nothing() -> None:
    answer = "Yes. The Zorbat Bridge was opened in 1931."
    found = said(answer, BOTH, (), _verdict(1.0, "supported by p1"), JUDGE)
    assert [(s.support, s.claim) for s in found] == [("", False), ("p1", True)]


def test_markers_point_to_the_passages_they_name() -> None:
    found = said("It was opened in 1931 [1, 2]. See [9].", BOTH, ("p1", "p2"), None, None)
    assert [s.pieces for s in found] == [
        ("It was opened in 1931", (" [1, 2]", ("p1", "p2")), "."),
        (" See", (" [9]", ()), "."),
    ]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(["A b.", " ", "[1]", "[2, 3]", "\n", "x", "…", "。", "!"])))
def test_nothing_of_an_answer_is_lost(pieces: list[str]) -> None:
    answer = "".join(pieces)
    found = said(answer, BOTH, ("p1",), None, None)
    written = [p if isinstance(p, str) else p[0] for s in found for p in s.pieces]
    assert answer == "".join(written)


def test_the_judge_is_the_plans_own() -> None:
    target = "ragablate.judge.faithfulness.Faithfulness"
    node = {"_target_": target, "threshold": 0.5, "match_names": False, "phrases": []}
    judge = lexical_judge({"judge": {"faithfulness": node}})
    assert judge is not None
    assert (judge.threshold, judge.match_names) == (0.5, False)
    assert lexical_judge({"judge": {"faithfulness": {"_target_": "other.Judge"}}}) is None
    assert lexical_judge({}) is None

"""Answers sentence by sentence."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.records import Claim, ContextPassage, Verdict
from ragablate.report.saying import said

BRIDGE = ContextPassage("p1", "The Zorbat Bridge was opened in 1931.", "")
RIVER = ContextPassage("p2", "The Mirr is a river of 214 kilometres.", "")
BOTH = (BRIDGE, RIVER)


def _verdict(*claims: Claim) -> Verdict:
    return Verdict("q", 1, "faithfulness", 0.5, "", claims)


OPENED = Claim("The Zorbat Bridge was opened in 1931.", "supported", "p1")
LENGTH = Claim("The Mirr is a river of 214 kilometres.", "supported", "p2")
ARCHITECT = Claim("Its architect was Edna Moll.", "unsupported")


def test_each_claim_names_the_passage_that_supports_it() -> None:
    found = said(f"{OPENED.text} {LENGTH.text}", BOTH, (), _verdict(OPENED, LENGTH))
    assert [s.claims for s in found] == [(OPENED,), (LENGTH,)]


def test_a_claim_that_nothing_supports_is_told_from_one_that_was_not_judged() -> None:
    answer = f"{OPENED.text} {ARCHITECT.text}"
    judged = said(answer, BOTH, (), _verdict(OPENED, ARCHITECT))
    assert [s.claims for s in judged] == [(OPENED,), (ARCHITECT,)]
    unclear = Claim(ARCHITECT.text, "unclear")
    found = said(answer, BOTH, (), _verdict(OPENED, unclear))
    assert [s.claims for s in found] == [(OPENED,), (unclear,)]
    for verdict in (None, _verdict()):
        assert [s.claims for s in said(answer, BOTH, (), verdict)] == [(), ()]


def test_a_sentence_without_a_claim_is_supported_by_nothing() -> None:
    found = said(f"Yes. {OPENED.text}", BOTH, (), _verdict(OPENED))
    assert [s.claims for s in found] == [(), (OPENED,)]


def test_every_claim_of_a_sentence_keeps_its_own_passage() -> None:
    half = Claim("it is red", "contradicted", "p2")
    whole = Claim("it is long", "supported", "p2")
    answer = "The bridge is old; it is red. The bridge is old; it is long."
    old = Claim("The bridge is old", "supported", "p1")
    found = said(answer, BOTH, (), _verdict(old, half, old, whole))
    assert [s.claims for s in found] == [(old, half), (old, whole)]


def test_a_claim_whose_words_stand_nowhere_hides_no_other() -> None:
    lost = Claim("Edna was its architect", "contradicted", "p1")
    found = said(f"{OPENED.text} {LENGTH.text}", BOTH, (), _verdict(OPENED, lost, LENGTH))
    assert [s.claims for s in found] == [(OPENED,), (LENGTH,), (lost,)]
    assert found[-1].pieces == ()


def test_markers_point_to_the_passages_they_name() -> None:
    found = said("It was opened in 1931 [1, 2]. See [9].", BOTH, ("p1", "p2"), None)
    assert [s.pieces for s in found] == [
        ("It was opened in 1931", (" [1, 2]", ("p1", "p2")), "."),
        (" See", (" [9]", ()), "."),
    ]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(["A b.", " ", "[1]", "[2, 3]", "\n", "x", "…", "。", "!"])))
def test_nothing_of_an_answer_is_lost(pieces: list[str]) -> None:
    answer = "".join(pieces)
    found = said(answer, BOTH, ("p1",), None)
    written = [p if isinstance(p, str) else p[0] for s in found for p in s.pieces]
    assert answer == "".join(written)

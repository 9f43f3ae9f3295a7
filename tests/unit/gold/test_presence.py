"""Whether gold is there as text, or by pid."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.gold import covered, is_gap, present, present_parts, resolve, retrieved_parts
from ragablate.records import (
    Alternative,
    ContextPassage,
    Corpus,
    Gold,
    GoldPassage,
    Part,
    Passage,
    ResolvedAlternative,
    ResolvedGold,
)


def shown(pid: str, body: str, truncated: bool = False) -> ContextPassage:
    return ContextPassage(pid, f"Title of {body}\n{body}", body, truncated)


def gold(pid: str, body: str, *evidence: str, indexed: bool = True) -> GoldPassage:
    return GoldPassage(shown(pid, body), evidence, indexed)


def one_part(*alternatives: tuple[GoldPassage, ...], any_of: bool = False) -> ResolvedGold:
    return ResolvedGold("q", (tuple(ResolvedAlternative(a, any_of) for a in alternatives),))


BODY = "Oslo is the capital. It is old."


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        (shown("p", BODY), True),
        (shown("p", "Oslo is the capital.", truncated=True), True),
        (shown("p", "Oslo is the cap", truncated=True), False),
        (shown("other", BODY), True),
        (shown("other", "Oslo is the capital.", truncated=True), True),
        (shown("other", "Oslo is", truncated=True), False),
        (shown("other", "", truncated=True), False),
        (shown("other", "They say: Oslo is the capital. True."), False),
    ],
)
def test_located_evidence_must_stand_in_the_passage_or_a_duplicate(
    passage: ContextPassage, expected: bool
) -> None:
    assert covered(gold("p", BODY, "the capital"), [passage]) is expected


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        (shown("p", BODY), True),
        (shown("p", BODY[:-1], truncated=True), False),
        (shown("other", BODY), True),
        (shown("other", BODY[:-1], truncated=True), False),
        (shown("other", BODY + " More."), False),
    ],
)
def test_without_located_evidence_the_whole_passage_is_needed(
    passage: ContextPassage, expected: bool
) -> None:
    assert covered(gold("p", BODY), [passage]) is expected


def test_all_pieces_of_evidence_are_needed() -> None:
    both = gold("p", BODY, "Oslo", "old")
    assert covered(both, [shown("p", BODY)])
    assert not covered(both, [shown("p", "Oslo is the capital.", truncated=True)])


def test_a_title_is_no_evidence() -> None:
    titled = ContextPassage("p", "the capital\nOslo", "Oslo", truncated=True)
    assert not covered(gold("p", BODY, "the capital"), [titled])


def test_text_outside_the_corpus_is_held_by_any_passage_it_occurs_in() -> None:
    own = gold("gold:q:0", "Oslo is old.", indexed=False)
    assert covered(own, [shown("p", "Some say Oslo is old. So it is.")])
    assert covered(own, [shown("gold:q:0", "Oslo is old.")])
    assert not covered(own, [shown("p", "Some say Oslo is o", truncated=True)])


def test_every_part_counts_once_by_any_alternative() -> None:
    a, b, c = gold("a", "aa"), gold("b", "bb"), gold("c", "cc")
    resolved = ResolvedGold(
        "q",
        (
            (ResolvedAlternative((a,)), ResolvedAlternative((b,))),
            (ResolvedAlternative((b, c)),),
        ),
    )
    assert present(resolved, []) == (0, 2)
    assert present(resolved, [a.passage]) == (1, 2)
    assert present(resolved, [b.passage]) == (1, 2)
    assert present_parts(resolved, [c.passage]) == (False, False)
    assert present(resolved, [c.passage, b.passage]) == (2, 2)
    assert retrieved_parts(resolved, ["b"]) == (1, 2)
    assert retrieved_parts(resolved, {"b", "c"}) == (2, 2)


def test_document_level_gold_needs_one_passage() -> None:
    document = one_part((gold("a", "aa"), gold("b", "bb")), any_of=True)
    assert present(document, [shown("b", "bb")]) == (1, 1)
    assert retrieved_parts(document, ["a"]) == (1, 1)
    assert present(document, [shown("c", "cc")]) == (0, 1)


def test_retrieval_is_by_pid_alone() -> None:
    assert retrieved_parts(one_part((gold("p", BODY, "Oslo"),)), ["other"]) == (0, 1)
    assert retrieved_parts(one_part((gold("gold:q:0", BODY, indexed=False),)), ["p"]) == (0, 1)


def test_nothing_to_find_is_zero_of_zero() -> None:
    for resolved in (ResolvedGold("q"), ResolvedGold("q", (), False)):
        assert present(resolved, [shown("p", BODY)]) == (0, 0)
        assert retrieved_parts(resolved, ["p"]) == (0, 0)
    assert is_gap(ResolvedGold("q"))
    assert not is_gap(ResolvedGold("q", (), False))


WORDS = st.lists(st.sampled_from(["oslo", "is", "3", "13", "中", "ß."]), min_size=1, max_size=8)


@settings(deadline=None, max_examples=150)
@given(st.lists(WORDS, min_size=1, max_size=3), st.data())
def test_evidence_is_present_exactly_while_no_needed_text_is_missing(
    texts: list[list[str]], data: st.DataObject
) -> None:
    passages = tuple(
        Passage(f"p{i}", f"{i} " + " ".join(words), doc_id=f"p{i}") for i, words in enumerate(texts)
    )
    spans = []
    for passage in passages:
        start = data.draw(st.integers(2, len(passage.text) - 1))
        end = data.draw(st.integers(start + 1, len(passage.text)))
        if not passage.text[start:end].strip():
            end = len(passage.text)
        spans.append((start, start + len(passage.text[start:end].rstrip())))
    parts = tuple(
        Part((Alternative(pid=p.pid, start=s, end=e),))
        for p, (s, e) in zip(passages, spans, strict=True)
    )
    resolved = resolve(Gold("q", parts), Corpus(passages, "d"), {}, lambda p: shown(p.pid, p.text))
    n = len(passages)
    context = [shown(p.pid, p.text) for p in passages]
    assert present(resolved, context) == (n, n)
    assert present(resolved, context[::-1]) == (n, n)

    victim = data.draw(st.integers(0, n - 1))
    without = context[:victim] + context[victim + 1 :]
    assert present(resolved, without) == (n - 1, n)
    assert present_parts(resolved, without)[victim] is False

    at = data.draw(st.integers(0, len(passages[victim].text)))
    cut = replace(context[victim], body=passages[victim].text[:at], truncated=True)
    held = present_parts(resolved, [*without, cut])[victim]
    assert held is (at >= spans[victim][1])

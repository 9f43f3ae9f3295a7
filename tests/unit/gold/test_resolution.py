"""Gold as passages of a corpus."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragablate.gold import is_gap, resolve
from ragablate.records import (
    Alternative,
    ContextPassage,
    Corpus,
    Document,
    Gold,
    Part,
    Passage,
    ResolvedGold,
)

TEXT = "Oslo lies on a fjord. It has trams. Its opera is white."
CORPUS = (
    Passage("p1", "Oslo is the capital of Norway.", "Oslo", "p1"),
    Passage("p2", "Bergen is rainy.", "Bergen", "p2"),
    Passage("c0", TEXT[0:21], "", "d", 0),
    Passage("c1", TEXT[22:35], "", "d", 22),
    Passage("c2", TEXT[36:55], "", "d", 36),
    Passage("e0", "   ", "Empty", "e"),
)
DOCUMENTS = {"d": Document("d", TEXT)}


def show(passage: Passage) -> ContextPassage:
    return ContextPassage(passage.pid, f"{passage.title}\n{passage.text}", passage.text)


def resolved(
    *parts: Sequence[Alternative],
    answers: tuple[str, ...] = (),
    corpus: tuple[Passage, ...] = CORPUS,
    documents: dict[str, Document] = DOCUMENTS,
    coverage: float = 1.0,
    answerable: bool = True,
) -> ResolvedGold:
    gold = Gold("q", tuple(Part(tuple(part)) for part in parts), answers, answerable)
    return resolve(gold, Corpus(corpus, "digest"), documents, show, coverage)


def flat(gold: ResolvedGold) -> list[list[list[tuple[str, tuple[str, ...]]]]]:
    """Parts of alternatives of (pid, evidence)."""
    return [
        [[(p.passage.pid, p.evidence) for p in alternative.passages] for alternative in part]
        for part in gold.parts
    ]


def test_a_pid_is_its_passage_with_the_answer_as_evidence() -> None:
    gold = resolved([Alternative(pid="p1")], answers=("the capital", "oslo"))
    assert flat(gold) == [[[("p1", ("Oslo",))]]]
    shown = gold.parts[0][0].passages[0]
    assert shown.passage.text == "Oslo\nOslo is the capital of Norway."
    assert shown.indexed
    assert not gold.parts[0][0].any_of


def test_a_passage_without_the_answer_is_needed_whole() -> None:
    gold = resolved([Alternative(pid="p1")], [Alternative(pid="p2")], answers=("Norway",))
    assert flat(gold) == [[[("p1", ("Norway",))]], [[("p2", ())]]]


def test_quotes_come_before_the_span_and_the_span_before_the_answer() -> None:
    both = Alternative(pid="p1", start=0, end=4, quotes=("capital", "Norway."))
    span = Alternative(pid="p1", start=12, end=20)
    gold = resolved([both, span], answers=("Oslo",))
    assert flat(gold) == [[[("p1", ("capital", "Norway."))], [("p1", ("capital",))]]]


def test_a_span_that_repeats_earlier_words_is_made_unique() -> None:
    corpus = (Passage("p", "3 of 13 and 3.", doc_id="p"),)
    gold = resolved([Alternative(pid="p", start=12, end=13)], corpus=corpus)
    assert flat(gold) == [[[("p", ("d 3",))]]]


def test_alternatives_keep_their_order_and_equal_ones_are_one() -> None:
    gold = resolved([Alternative(pid="p2"), Alternative(pid="p1"), Alternative(pid="p2")])
    assert flat(gold) == [[[("p2", ())], [("p1", ())]]]


@pytest.mark.parametrize(
    "alternative",
    [
        Alternative(pid="p9"),
        Alternative(pid="e0"),
        Alternative(doc_id="e"),
        Alternative(doc_id="x"),
        Alternative(),
        Alternative(text="  "),
        Alternative(pid="p1", quotes=("not in it",)),
        Alternative(pid="p1", quotes=(" ",)),
        Alternative(pid="p1", start=20, end=90),
        Alternative(pid="p1", start=4, end=5),
        Alternative(doc_id="d", quotes=("not in it",)),
        Alternative(doc_id="d", start=50, end=56),
    ],
)
def test_what_cannot_be_resolved_is_dropped_and_a_part_without_any_makes_a_gap(
    alternative: Alternative,
) -> None:
    gold = resolved([Alternative(pid="p2")], [alternative])
    assert gold.parts == ()
    assert is_gap(gold)
    kept = resolved([alternative, Alternative(pid="p2")])
    assert flat(kept) == [[[("p2", ())]]]
    assert not is_gap(kept)


def test_no_gold_is_a_gap_unless_the_question_is_unanswerable() -> None:
    assert is_gap(resolved())
    unanswerable = resolved([Alternative(pid="p1")], answerable=False)
    assert unanswerable == ResolvedGold("q", (), False)
    assert not is_gap(unanswerable)


def test_a_document_is_any_one_of_its_passages() -> None:
    gold = resolved([Alternative(doc_id="d")], answers=("trams",))
    assert flat(gold) == [[[("c0", ()), ("c1", ("trams",)), ("c2", ())]]]
    assert gold.parts[0][0].any_of


def test_a_passage_that_was_not_cut_is_its_own_document() -> None:
    corpus = (Passage("p", "text"),)
    assert flat(resolved([Alternative(doc_id="p")], corpus=corpus)) == [[[("p", ())]]]


@pytest.mark.parametrize("documents", [DOCUMENTS, {}])
def test_a_span_of_a_document_is_the_passage_that_covers_it(
    documents: dict[str, Document],
) -> None:
    gold = resolved([Alternative(doc_id="d", start=29, end=34)], documents=documents)
    assert flat(gold) == [[[("c1", ("trams",))]]]
    assert not gold.parts[0][0].any_of


def test_a_straddling_span_needs_all_its_passages() -> None:
    gold = resolved([Alternative(doc_id="d", start=15, end=28)])
    assert flat(gold) == [[[("c0", ("fjord.",)), ("c1", ("It has",))]]]
    assert not gold.parts[0][0].any_of


def test_coverage_can_spare_a_small_rest() -> None:
    lenient = resolved([Alternative(doc_id="d", start=0, end=24)], coverage=0.85)
    assert [[pid for pid, _ in alternative] for alternative in flat(lenient)[0]] == [["c0"]]


def test_quotes_of_a_document_survive_a_change_of_chunks() -> None:
    quoted = Alternative(doc_id="d", quotes=("It has trams.",))
    assert flat(resolved([quoted])) == [[[("c1", ("It has trams.",))]]]
    halves = (Passage("h0", TEXT[:28], "", "d", 0), Passage("h1", TEXT[28:], "", "d", 28))
    assert flat(resolved([quoted], corpus=halves)) == [[[("h0", ("It has",)), ("h1", ("trams.",))]]]


def test_overlapping_passages_are_alternatives_of_one_part() -> None:
    overlapping = (Passage("a", TEXT[:40], "", "d", 0), Passage("b", TEXT[10:], "", "d", 10))
    gold = resolved([Alternative(doc_id="d", start=22, end=35)], corpus=overlapping)
    assert [[pid for pid, _ in alternative] for alternative in flat(gold)[0]] == [["a"], ["b"]]


def test_a_text_of_its_own_is_a_passage_outside_the_corpus() -> None:
    gold = resolved(
        [Alternative(pid="p1")], [Alternative(text="Narvik is a port.")], answers=("port",)
    )
    own = gold.parts[1][0].passages[0]
    assert own.passage.pid == "gold:q:1"
    assert own.passage.body == "Narvik is a port."
    assert own.evidence == ("port",)
    assert not own.indexed


def test_a_text_that_the_corpus_has_is_that_passage() -> None:
    corpus = (*CORPUS, Passage("a2", "Bergen is rainy.", "", "a2"))
    gold = resolved([Alternative(text="Bergen is rainy.")], corpus=corpus)
    assert flat(gold) == [[[("a2", ())]]]
    assert gold.parts[0][0].passages[0].indexed


def test_evidence_that_an_assembler_does_not_show_verbatim_is_not_located() -> None:
    gold = Gold("q", (Part((Alternative(pid="p1"),)),), ("Oslo",))
    corpus = Corpus(CORPUS, "digest")

    def shout(passage: Passage) -> ContextPassage:
        return ContextPassage(passage.pid, passage.text.upper(), passage.text.upper())

    assert flat(resolve(gold, corpus, {}, shout)) == [[[("p1", ())]]]

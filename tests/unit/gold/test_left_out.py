"""Gold that a chunker left out of a document stays evidence: it exists, and cannot be found."""

from __future__ import annotations

from ragablate.assemble.ranked import Ranked
from ragablate.dataset.digests import corpus_digest
from ragablate.gold import is_gap, present, resolve
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

TEXT = "Single sign-on is on Pro. Teams under 50 seats need the Security add-on."
DOCUMENT = Document("d", TEXT, "Plans")
QUOTE = "Teams under 50 seats need the Security add-on."


def resolved(
    gold: Gold, *spans: tuple[int, int], coverage: float = 1.0
) -> tuple[ResolvedGold, Corpus]:
    passages = tuple(Passage(f"d:{a}-{b}", TEXT[a:b], doc_id="d", start=a) for a, b in spans)
    corpus = Corpus(passages, corpus_digest(passages))
    return resolve(gold, corpus, {"d": DOCUMENT}, Ranked().render, coverage), corpus


def gold(*alternatives: Alternative) -> Gold:
    return Gold("q", (Part(alternatives),), ("50",))


def test_a_quote_in_no_passage_is_its_own_text_outside_the_corpus() -> None:
    found, corpus = resolved(gold(Alternative(doc_id="d", quotes=(QUOTE,))), (0, 25))
    assert not is_gap(found)
    ((alternative,),) = found.parts
    (passage,) = alternative.passages
    assert (passage.indexed, passage.passage.body) == (False, QUOTE)
    assert passage.passage.pid not in corpus.by_pid
    shown = [Ranked().render(p) for p in corpus.passages]
    assert present(found, shown) == (0, 1)
    assert present(found, [ContextPassage("x", TEXT, TEXT)]) == (1, 1)


def test_a_span_over_two_passages_needs_both() -> None:
    span = Alternative(doc_id="d", start=TEXT.index("under"), end=TEXT.index(" need"))
    middle = TEXT.index("50")
    found, corpus = resolved(gold(span), (0, middle), (middle, len(TEXT)))
    shown = [Ranked().render(p) for p in corpus.passages]
    assert present(found, shown) == (1, 1)
    assert present(found, shown[:1]) == (0, 1)
    assert present(found, shown[1:]) == (0, 1)


def test_a_lower_coverage_is_content_with_most_of_a_span() -> None:
    span = Alternative(doc_id="d", start=TEXT.index("Teams"), end=len(TEXT))
    most = (TEXT.index("under"), len(TEXT))
    strict, corpus = resolved(gold(span), most)
    loose, _ = resolved(gold(span), most, coverage=0.8)
    shown = [Ranked().render(p) for p in corpus.passages]
    assert present(strict, shown) == (0, 1)
    assert present(loose, shown) == (1, 1)


def test_what_was_left_out_counts_only_where_nothing_else_is_indexed() -> None:
    both = gold(
        Alternative(doc_id="d", quotes=(QUOTE,)),
        Alternative(doc_id="d", quotes=("Single sign-on is on Pro.",)),
    )
    found, _ = resolved(both, (0, 25))
    ((alternative,),) = found.parts
    assert [g.indexed for g in alternative.passages] == [True]


def test_a_quote_that_stands_nowhere_is_an_eval_gap() -> None:
    found, _ = resolved(gold(Alternative(doc_id="d", quotes=("Not there.",))), (0, 25))
    assert is_gap(found)

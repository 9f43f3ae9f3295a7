import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.assemble.ranked import ORDERS, OVERFLOWS, Ranked
from ragablate.errors import AdapterError
from ragablate.protocols import AssembleRequest
from ragablate.records import Corpus, Evicted, Hit, Passage, Question
from ragablate.text.tokens import count_tokens

TEXT = st.text(alphabet=st.sampled_from("ab c. \n今。ไอ\u0301😀\u200dאר٣"), max_size=30) | st.text(
    max_size=20
)


def corpus(*texts, **more):
    return Corpus(tuple(Passage(f"p{i}", text, **more) for i, text in enumerate(texts)), "")


def assemble(ranked, over, pids=None):
    pids = pids if pids is not None else [p.pid for p in over.passages]
    ranking = tuple(Hit(pid, -float(i)) for i, pid in enumerate(pids))
    (item,) = ranked.assemble(over, [AssembleRequest("x", Question("q", "?"), ranking)])
    assert item.id == "x"
    return item.value if item.failure is None else item.failure


def pids(context):
    return [p.pid for p in context.passages]


def test_passages_stand_in_rank_order_with_their_titles():
    over = corpus("One.", "Two.", title="A  title\nin lines")
    context = assemble(Ranked(budget_tokens=None), over)
    assert pids(context) == ["p0", "p1"]
    assert context.passages[0].text == "A title in lines\nOne."
    assert context.passages[0].body == "One."
    assert context.budget_tokens is None
    assert context.evicted == ()


def test_metadata_are_printed_in_the_given_order_where_present():
    meta = {"status": "old\nversion", "year": 1999, "draft": False, "none": None}
    passage = Passage("p", "Body.", "Title", meta=meta)
    shown = Ranked(show_meta=["year", "missing", "status", "draft", "none"]).render(passage)
    assert shown.text == "Title\nyear: 1999; status: old version; draft: false\nBody."
    assert Ranked(show_title=False).render(passage).text == "Body."


def test_render_shows_the_whole_passage_whatever_the_budget():
    passage = Passage("p", "word " * 50, "T")
    shown = Ranked(budget_tokens=3).render(passage)
    assert shown.body == passage.text
    assert shown.text == "T\n" + passage.text
    assert not shown.truncated
    assert shown.tokens == count_tokens(shown.text) == 51


def test_stop_cuts_the_first_that_does_not_fit_and_all_after_it():
    context = assemble(Ranked(budget_tokens=5, overflow="stop"), corpus("a b c", "d e f", "g"))
    assert pids(context) == ["p0"]
    assert context.evicted == (Evicted("p1", "budget_cut"), Evicted("p2", "budget_cut"))


def test_skip_tries_smaller_ones_further_down():
    context = assemble(Ranked(budget_tokens=5, overflow="skip"), corpus("a b c", "d e f", "g"))
    assert pids(context) == ["p0", "p2"]
    assert context.evicted == (Evicted("p1", "budget_cut"),)


def test_truncate_cuts_at_a_token_and_flags_it():
    context = assemble(Ranked(budget_tokens=5), corpus("a b c", "d e f", "g"))
    assert [p.text for p in context.passages] == ["a b c", "d e"]
    assert [p.truncated for p in context.passages] == [False, True]
    assert context.passages[1].tokens == 2
    assert context.evicted == (Evicted("p2", "budget_cut"),)


def test_truncate_sentence_cuts_after_a_whole_sentence_or_evicts():
    over = corpus("One two. Three four. Five six.", "Seven eight.")
    ranked = Ranked(budget_tokens=8, overflow="truncate_sentence")
    context = assemble(ranked, over)
    assert [p.body for p in context.passages] == ["One two. Three four."]
    assert context.passages[0].truncated
    assert context.evicted == (Evicted("p1", "budget_cut"),)
    assert pids(assemble(Ranked(budget_tokens=2, overflow="truncate_sentence"), over)) == []


def test_a_header_alone_never_enters():
    context = assemble(Ranked(budget_tokens=2), corpus("a b", title="Long title"))
    assert context.passages == ()
    assert context.evicted == (Evicted("p0", "budget_cut"),)


def test_the_budget_counts_headers():
    context = assemble(Ranked(budget_tokens=4, overflow="stop"), corpus("a", "b", title="T"))
    assert pids(context) == ["p0", "p1"]
    assert sum(p.tokens for p in context.passages) == 4


def test_max_passages_counts_after_deduplication():
    over = corpus("same text", "Same  TEXT", "other", "third")
    context = assemble(Ranked(max_passages=2), over)
    assert pids(context) == ["p0", "p2"]
    assert context.evicted == (Evicted("p1", "deduped"), Evicted("p3", "depth_cut"))


def test_no_deduplication_keeps_equal_texts():
    assert pids(assemble(Ranked(dedupe=None), corpus("same", "same"))) == ["p0", "p1"]


def test_near_duplicates_go_from_the_threshold_on():
    words = "one two three four five six seven eight nine ten"
    over = corpus(words, f"{words} eleven", "something else entirely here, you see")
    # 6 shared shingles of 7: a similarity of 0.857.
    assert pids(assemble(Ranked(dedupe=0.85), over)) == ["p0", "p2"]
    assert pids(assemble(Ranked(dedupe=0.86), over)) == ["p0", "p1", "p2"]
    assert pids(assemble(Ranked(dedupe=6 / 7), over)) == ["p0", "p2"]


def test_texts_without_words_are_alike_only_if_equal():
    assert pids(assemble(Ranked(dedupe=0.5), corpus("…", "!", "…"))) == ["p0", "p1"]


def test_a_duplicate_is_compared_with_what_is_kept_only():
    a, b, c = "a b c d e f", "b c d e f g", "c d e f g h"
    # b resembles a and goes; c resembles b alone and stays.
    assert pids(assemble(Ranked(dedupe=0.3), corpus(a, b, c))) == ["p0", "p2"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [("best_first", "012345"), ("best_last", "543210"), ("sides", "024531")],
)
def test_orders_put_the_best_where_they_say(order, expected):
    context = assemble(Ranked(order=order), corpus(*"abcdef"))
    assert "".join(pid[1] for pid in pids(context)) == expected


def test_what_is_left_out_is_listed_in_the_order_of_the_ranking():
    over = corpus("a b c", "A b c", "d e f", "g h i")
    context = assemble(Ranked(budget_tokens=3, order="best_last"), over, ["p3", "p1", "p2", "p0"])
    assert pids(context) == ["p3"]
    expected = [("p1", "budget_cut"), ("p2", "budget_cut"), ("p0", "deduped")]
    assert [(e.pid, e.reason) for e in context.evicted] == expected


def test_an_empty_ranking_gives_an_empty_context():
    assert assemble(Ranked(), corpus("a"), []).passages == ()


def test_a_pid_outside_the_corpus_fails_that_question():
    failure = assemble(Ranked(), corpus("a"), ["p0", "nowhere"])
    assert failure.kind == "pipeline"
    assert "nowhere" in failure.message


@pytest.mark.parametrize(
    "knobs",
    [
        {"order": "worst_first"},
        {"overflow": "explode"},
        {"dedupe": 0},
        {"dedupe": 1.5},
        {"budget_tokens": -1},
        {"max_passages": -2},
    ],
)
def test_settings_out_of_range_are_problems_and_errors(knobs):
    (name,) = knobs
    assert name in Ranked(**knobs).problems()[0]
    with pytest.raises(AdapterError, match=name):
        list(Ranked(**knobs).assemble(corpus(), []))
    assert Ranked().problems() == []


@settings(deadline=None, max_examples=200)
@given(
    texts=st.lists(TEXT, max_size=6),
    title=TEXT,
    budget=st.none() | st.integers(0, 40),
    overflow=st.sampled_from(OVERFLOWS),
    order=st.sampled_from(ORDERS),
    dedupe=st.sampled_from([None, 0.3, 1.0]),
    most=st.none() | st.integers(0, 4),
)
def test_every_retrieved_passage_is_shown_or_evicted_within_the_budget(
    texts, title, budget, overflow, order, dedupe, most
):
    over = corpus(*texts, title=title)
    ranked = Ranked(budget, "words", most, dedupe, order, overflow)
    context = assemble(ranked, over)
    total = sum(count_tokens(p.text) for p in context.passages)
    assert budget is None or total <= budget
    assert [p.tokens for p in context.passages] == [count_tokens(p.text) for p in context.passages]
    assert most is None or len(context.passages) <= most
    both = pids(context) + [e.pid for e in context.evicted]
    assert sorted(both) == [p.pid for p in over.passages]
    for shown in context.passages:
        full = ranked.render(over.by_pid[shown.pid])
        assert full.text.startswith(shown.text)
        assert full.body.startswith(shown.body)
        assert shown.truncated == (shown.text != full.text)
    assert assemble(ranked, over) == context

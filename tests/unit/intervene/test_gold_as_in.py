"""One context with the evidence of another: small ones, then generated pipelines."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_interventions import alternative, apply, gold, part, pids, request, shown
from test_manipulation import POSITIONS, is_gold, requests

from ragablate.errors import AdapterError
from ragablate.gold import present_parts
from ragablate.intervene.gold_as_in import GoldAsIn
from ragablate.intervene.with_gold import WithGold
from ragablate.records import Context, Evicted


def other(passages):
    return Context(tuple(shown(p) if isinstance(p, str) else p for p in passages))


def edited(asked, passages, position="rank:1", seed=0):
    return apply(GoldAsIn("R", position, seed), replace(asked, other=other(passages)))


def test_gold_that_only_the_other_shows_is_added_and_distractors_stay():
    asked = request("ac", [part("B")], "ac")
    assert pids(edited(asked, "xBy")) == "Bac"


def test_gold_that_only_this_one_shows_is_taken_out_and_its_space_stays_empty():
    asked = request("aBc", [part("B")], "aBcd", evicted="d", budget=30)
    context = edited(asked, "xyz")
    assert pids(context) == "ac"
    assert context.evicted == (Evicted("d", "budget_cut"),)
    assert context.budget_tokens == 30


@pytest.mark.parametrize(("own", "elsewhere"), [("aB", "Bx"), ("a", "x"), ("", ""), ("aB", "xB")])
def test_where_both_show_it_or_neither_does_the_context_is_the_very_same(own, elsewhere):
    asked = request(own, [part("B")], own, budget=5)
    assert edited(asked, elsewhere) is asked.context


def test_each_part_is_decided_on_its_own():
    asked = request("aBC", [part("B"), part("C"), part("D")], "aBC")
    assert pids(edited(asked, "CDx")) == "DaC"


def test_a_question_without_evidence_keeps_its_context():
    asked = request("ab", [], "ab", budget=5)
    assert edited(asked, "xyz") is asked.context


def test_evicted_gold_goes_back_at_its_rank_and_the_lowest_distractor_gives_way():
    asked = request("acd", [part("B")], "aBcde", evicted="Be", budget=30)
    context = edited(asked, "B")
    assert pids(context) == "aBc"
    assert context.evicted == (Evicted("d", "displaced"), Evicted("e", "budget_cut"))


def test_gold_of_any_part_is_never_displaced_even_over_the_budget():
    asked = request("aBE", [part("B"), part("C"), part("E", "F")], "aBE", budget=15)
    context = edited(asked, "BCF")
    assert pids(context) == "CBE"
    assert context.evicted == (Evicted("a", "displaced"),)


@pytest.mark.parametrize(
    ("position", "expected"), [("first", "DaBc"), ("last", "aBcD"), ("rank:3", "aBDc")]
)
def test_a_position_places_added_gold_and_moves_no_other(position, expected):
    asked = request("aBc", [part("B"), part("D")], "aBc")
    assert pids(edited(asked, "BD", position)) == expected


def test_all_alternatives_of_a_part_are_taken_out():
    asked = request("aBC", [part("B", "C")], "aBC")
    assert pids(edited(asked, "x")) == "a"


def test_the_alternative_that_the_other_shows_is_added_not_another():
    asked = request("a", [part("B", "C")], "aB", evicted="B")
    assert pids(edited(asked, "Cx")) == "Ca"


def test_of_a_document_the_passage_that_the_other_shows_is_added():
    document = (alternative("B", "C", any_of=True),)
    assert pids(edited(request("a", [document], "a"), "xC")) == "Ca"
    assert pids(edited(request("aB", [document], "aB"), "xC")) == "aB"


def test_a_passage_that_serves_a_wanted_part_too_makes_way_for_the_other_alternative():
    asked = request("aB", [part("B", "C"), part("B")], "aB")
    assert pids(edited(asked, "Cx")) == "Ca"


def test_own_gold_that_would_complete_an_unwanted_part_is_taken_out():
    both = (alternative("B", "C"),)
    asked = request("aC", [part("B"), both], "aC")
    assert pids(edited(asked, "B")) == "Ba"


def test_gold_is_shown_cut_short_where_the_other_cuts_it_short():
    cut = shown("B", "body", truncated=True)
    early, whole = (alternative(gold("B", "body")),), (alternative(gold("B", "of B")),)
    asked = request("a", [early, whole], "a")
    context = edited(asked, [cut])
    assert context.passages == (cut, shown("a"))
    asked = request("aB", [early, whole], "aB")
    assert edited(asked, [cut]).passages == (shown("a"), cut)


def test_gold_cut_short_is_replaced_where_it_stands():
    cut = shown("B", "body", truncated=True)
    asked = request(["a", cut, "c"], [(alternative(gold("B", "of B")),)], "")
    assert edited(asked, "B").passages == (shown("a"), shown("B"), shown("c"))


def test_a_whole_passage_is_rendered_as_here_not_as_there():
    there = replace(shown("B"), text="Another header\nbody of B", tokens=99)
    asked = request("a", [part("B")], "a")
    assert edited(asked, [there]).passages == (shown("B"), shown("a"))


def test_a_twin_of_gold_under_another_pid_counts_and_is_added_as_it_is():
    twin = shown("x", "body of B")
    assert pids(edited(request("a", [part("B")], "a"), [twin])) == "xa"
    assert pids(edited(request(["a", twin], [part("B")], "ax"), "c")) == "a"


def test_the_random_place_depends_on_seed_and_question_alone():
    def place(seed, qid):
        asked = request("abcdefgh", [part("Z")], "abcdefgh", qid=qid)
        return pids(edited(asked, "Z", "random", seed)).index("Z")

    assert place(1, "q1") == place(1, "q1")
    assert len({place(1, f"q{i}") for i in range(40)}) > 4
    assert [place(1, f"q{i}") for i in range(9)] != [place(2, f"q{i}") for i in range(9)]


def test_a_missing_arm_and_an_unknown_position_are_errors():
    asked = request("a", [part("B")], "a")
    with pytest.raises(AdapterError, match=r"arm 'R' has no context for question 'q'"):
        list(GoldAsIn("R").intervene([asked]))
    with pytest.raises(AdapterError, match="position"):
        list(GoldAsIn("R", "middle").intervene([]))
    assert "arm is empty" in GoldAsIn("").problems()[0]
    assert GoldAsIn("R", "rank:2").problems() == []


# ── generated pipelines ─────────────────────────────────────────────────────────────────


@st.composite
def pairs(draw):
    """Two arms' contexts for the same question over the same corpus, gold in common."""
    one = draw(requests())
    # The other arm shows some of what one pipeline over the corpus could have shown.
    pool = {p.pid: p for p in one.context.passages}
    for options in one.gold.parts:
        for each in options:
            for g in each.passages:
                cut = g.passage.body[: max(1, len(g.passage.body) // 2)]
                short = replace(g.passage, body=cut, text=f"T\n{cut}", truncated=True)
                pool[g.passage.pid] = draw(st.sampled_from([g.passage, short]))
    chosen = draw(st.lists(st.sampled_from(sorted(pool)), unique=True)) if pool else []
    return replace(one, other=Context(tuple(pool[pid] for pid in chosen)))


def status(asked, context):
    return present_parts(asked.gold, context.passages)


@settings(deadline=None, max_examples=300)
@given(pairs(), st.sampled_from(POSITIONS), st.integers(0, 3))
def test_every_part_is_covered_exactly_where_the_other_covers_it(asked, position, seed):
    context = apply(GoldAsIn("R", position, seed), asked)
    assert status(asked, context) == status(asked, asked.other)
    if status(asked, asked.context) == status(asked, asked.other):
        assert context is asked.context


@settings(deadline=None, max_examples=200)
@given(pairs(), st.sampled_from(POSITIONS))
def test_distractors_are_its_own_in_their_order_but_for_those_displaced(asked, position):
    before = asked.context
    context = apply(GoldAsIn("R", position), asked)
    own = [p for p in before.passages if not is_gold(p, asked)]
    displaced = {e.pid for e in context.evicted if e.reason == "displaced"}
    left = [p for p in context.passages if not is_gold(p, asked)]
    assert left == [p for p in own if p.pid not in displaced]
    assert displaced <= {p.pid for p in own}
    new = set(context.passages) - set(before.passages)
    assert {p.pid for p in new} <= {p.pid for p in asked.other.passages}
    assert len({p.pid for p in context.passages}) == len(context.passages)
    if before.budget_tokens is None or not new:
        assert not displaced
    elif left:
        assert sum(p.tokens for p in context.passages) <= before.budget_tokens


@settings(deadline=None, max_examples=150)
@given(pairs(), st.sampled_from(POSITIONS))
def test_editing_twice_is_editing_once(asked, position):
    once = apply(GoldAsIn("R", position, 1), asked)
    assert apply(GoldAsIn("R", position, 1), replace(asked, context=once)) is once


@settings(deadline=None, max_examples=150)
@given(requests(), st.sampled_from(["random", "rank:1", "rank:3"]))
def test_after_an_arm_with_all_gold_it_is_the_completed_context(asked, position):
    complete = apply(WithGold("all", position), asked)
    context = apply(GoldAsIn("D", position), replace(asked, other=complete))
    parts = len(asked.gold.parts)
    assert status(asked, context) == (True,) * parts

"""Small contexts, readable by eye: capital pids are gold."""

import pytest

from ragablate.errors import AdapterError
from ragablate.gold import present
from ragablate.intervene.actual import Actual
from ragablate.intervene.closed_book import ClosedBook
from ragablate.intervene.oracle import Oracle
from ragablate.intervene.with_gold import WithGold
from ragablate.intervene.without_gold import WithoutGold
from ragablate.protocols import InterveneRequest
from ragablate.records import (
    Context,
    ContextPassage,
    Evicted,
    GoldPassage,
    Hit,
    Question,
    ResolvedAlternative,
    ResolvedGold,
)

TOKENS = 10


def shown(pid, body=None, truncated=False):
    body = f"body of {pid}" if body is None else body
    return ContextPassage(pid, f"T\n{body}", body, truncated, TOKENS)


def gold(pid, *evidence, body=None, indexed=True):
    return GoldPassage(shown(pid, body), evidence, indexed)


def alternative(*golds, any_of=False):
    return ResolvedAlternative(tuple(g if isinstance(g, GoldPassage) else gold(g) for g in golds),
                               any_of)  # fmt: skip


def part(*pids):
    return tuple(alternative(pid) for pid in pids)


def request(context, parts=(), retrieved="", evicted="", budget=None, qid="q"):
    passages = tuple(p if isinstance(p, ContextPassage) else shown(p) for p in context)
    return InterveneRequest(
        id=f"id-{qid}",
        question=Question(qid, "?"),
        context=Context(passages, tuple(Evicted(p, "budget_cut") for p in evicted), budget),
        retrieved=tuple(Hit(pid, -float(i)) for i, pid in enumerate(retrieved)),
        gold=ResolvedGold(qid, tuple(parts)),
    )


def apply(level, asked):
    (item,) = level.intervene([asked])
    assert item.id == asked.id
    assert item.failure is None
    return item.value


def pids(context):
    return "".join(p.pid for p in context.passages)


def test_the_actual_context_is_the_very_same():
    asked = request("aB", [part("B")], "aB")
    assert apply(Actual(), asked) is asked.context


def test_closed_book_shows_nothing_under_the_same_budget():
    context = apply(ClosedBook(), request("aB", [part("B")], "aB", budget=30))
    assert context == Context((), (), 30)


# ── oracle ──────────────────────────────────────────────────────────────────────────────


def test_oracle_shows_gold_only_in_the_order_of_the_parts():
    assert pids(apply(Oracle(), request("aBc", [part("D"), part("B")], "aBc"))) == "DB"


def test_oracle_takes_one_alternative_a_part_the_covered_one_first():
    assert pids(apply(Oracle(), request("aC", [part("B", "C")], "aC"))) == "C"
    assert pids(apply(Oracle(), request("a", [part("B", "C")], "aC", evicted="C"))) == "C"
    assert pids(apply(Oracle(), request("a", [part("B", "C")], "a"))) == "B"


def test_oracle_shows_a_passage_once_and_in_full():
    cut = shown("B", "body", truncated=True)
    context = apply(Oracle(), request([cut], [part("B"), part("B")], "B", budget=5))
    assert context.passages == (shown("B"),)


def test_oracle_shows_all_of_an_alternative_that_needs_several():
    both = (alternative("B", "C"),)
    assert pids(apply(Oracle(), request("aC", [both], "aC"))) == "BC"


def test_oracle_leaves_out_the_twin_of_what_it_shows():
    twin = (alternative(gold("C", body="body of B")),)
    assert pids(apply(Oracle(), request("", [part("B"), twin]))) == "B"


def test_oracle_shows_a_whole_document_unless_the_answer_is_located_in_it():
    document = (alternative("B", "C", "D", any_of=True),)
    assert pids(apply(Oracle(), request("C", [document], "C"))) == "BCD"
    located = (alternative("B", gold("C", "of C"), "D", any_of=True),)
    assert pids(apply(Oracle(), request("B", [located], "B"))) == "C"


def test_oracle_shows_nothing_where_there_is_no_evidence():
    assert apply(Oracle(), request("ab", [], "ab", budget=50)) == Context((), (), 50)


def test_oracle_shows_gold_that_is_in_no_corpus():
    own = (alternative(gold("gold:q:0", body="Own text", indexed=False)),)
    assert pids(apply(Oracle(), request("a", [own], "a"))) == "gold:q:0"


# ── without gold ────────────────────────────────────────────────────────────────────────


def test_without_gold_takes_out_every_alternative_and_adds_nothing():
    asked = request("aBcD", [part("B", "D"), part("E")], "aBcD", budget=40)
    context = apply(WithoutGold(), asked)
    assert pids(context) == "ac"
    assert context.budget_tokens == 40


def test_without_gold_takes_out_twins_and_stumps():
    twin = shown("x", "body of B")
    stump = shown("B", "body", truncated=True)
    assert pids(apply(WithoutGold(), request(["a", twin, stump], [part("B")]))) == "a"


def test_without_gold_changes_nothing_where_there_is_none():
    asked = request("ab", [part("C")], "ab", evicted="c")
    assert apply(WithoutGold(), asked) == asked.context
    assert apply(WithoutGold(), request("ab")) == request("ab").context


# ── with gold ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("supply", ["evicted", "unretrieved", "all"])
@pytest.mark.parametrize("position", ["random", "last", "rank:1"])
def test_a_complete_context_is_unchanged_even_over_its_budget(supply, position):
    asked = request("aB", [part("B", "C")], "aBC", evicted="C", budget=5)
    context = apply(WithGold(supply, position), asked)
    assert context == asked.context


def test_a_question_without_evidence_keeps_its_context():
    asked = request("ab", [], "ab", budget=5)
    for position in ("random", "first", "last", "rank:1"):
        assert apply(WithGold("all", position), asked) == asked.context


@pytest.mark.parametrize(
    ("before", "after"),
    [("ace", "aBce"), ("eca", "ecBa"), ("aec", "aBec"), ("ca", "cBa"), ("", "B"), ("a", "aB"),
     ("ce", "Bce"), ("ec", "ecB")],
)  # fmt: skip
def test_evicted_gold_goes_back_beside_its_neighbours_in_rank(before, after):
    asked = request(before, [part("B")], "aBcde", evicted="B")
    assert pids(apply(WithGold("evicted"), asked)) == after


@pytest.mark.parametrize(("before", "after"), [("abc", "abcD"), ("cba", "Dcba")])
def test_evicted_gold_of_the_lowest_rank_goes_to_the_low_end(before, after):
    assert pids(apply(WithGold("evicted"), request(before, [part("D")], "abcD"))) == after


def test_gold_cut_short_is_replaced_where_it_stands():
    cut = shown("B", "body", truncated=True)
    asked = request(["a", cut, "c"], [(alternative(gold("B", "of B")),)], "aBc")
    context = apply(WithGold("evicted"), asked)
    assert context.passages == (shown("a"), shown("B"), shown("c"))


def test_gold_cut_short_behind_its_evidence_stays_as_it_is():
    cut = shown("B", "body of", truncated=True)
    asked = request(["a", cut], [(alternative(gold("B", "body")),)], "aB")
    assert apply(WithGold("all"), asked) == asked.context


def test_each_supply_brings_its_own_kind_of_gold_and_all_brings_both():
    asked = request("a", [part("B"), part("C")], "aB", evicted="B")
    assert pids(apply(WithGold("evicted"), asked)) == "aB"
    assert pids(apply(WithGold("unretrieved", "rank:1"), asked)) == "Ca"
    assert pids(apply(WithGold("all", "rank:1"), asked)) == "CaB"


def test_what_is_put_back_is_no_longer_evicted_and_what_gives_way_is_displaced():
    asked = request("acd", [part("B")], "aBcde", evicted="Be", budget=30)
    context = apply(WithGold("evicted"), asked)
    assert pids(context) == "aBc"
    assert context.evicted == (Evicted("d", "displaced"), Evicted("e", "budget_cut"))
    assert context.budget_tokens == 30


def test_the_lowest_ranked_gives_way_wherever_it_stands():
    asked = request("dca", [part("B")], "aBcd", evicted="B", budget=30)
    assert pids(apply(WithGold("evicted"), asked)) == "cBa"


def test_gold_is_never_displaced_even_over_the_budget():
    asked = request("aB", [part("B"), part("C")], "aBC", evicted="C", budget=15)
    context = apply(WithGold("all"), asked)
    assert pids(context) == "BC"
    assert context.evicted == (Evicted("a", "displaced"),)


def test_other_alternatives_and_twins_of_gold_are_not_displaced():
    twin = shown("x", "body of D")
    asked = request(["B", twin, "a"], [part("B"), part("D"), part("E")], "Bxa", budget=30)
    assert pids(apply(WithGold("all", "rank:9"), asked)) == "BxE"


def test_a_part_is_completed_by_the_alternative_that_needs_least_from_outside():
    outside_or_evicted = (alternative("C"), alternative("B"))
    asked = request("a", [outside_or_evicted], "aB", evicted="B")
    assert pids(apply(WithGold("all"), asked)) == "aB"
    assert pids(apply(WithGold("unretrieved"), asked)) == "a"
    nearly_there = (alternative("C", "D"), alternative("E", "B"))
    asked = request("aB", [nearly_there], "aB")
    assert pids(apply(WithGold("all", "rank:3"), asked)) == "aBE"


def test_one_passage_of_a_document_completes_it_the_likeliest_first():
    document = (alternative("B", "C", "D", any_of=True),)
    assert pids(apply(WithGold("all", "rank:2"), request("a", [document], "a"))) == "aB"
    assert pids(apply(WithGold("all"), request("a", [document], "aD"))) == "aD"
    located = (alternative("B", gold("C", "of C"), "D", any_of=True),)
    assert pids(apply(WithGold("all", "rank:2"), request("a", [located], "aD"))) == "aC"
    assert pids(apply(WithGold("all"), request("aB", [document], "aB"))) == "aB"


@pytest.mark.parametrize("second", [part("B"), part("C", "B")])
def test_one_supplied_passage_can_complete_two_parts(second):
    asked = request("a", [part("B"), second], "a")
    assert pids(apply(WithGold("all", "rank:1"), asked)) == "Ba"


@pytest.mark.parametrize(
    ("position", "expected"),
    [("first", "BDac"), ("last", "acBD"), ("rank:1", "DaBc"), ("rank:3", "aBDc"),
     ("rank:99", "aBcD")],
)  # fmt: skip
def test_positions_place_unretrieved_gold_and_the_ends_gather_all_gold(position, expected):
    asked = request("aBc", [part("B"), part("D")], "aBc")
    assert pids(apply(WithGold("all", position), asked)) == expected


def test_two_unretrieved_passages_stand_together_at_a_rank():
    asked = request("abc", [part("D"), part("E")], "abc")
    assert pids(apply(WithGold("all", "rank:2"), asked)) == "aDEbc"


def test_first_moves_gold_of_a_complete_context_and_displaces_nothing():
    asked = request("aBcD", [part("B"), part("D")], "aBcD", budget=5)
    context = apply(WithGold("all", "first"), asked)
    assert pids(context) == "BDac"
    assert context.evicted == ()


def test_random_places_depend_on_seed_and_question_alone():
    def place(seed, qid):
        asked = request("abcdefgh", [part("Z")], "abcdefgh", qid=qid)
        return pids(apply(WithGold("all", "random", seed), asked)).index("Z")

    assert place(1, "q1") == place(1, "q1")
    assert len({place(1, f"q{i}") for i in range(40)}) > 4
    assert [place(1, f"q{i}") for i in range(9)] != [place(2, f"q{i}") for i in range(9)]


def test_contexts_that_were_not_ranked_take_gold_too():
    cut = shown("B", "body", truncated=True)
    asked = request(["x", cut], [(alternative(gold("B", "of B")),)], "", budget=20)
    assert apply(WithGold("evicted"), asked).passages == (shown("x"), shown("B"))


@pytest.mark.parametrize("position", ["middle", "rank:0", "rank:-1", "rank:", "rank:x", "rank:²"])
def test_unknown_positions_are_problems_and_errors(position):
    assert position in WithGold(position=position).problems()[0]
    with pytest.raises(AdapterError, match="position"):
        list(WithGold(position=position).intervene([]))
    assert WithGold(supply="some").problems()
    assert WithGold().problems() == WithGold("evicted", "rank:12").problems() == []


def test_the_completed_context_holds_every_part():
    asked = request("a", [part("B"), part("C")], "aB", evicted="B", budget=100)
    assert present(asked.gold, asked.context.passages) == (0, 2)
    assert present(asked.gold, apply(WithGold("all"), asked).passages) == (2, 2)

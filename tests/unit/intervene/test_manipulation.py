"""What each arm must do to every context: the manipulation checks, on generated pipelines."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.assemble.ranked import ORDERS, OVERFLOWS, Ranked
from ragablate.gold import covered, present, resolve
from ragablate.intervene.closed_book import ClosedBook
from ragablate.intervene.oracle import Oracle
from ragablate.intervene.with_gold import WithGold
from ragablate.intervene.without_gold import WithoutGold
from ragablate.protocols import AssembleRequest, InterveneRequest
from ragablate.records import Alternative, Corpus, Gold, Hit, Part, Passage, Question

TEXTS = [
    "alpha beta gamma delta", "Alpha beta gamma delta", "one two three. four five six seven.",
    "今天天气很好。我们去公园。", "שלום עולם טוב", "e\u0301 n\u0303 😀\u200d🔥 end", "short",
    "x y z", "ภาษาไทย ดี", "last of them all",
]  # fmt: skip
POSITIONS = ["random", "first", "last", "rank:1", "rank:3"]


@st.composite
def alternatives(draw, size):
    i = draw(st.integers(0, size - 1))
    kind = draw(st.sampled_from(["pid", "span", "document", "own"]))
    if kind == "span":
        end = draw(st.integers(1, 5))
        return Alternative(pid=f"p{i}", start=draw(st.integers(0, end - 1)), end=end)
    if kind == "document":
        return Alternative(doc_id=f"d{i % 3}")
    if kind == "own":
        return Alternative(text=draw(st.sampled_from(["text of its own", *TEXTS])))
    return Alternative(pid=f"p{i}")


@st.composite
def requests(draw):
    chosen = draw(st.lists(st.sampled_from(TEXTS), min_size=3, max_size=8))
    passages = tuple(
        Passage(f"p{i}", text, "T", doc_id=f"d{i % 3}", start=100 * i)
        for i, text in enumerate(chosen)
    )
    corpus = Corpus(passages, str(chosen))
    ranked = Ranked(
        budget_tokens=draw(st.none() | st.integers(0, 40)),
        dedupe=draw(st.sampled_from([None, 1.0])),
        order=draw(st.sampled_from(ORDERS)),
        overflow=draw(st.sampled_from(OVERFLOWS)),
        max_passages=draw(st.none() | st.integers(0, 4)),
    )
    found = draw(st.permutations([p.pid for p in passages]))[: draw(st.integers(0, len(passages)))]
    retrieved = tuple(Hit(pid, -float(i)) for i, pid in enumerate(found))
    question = Question(draw(st.sampled_from(["q1", "q2"])), "?")
    (item,) = ranked.assemble(corpus, [AssembleRequest("x", question, retrieved)])
    some = st.lists(alternatives(len(passages)), min_size=1, max_size=3)
    parts = tuple(Part(tuple(a)) for a in draw(st.lists(some, max_size=3)))
    gold = Gold(question.qid, parts, answerable=draw(st.sampled_from([True, True, True, False])))
    resolved = resolve(gold, corpus, {}, ranked.render)
    return InterveneRequest("x", question, item.value, retrieved, resolved)


def apply(level, request):
    (item,) = level.intervene([request])
    (again,) = level.intervene([request])
    assert item == again
    return item.value


def gold_pids(request):
    return {
        g.passage.pid for part in request.gold.parts for a in part for g in a.passages
    }  # fmt: skip


def is_gold(shown, request):
    golds = [g for part in request.gold.parts for a in part for g in a.passages]
    return shown.pid in gold_pids(request) or any(covered(g, [shown]) for g in golds)


def parts_covered(request, context):
    return present(request.gold, context.passages)


@settings(deadline=None, max_examples=80)
@given(requests())
def test_oracle_covers_every_part_with_gold_only(request):
    context = apply(Oracle(), request)
    parts = len(request.gold.parts)
    assert parts_covered(request, context) == (parts, parts)
    assert {p.pid for p in context.passages} <= gold_pids(request)
    assert not any(p.truncated for p in context.passages)
    assert len({p.pid for p in context.passages}) == len(context.passages)
    assert bool(context.passages) == bool(parts)


@settings(deadline=None, max_examples=80)
@given(requests())
def test_without_gold_covers_no_part_and_only_removes(request):
    context = apply(WithoutGold(), request)
    assert parts_covered(request, context)[0] == 0
    kept = [p for p in request.context.passages if not is_gold(p, request)]
    assert list(context.passages) == kept
    assert apply(WithoutGold(), replace(request, context=context)) == context


@settings(deadline=None, max_examples=50)
@given(requests())
def test_closed_book_is_empty(request):
    assert apply(ClosedBook(), request).passages == ()


@settings(deadline=None, max_examples=120)
@given(requests(), st.sampled_from(POSITIONS), st.integers(0, 3))
def test_with_all_gold_every_part_is_covered_and_distractors_stay_within_the_budget(
    request, position, seed
):
    before = request.context
    context = apply(WithGold("all", position, seed), request)
    parts = len(request.gold.parts)
    assert parts_covered(request, context) == (parts, parts)
    shown = {p.pid for p in context.passages}
    assert len(shown) == len(context.passages)
    distractors = [p for p in before.passages if not is_gold(p, request)]
    kept = [p for p in distractors if p.pid in shown]
    gold = [p for p in context.passages if is_gold(p, request)]
    assert {p.pid for p in before.passages} - shown <= {p.pid for p in distractors}
    if before.budget_tokens is not None:
        if kept and set(context.passages) - set(before.passages):
            assert sum(p.tokens for p in context.passages) <= before.budget_tokens
        # A distractor went only because it did not fit.
        least = min((p.tokens for p in distractors), default=0)
        fits = sum(p.tokens for p in gold) + least <= before.budget_tokens
        if len(distractors) == 1:
            assert len(kept) == 1 or not fits
    else:
        assert kept == distractors
    both = [p.pid for p in context.passages] + [e.pid for e in context.evicted]
    assert len(both) == len(set(both))
    assert {hit.pid for hit in request.retrieved} <= set(both)


@settings(deadline=None, max_examples=100)
@given(requests(), st.sampled_from(POSITIONS), st.sampled_from(["evicted", "unretrieved", "all"]))
def test_completing_a_context_twice_is_completing_it_once(request, position, supply):
    level = WithGold(supply, position, 1)
    once = apply(level, request)
    assert apply(level, replace(request, context=once)) == once


@settings(deadline=None, max_examples=100)
@given(requests(), st.sampled_from(["random", "rank:1", "rank:3"]))
def test_repaired_assembly_differs_only_where_retrieved_gold_was_left_out(request, position):
    before = request.context
    context = apply(WithGold("evicted", position), request)
    out = {e.pid for e in before.evicted} | {p.pid for p in before.passages if p.truncated}
    new = set(context.passages) - set(before.passages)
    assert {p.pid for p in new} <= out & gold_pids(request)
    if not new:
        assert context == before


@settings(deadline=None, max_examples=100)
@given(requests())
def test_a_covered_or_unanswerable_question_keeps_its_context(request):
    covered_parts, parts = parts_covered(request, request.context)
    if covered_parts == parts:
        for supply in ("evicted", "unretrieved", "all"):
            assert apply(WithGold(supply), request) == request.context


@settings(deadline=None, max_examples=100)
@given(requests())
def test_what_both_kinds_supply_is_what_all_supplies(request):
    request = replace(request, context=replace(request.context, budget_tokens=None))

    def new(supply):
        context = apply(WithGold(supply), request)
        return set(context.passages) - set(request.context.passages)

    assert new("evicted") | new("unretrieved") == new("all")
    assert not new("evicted") & new("unretrieved")


@settings(deadline=None, max_examples=100)
@given(requests())
def test_gold_moved_to_the_front_is_the_completed_context_reordered(request):
    completed = apply(WithGold("all", "random"), request)
    ordered = apply(WithGold("all", "first"), request)
    assert sorted(p.pid for p in ordered.passages) == sorted(p.pid for p in completed.passages)
    flags = [is_gold(p, request) for p in ordered.passages]
    assert flags == sorted(flags, reverse=True)
    rest = [p for p in completed.passages if not is_gold(p, request)]
    assert [p for p in ordered.passages if not is_gold(p, request)] == rest

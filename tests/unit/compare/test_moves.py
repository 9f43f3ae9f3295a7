from __future__ import annotations

import pytest

from ragablate.compare.moves import moves
from ragablate.errors import EvidenceError


def logs(*rows):
    """Two logs from rows of (bucket before, bucket after, how many)."""
    before, after = {}, {}
    for source, target, n in rows:
        for _ in range(n):
            qid = f"q{len(before):04d}"
            before[qid], after[qid] = source, target
    return before, after


EX_9 = (
    ("ok", "ok", 40),
    ("retrieval", "assembly", 10),
    ("retrieval", "retrieval", 2),
    ("assembly", "assembly", 3),
    ("generation", "generation", 5),
)


def test_ex_9_a_fix_that_renames_the_problem_is_called_that():
    found = moves(*logs(*EX_9))

    assert found.verdict == "renamed the problem"
    assert (found.fixed, found.broken, found.moved) == (0, 0, 10)
    assert (found.ci90.low, found.ci90.high) == pytest.approx((-0.0431, 0.0431), abs=5e-5)
    (swap,) = found.swaps
    assert (swap.source, swap.target, swap.there, swap.back) == ("retrieval", "assembly", 10, 0)
    assert swap.p == swap.p_adjusted == pytest.approx(0.001953, abs=5e-7)
    assert "10 from retrieval to assembly" in found.sentence


def test_ex_9_of_twenty_questions_leaves_the_total_open_and_accuses_nobody():
    found = moves(*logs(("ok", "ok", 12), ("retrieval", "assembly", 4), ("assembly",) * 2 + (4,)))

    assert found.swaps[0].p == 0.125
    assert (found.ci90.low, found.ci90.high) == pytest.approx((-0.1192, 0.1192), abs=5e-5)
    assert found.verdict == "total not decided"
    assert found.sentence.startswith("Moved 4 between failure buckets, net +0 fixed")


def test_ex_28_fixed_and_broken_in_equal_numbers_is_traded_and_not_renamed():
    found = moves(*logs(("retrieval", "ok", 10), ("ok", "generation", 10), ("ok", "ok", 280)))

    assert (found.verdict, found.swaps) == ("traded", ())
    assert -0.05 < found.ci90.low < found.ci90.high < 0.05
    assert "most of them retrieval: 10" in found.sentence
    assert "most of them generation: 10" in found.sentence


@pytest.mark.parametrize(
    ("source", "target", "verdict"),
    [("retrieval", "ok", "failures reduced"), ("ok", "retrieval", "failures increased")],
)
def test_a_detected_net_change_is_named_whatever_else_moved(source, target, verdict):
    found = moves(*logs((source, target, 12), ("ok", "ok", 40), ("assembly", "retrieval", 9)))

    assert found.verdict == verdict
    assert "most of them retrieval: 12" in found.sentence


def test_moves_there_and_back_that_balance_rename_nothing():
    found = moves(*logs(("a", "b", 10), ("b", "a", 9), ("ok", "ok", 200)))

    assert (found.verdict, found.moved) == ("unchanged", 19)
    assert (found.swaps[0].there, found.swaps[0].back) == (10, 9)


def test_whole_conversations_that_move_together_count_as_one_move():
    before, after = logs(("retrieval", "assembly", 12), ("ok", "ok", 188))
    clusters = ["one"] * 12 + [f"c{i}" for i in range(188)]

    assert moves(before, after, clusters=clusters).verdict != "renamed the problem"
    assert moves(before, after).verdict == "renamed the problem"


def test_other_questions_are_refused_by_name():
    before, after = logs(("ok", "ok", 3))
    after["stray"] = "ok"

    with pytest.raises(EvidenceError, match="'stray'"):
        moves(before, after)

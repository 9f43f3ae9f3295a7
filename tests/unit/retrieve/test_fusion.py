import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.records import Hit
from ragablate.retrieve.fusion import reciprocal_rank_fusion


def ranking(*pids):
    return tuple(Hit(pid, 100.0 - i) for i, pid in enumerate(pids))


def test_ranks_are_summed_as_in_a_case_worked_by_hand():
    fused = reciprocal_rank_fusion([ranking("a", "b", "c"), ranking("c", "a")])
    assert [hit.pid for hit in fused] == ["a", "c", "b"]
    assert [hit.score for hit in fused] == pytest.approx(
        [1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62], abs=1e-15
    )


def test_weights_multiply_a_rankings_share():
    fused = reciprocal_rank_fusion([ranking("a", "b"), ranking("b")], k=10, weights=[1, 3])
    assert [hit.pid for hit in fused] == ["b", "a"]
    assert fused[0].score == pytest.approx(1 / 12 + 3 / 11)


def test_a_ranking_of_weight_zero_is_left_out():
    fused = reciprocal_rank_fusion([ranking("a"), ranking("b")], weights=[1, 0])
    assert fused == (Hit("a", 1 / 61),)


def test_ties_go_by_ascending_pid_also_at_the_cut():
    fused = reciprocal_rank_fusion([ranking("b"), ranking("a"), ranking("c")], depth=2)
    assert [hit.pid for hit in fused] == ["a", "b"]


def test_nothing_to_fuse_gives_an_empty_ranking():
    assert reciprocal_rank_fusion([]) == ()
    assert reciprocal_rank_fusion([(), ()]) == ()


def test_one_ranking_keeps_its_order():
    fused = reciprocal_rank_fusion([ranking("z", "y", "x")])
    assert [hit.pid for hit in fused] == ["z", "y", "x"]


RANKINGS = st.lists(
    st.permutations("abcdef").flatmap(lambda p: st.integers(0, 6).map(lambda n: ranking(*p[:n]))),
    max_size=4,
)


@settings(deadline=None, max_examples=80)
@given(RANKINGS)
def test_the_order_of_the_rankings_changes_not_a_bit(rankings):
    fused = {reciprocal_rank_fusion(order) for order in itertools.permutations(rankings)}
    assert len(fused) == 1


@pytest.mark.parametrize(
    "arguments", [{"k": -1}, {"weights": [1]}, {"weights": [1, -1]}, {"weights": [1, float("nan")]}]
)
def test_arguments_without_meaning_are_refused(arguments):
    with pytest.raises(ValueError, match=r"k is|weights"):
        reciprocal_rank_fusion([ranking("a"), ranking("b")], **arguments)

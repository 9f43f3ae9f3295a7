import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragablate.retrieve.exact import rounded, search


def some(count, width, seed=0):
    return np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)


def brute(queries, passages, k, rows=None, digits=None):
    """All products, sorted."""
    rows = np.arange(len(passages)) if rows is None else rows
    found, scores = [], []
    for query in queries.astype(np.float64):
        products = (passages[rows].astype(np.float64) * query).sum(axis=1)
        if digits is not None:
            products = np.array([float(f"{p:.{digits}g}") for p in products])
        best = np.lexsort((rows, -products))[:k]
        found.append(rows[best])
        scores.append(products[best])
    return np.array(found), np.array(scores)


@given(
    count=st.integers(1, 60),
    asked=st.integers(1, 5),
    width=st.integers(1, 20),
    k=st.integers(1, 70),
    block=st.integers(1, 64),
    seed=st.integers(0, 1000),
    levels=st.sampled_from([0, 1, 3, 1000]),
    digits=st.sampled_from([None, 2, 6]),
    restricted=st.booleans(),
)
@example(60, 2, 20, 10, 7, 0, 1, 2, True)
@settings(deadline=None, max_examples=200)
def test_it_finds_what_sorting_all_products_finds(
    count, asked, width, k, block, seed, levels, digits, restricted
):
    rng = np.random.default_rng(seed)
    # Few levels make many ties, none only zeros.
    passages = np.round(rng.standard_normal((count, width)) * levels).astype(np.float32)
    queries = np.round(rng.standard_normal((asked, width)) * levels).astype(np.float32)
    rows = np.flatnonzero(rng.random(count) < 0.5) if restricted else None
    found, scores = search(queries, passages, k, block, rows, digits)
    if rows is not None and len(rows) == 0:
        assert found.shape == scores.shape == (asked, 0)
        return
    expected_rows, expected_scores = brute(queries, passages, k, rows, digits)
    assert np.array_equal(found, expected_rows)
    assert np.array_equal(scores, expected_scores)


@pytest.mark.parametrize("block", [1, 7, 100, 999, 1000, 5000])
def test_the_block_changes_not_a_bit(block):
    queries, passages = some(20, 48, 1), some(1000, 48, 2)
    found, scores = search(queries, passages, 10)
    again, same = search(queries, passages, 10, block)
    assert np.array_equal(found, again)
    assert np.array_equal(scores, same)


def test_company_changes_not_a_bit():
    queries, passages = some(600, 24, 1), some(500, 24, 2)
    found, scores = search(queries, passages, 5, 64)
    for i in (0, 511, 512, 599):
        alone, own = search(queries[i : i + 1], passages, 5, 500)
        assert np.array_equal(found[i], alone[0])
        assert np.array_equal(scores[i], own[0])


def test_a_passage_scores_the_same_whatever_else_may_be_found():
    queries, passages = some(3, 24, 1), some(500, 24, 2)
    found, scores = search(queries, passages, 500)
    rows = np.arange(0, 500, 3)
    few, own = search(queries, passages, 500, 64, rows)
    for i in range(3):
        everything = dict(zip(found[i].tolist(), scores[i].tolist(), strict=True))
        assert own[i].tolist() == [everything[row] for row in few[i].tolist()]


def test_ties_go_by_row_also_at_the_cut():
    passages = np.repeat(some(1, 384), 5000, axis=0)
    found, scores = search(some(4, 384, 1), passages, 7, 512)
    assert found.tolist() == [list(range(7))] * 4
    assert all(len(set(row)) == 1 for row in scores.tolist())


def test_copies_tie_exactly_wherever_they_lie():
    passages = some(3000, 384)
    passages[[5, 1234, 2999]] = passages[700]
    found, scores = search(passages[700:701], passages, 4, 1000)
    assert found[0].tolist() == [5, 700, 1234, 2999]
    assert len(set(scores[0].tolist())) == 1


def test_what_single_precision_cannot_tell_apart_is_ranked_right():
    rng = np.random.default_rng(3)
    query = np.ones((1, 256), dtype=np.float32)
    # All products are near 0, while their terms are near 1000.
    passages = (rng.standard_normal((4000, 256)) * 1000).astype(np.float32)
    passages[:, 0] -= passages.astype(np.float64).sum(axis=1).astype(np.float32)
    found, scores = search(query, passages, 20, 500)
    expected_rows, expected_scores = brute(query, passages, 20)
    assert np.array_equal(found, expected_rows)
    assert np.array_equal(scores, expected_scores)


def test_one_long_passage_late_does_not_push_out_a_close_one():
    passages = some(2000, 32) * 0.001
    passages[1500] *= 1e6
    for seed in range(5):
        query = some(1, 32, seed)
        found, _ = search(query, passages, 10, 100)
        assert np.array_equal(found, brute(query, passages, 10)[0])


def test_rounding_makes_ties_before_the_cut():
    passages = np.array([[0.1234564], [0.1234560], [0.12345], [0.1234562]], dtype=np.float32)
    query = np.ones((1, 1), dtype=np.float32)
    assert search(query, passages, 2)[0].tolist() == [[0, 3]]
    found, scores = search(query, passages, 2, digits=6)
    assert found.tolist() == [[0, 1]]
    assert scores.tolist() == [[0.123456, 0.123456]]


def test_nothing_to_find_and_nobody_to_ask():
    nothing = search(some(2, 4), np.empty((0, 4), dtype=np.float32), 3)
    assert [part.shape for part in nothing] == [(2, 0), (2, 0)]
    nobody = search(np.empty((0, 4), dtype=np.float32), some(5, 4), 3)
    assert [part.shape for part in nobody] == [(0, 3), (0, 3)]


def test_rounding_keeps_the_order_and_has_no_negative_zero():
    scores = np.sort(np.random.default_rng(0).standard_normal(1000) * 1e-3)
    assert np.all(np.diff(rounded(scores, 6)) >= 0)
    assert str(rounded(np.array([-0.0]), 6)[0]) == "0.0"

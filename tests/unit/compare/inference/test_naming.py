import numpy as np
import pytest

from ragablate.compare.inference.naming import name_top
from ragablate.errors import EvidenceError


def losses(**counts):
    """Disjoint losses of 1 on that many of 100 questions each."""
    table, at = {}, 0
    for name, count in counts.items():
        table[name] = [0.0] * 100
        table[name][at : at + count] = [1.0] * count
        at += count
    return table


def test_the_top_is_named_only_if_it_beats_every_other():
    named = name_top(losses(retrieval=20, reader=4, distractor=2), {"retrieval": True})
    assert (named.named, named.candidates) == ("retrieval", ("retrieval",))
    tied = name_top(losses(retrieval=20, reader=14, distractor=2), {"retrieval": True})
    assert (tied.named, tied.candidates) == (None, ("retrieval", "reader"))


def test_six_changed_questions_are_just_enough():
    assert name_top(losses(retrieval=6, reader=0), {}).named == "retrieval"
    assert name_top(losses(retrieval=5, reader=0), {}, alpha=0.1).named is None


def test_a_top_loss_that_is_not_detected_is_not_named():
    table = losses(ordering=8, reader=0)
    assert name_top(table, {"ordering": True}).named == "ordering"
    undetected = name_top(table, {"ordering": False})
    assert (undetected.named, undetected.candidates) == (None, ("ordering",))


def test_a_loss_that_is_never_negative_needs_no_detection_of_its_own():
    assert name_top(losses(reader=20, retrieval=3), {"retrieval": True}).named == "reader"


def test_ties_give_candidates_in_the_order_given():
    named = name_top(losses(reader=9, retrieval=9), {})
    assert (named.named, named.candidates) == (None, ("reader", "retrieval"))
    assert named.p_values == {"retrieval": 1.0}


def test_nothing_lost_names_nothing():
    assert name_top({"reader": [0.0] * 30, "retrieval": [-1.0] + [0.0] * 29}, {}).candidates == ()
    assert name_top({}, {}).named is None


def test_one_document_moving_is_no_evidence_for_a_stage():
    table = losses(retrieval=20, reader=0)
    one = ["handbook"] * 20 + [f"d{i}" for i in range(80)]
    assert name_top(table, {}, one).named is None
    assert name_top(table, {}, [f"d{i // 2}" for i in range(100)]).named == "retrieval"


def test_shuffled_questions_give_the_same_names():
    rng = np.random.default_rng(1)
    table = {name: rng.choice([0, 1 / 3, 1], size=60) for name in ("a", "b", "c")}
    order = rng.permutation(60)
    shuffled = {name: values[order] for name, values in table.items()}
    assert name_top(table, {}, replicates=3) == name_top(shuffled, {}, replicates=3)


def test_losses_of_different_questions_are_refused():
    with pytest.raises(EvidenceError, match=r"a: 2, b: 1"):
        name_top({"a": [1, 0], "b": [1]}, {})


def test_independent_co_failures_name_no_stage():
    rng = np.random.default_rng(2)
    named = 0
    for _ in range(200):
        found, able = rng.random((2, 200)) < 0.6
        table = {"retrieval": (~found & able) * 1.0, "reader": (found & ~able) * 1.0}
        named += name_top(table, {}).named is not None
    assert named / 200 <= 0.06

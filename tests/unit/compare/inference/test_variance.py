import math

import numpy as np
import pytest

from ragablate.compare.inference.variance import variance_split
from ragablate.errors import EvidenceError


def test_questions_and_decoding_are_told_apart():
    rng = np.random.default_rng(1)
    skill = rng.random((4_000, 1))
    control, treatment = (rng.random((4_000, 5)) < skill).astype(float), np.ones((4_000, 5))
    split = variance_split(control, treatment)
    # d = 1 - Bernoulli(skill) with a uniform skill: 1/6 within, 1/12 between.
    assert split.within == pytest.approx(1 / 6, abs=0.01)
    assert split.between == pytest.approx(1 / 12, abs=0.01)
    assert split.se_super == pytest.approx(math.sqrt((1 / 12 + 1 / 30) / 4_000), rel=0.05)


def test_a_deterministic_reader_has_no_decoding_error():
    split = variance_split([[1, 1], [0, 0], [1, 1]], [[1, 1], [1, 1], [0, 0]])
    assert (split.within, split.se_set) == (0.0, 0.0)
    assert split.between == split.s2_d == 1.0


def test_more_noise_than_spread_leaves_nothing_between():
    assert variance_split([[1, 0], [0, 1]], [[0, 1], [1, 0]]).between == 0.0


def test_one_replicate_cannot_be_split():
    split = variance_split([[1], [0], [0]], [[1], [1], [1]])
    assert (split.within, split.between, split.se_set) == (None, None, None)
    assert split.se_super == pytest.approx(1 / 3)


def test_permuting_replicates_changes_nothing():
    rng = np.random.default_rng(2)
    control, treatment = rng.random((2, 10, 4))
    order = rng.permutation(4)
    assert variance_split(control[:, order], treatment[:, order]) == variance_split(
        control, treatment
    )


@pytest.mark.parametrize(
    ("control", "treatment", "sentence"),
    [
        ([[1, 0]], [[1, 0, 1]], "do not pair"),
        ([1, 0], [1, 0], "do not pair"),
        ([[1, 0]], [[1, 0]], "at least two questions"),
        ([[1, 0], [math.nan, 1]], [[1, 0], [1, 1]], "finite"),
    ],
)
def test_arms_that_do_not_pair_are_refused(control, treatment, sentence):
    with pytest.raises(EvidenceError, match=sentence):
        variance_split(control, treatment)

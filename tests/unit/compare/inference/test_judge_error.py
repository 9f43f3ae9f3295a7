import math

import numpy as np
import pytest

from ragablate.compare.inference.judge_error import (
    cohen_kappa,
    corrected_difference,
    prediction_powered,
    rogan_gladen,
)
from ragablate.errors import EvidenceError


def test_rogan_gladen_inverts_what_the_judge_did():
    judged = 0.6 * 0.9 + 0.4 * (1 - 0.85)
    assert rogan_gladen(judged, 0.9, 0.85) == pytest.approx(0.6)


def test_corrected_rates_stay_rates():
    assert rogan_gladen(0.05, 0.9, 0.85) == 0.0
    assert rogan_gladen(0.99, 0.9, 0.85) == 1.0


def test_a_judge_no_better_than_chance_says_nothing():
    assert rogan_gladen(0.5, 0.5, 0.5) is None
    assert corrected_difference(0.1, 0.4, 0.5) is None
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]"):
        rogan_gladen(0.5, 1.2, 0.5)


def test_the_standard_error_is_that_of_the_formula():
    rng = np.random.default_rng(1)
    judged = rng.choice([-1.0, 0.0, 1.0], size=300)
    human = {i: float(judged[i] + rng.choice([0, 0, 1, -1])) for i in range(0, 300, 3)}
    result = prediction_powered(judged, human)
    at = np.array(sorted(human))
    j, h = judged[at], np.array([human[i] for i in at.tolist()])
    rest, n, m = np.delete(judged, at), 300, 100
    square = np.var(m / n * j + (h - j), ddof=1) / m
    square += ((n - m) / n) ** 2 * np.var(rest, ddof=1) / (n - m)
    assert result.estimate == pytest.approx(judged.mean() + (h - j).mean())
    assert result.se == pytest.approx(math.sqrt(square))
    assert (result.labelled, result.interval.method) == (100, "prediction-powered")


def test_pseudo_labels_enter_as_one_won_and_one_lost():
    judged = np.array([1.0, 0.0, -1.0, 0.0] * 20)
    human = {i: 0.0 for i in range(30)}
    result = prediction_powered(judged, human)
    x = np.append(30 / 80 * judged[:30] - judged[:30], [1, -1])
    square = np.var(x) / 32 + (50 / 80) ** 2 * np.var(judged[30:], ddof=1) / 50
    assert result.se == pytest.approx(math.sqrt(square))
    assert result.se > prediction_powered(judged, human, pseudo_labels=False).se


def test_labels_that_agree_throughout_leave_a_standard_error():
    judged = np.zeros(200)
    result = prediction_powered(judged, {i: 0.0 for i in range(100)})
    assert result.estimate == 0.0
    assert result.interval.low < 0 < result.interval.high


def test_labelling_everything_gives_the_human_mean():
    judged = [1.0, 0.0, 0.0, 1.0]
    human = {0: 0.0, 1: 0.0, 2: 1.0, 3: 0.0}
    assert prediction_powered(judged, human).estimate == 0.25


def test_labels_without_questions_or_too_few_are_refused():
    with pytest.raises(EvidenceError, match="label at least two"):
        prediction_powered([1.0, 0.0], {0: 1.0})
    with pytest.raises(EvidenceError, match="outside the 2 judged"):
        prediction_powered([1.0, 0.0], {0: 1.0, 5: 0.0})


def test_a_judge_lenient_to_one_reader_is_caught_by_labels():
    rng = np.random.default_rng(2)
    false = naive = 0
    for _ in range(300):
        right = rng.random((2, 200)) < 0.6
        accept = np.where(right, [[0.90], [0.95]], [[0.15], [0.25]])
        judged = (rng.random((2, 200)) < accept).astype(float)
        j, h = judged[1] - judged[0], right[1].astype(float) - right[0]
        labelled = rng.choice(200, size=80, replace=False)
        interval = prediction_powered(j, {int(i): h[i] for i in labelled}).interval
        false += not interval.low <= 0 <= interval.high
        naive += abs(j.mean()) > 1.96 * j.std() / math.sqrt(200)
    assert false / 300 <= 0.06 + 3 * 0.013
    assert naive / 300 > 0.2


def test_kappa_agrees_with_statsmodels():
    from statsmodels.stats.inter_rater import cohens_kappa, to_table

    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, size=80)
    second = np.where(rng.random(80) < 0.7, first, rng.integers(0, 3, size=80))
    reference = cohens_kappa(to_table(np.column_stack([first, second]))[0])
    result = cohen_kappa(first.tolist(), second.tolist())
    assert result.kappa == pytest.approx(reference.kappa)
    assert result.interval.low < result.kappa < result.interval.high
    width = result.interval.high - result.interval.low
    assert width == pytest.approx(reference.kappa_upp - reference.kappa_low, rel=0.2)


def test_full_agreement_on_few_items_keeps_an_interval():
    result = cohen_kappa(["yes", "no"] * 5, ["yes", "no"] * 5)
    assert (result.kappa, result.interval.high) == (1.0, 1.0)
    assert result.interval.low < 0.6


def test_kappa_of_one_label_throughout_is_undefined():
    result = cohen_kappa(["yes"] * 5, ["yes"] * 5)
    assert (result.kappa, result.interval, result.observed) == (None, None, 1.0)


def test_raters_of_different_items_are_refused():
    with pytest.raises(EvidenceError, match="do not pair"):
        cohen_kappa(["yes"], [])
    with pytest.raises(EvidenceError, match="do not pair"):
        cohen_kappa([], [])

from __future__ import annotations

import numpy as np
import pytest

from ragablate.compare import compare
from ragablate.compare.inference.stepdown import max_t

LEVELS = ("one", "two", "three")


def together(sheet, declare, **changes):
    """Three treatments that move nearly the same questions."""
    made = sheet()
    for i in range(80):
        better = 1.0 if i < 14 else 0.0
        row = {("control", "correct"): 1.0 - better}
        for shift, level in enumerate(LEVELS):
            row[level, "correct"] = 0.0 if 60 <= i < 63 + shift else 1.0
        made.add(row)
    contrasts = [
        declare("upstream", id=f"upstream/{level}", level=level, treatment=level)
        for level in LEVELS
    ]
    return made, contrasts, compare(made.study(*contrasts, **changes))


def adjusted(comparison):
    return [e.p_adjusted for e in comparison.effects if e.role == "primary"]


def test_max_t_uses_that_contrasts_go_together(sheet, declare):
    made, contrasts, joint = together(sheet, declare, correction="maxt")
    _, _, apart = together(sheet, declare)

    table = [
        [made.scores[c.treatment]["correct"][q][0] - made.scores["control"]["correct"][q][0]
         for c in contrasts]
        for q in made.qids
    ]  # fmt: skip
    assert adjusted(joint) == pytest.approx(list(max_t(np.array(table))), abs=1e-12)
    assert all(a < b for a, b in zip(adjusted(joint), adjusted(apart), strict=True))
    assert ", max-T " in joint.conclusions[0].sentences[0]


def test_max_t_never_falls_below_the_test_of_the_contrast_alone(sheet, declare):
    _, _, joint = together(sheet, declare, correction="maxt")

    for effect in joint.effects:
        if effect.role == "primary":
            assert effect.p_adjusted >= effect.p - 0.005


def test_a_family_of_one_keeps_its_exact_p(sheet, declare):
    made = sheet()
    made.add({("control", "correct"): 0, ("upstream", "correct"): 1}, 8)
    made.add({("control", "correct"): 1, ("upstream", "correct"): 1}, 30)

    (effect,) = (
        e
        for e in compare(made.study(declare("upstream"), correction="maxt")).effects
        if e.role == "primary"
    )

    assert effect.p_adjusted == effect.p == 2 * 0.5**8


def test_a_question_that_one_contrast_lacks_counts_in_the_others(sheet, declare):
    made, contrasts, _ = together(sheet, declare)
    made.scores["two"]["correct"]["q0000"] = (None,)

    found = compare(made.study(*contrasts, correction="maxt"))

    assert [e.unmeasured for e in found.effects if e.role == "primary"] == [0, 1, 0]
    assert all(0 < p < 0.1 for p in adjusted(found))


def test_a_sequence_of_looks_widens_every_interval_and_decides_later(sheet, declare):
    made = sheet()
    made.add({("control", "correct"): 0, ("upstream", "correct"): 1}, 9)
    made.add({("control", "correct"): 1, ("upstream", "correct"): 1}, 91)

    once = compare(made.study(declare("upstream"))).effects[0]
    often = compare(made.study(declare("upstream"), planned_n=300)).effects[0]

    assert (once.state, often.state) == ("up", "unclear")
    assert often.ci95.low < 0 < once.ci95.low
    assert often.ci95.method == "confidence sequence"

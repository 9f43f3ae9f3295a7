from __future__ import annotations

from itertools import product

import pytest

from ragablate.compare.comparison import compare
from ragablate.compare.shapes import shape

EVIDENCE, FAITHFUL, RETRIEVED = "evidence_in_context", "faithfulness", "evidence_retrieved"


def rows(made, evidence, faithful, times, correct=(1, 1)):
    """Questions by (before, after) of evidence and faithfulness."""
    columns = {}
    for arm, e, f, c in zip(("control", "upstream"), evidence, faithful, correct, strict=True):
        columns[arm, EVIDENCE] = columns[arm, RETRIEVED] = float(e)
        columns[arm, FAITHFUL] = float(f)
        columns[arm, "correct"] = float(c)
        columns[arm, "abstained"] = 0.0
    return made.add(columns, times)


def ex_20(sheet, declare, margin):
    made = sheet()
    rows(made, (1, 0), (1, 1), 21)
    rows(made, (0, 1), (1, 1), 1)
    rows(made, (1, 1), (0, 1), 1)
    rows(made, (1, 1), (1, 0), 2)
    rows(made, (1, 1), (1, 1), 76)
    rows(made, (0, 0), (1, 1), 19)
    return compare(made.study(declare("upstream", margin=margin)))


def read(comparison):
    found = {(e.measure, e.population): e for e in comparison.effects}
    return shape(
        found[EVIDENCE, "answerable"],
        found[FAITHFUL, "kept present"],
        found["correct", "answerable"],
        found[RETRIEVED, "answerable"],
    )


def test_ex_20_with_a_margin_of_ten_points_retrieval_regressed(sheet, declare):
    found = read(ex_20(sheet, declare, 0.10))

    assert (found.evidence, found.faithfulness) == ("down", "flat")
    assert found.name == "retrieval regressed"


def test_ex_20_with_a_margin_of_five_points_says_how_many_questions_it_needs(sheet, declare):
    found = read(ex_20(sheet, declare, 0.05))

    assert found.name == "not enough evidence"
    assert found.text.startswith("Evidence fell; faithfulness is not decided")
    assert found.settle == "about 131 kept present questions to decide faithfulness (here 79)"


class Moved:
    """As much of an effect as a shape is read from."""

    def __init__(self, state):
        self.state, self.effect, self.n = state, 0.0, 50
        self.population, self.needed_n = "answerable", None


STATES = ("up", "down", "flat", "unclear", "refused")


@pytest.mark.parametrize("states", list(product(STATES, repeat=3)))
def test_every_combination_of_states_has_a_reading(states):
    found = shape(*map(Moved, states))

    assert found.name
    assert found.text
    decided = all(state in ("up", "down", "flat") for state in states[:2])
    needs_score = states[:2] == ("flat", "flat")
    open_score = needs_score and states[2] in ("unclear", "refused")
    assert (found.name == "not enough evidence") == (not decided or open_score)
    assert bool(found.settle) == (found.name == "not enough evidence")


@pytest.mark.parametrize(
    ("retrieved", "name"),
    [
        ("down", "retrieval regressed"),
        ("flat", "assembly regressed"),
        ("unclear", "retrieval or assembly regressed"),
    ],
)
def test_the_ranking_tells_retrieval_from_assembly(retrieved, name):
    assert shape(Moved("down"), Moved("flat"), Moved("down"), Moved(retrieved)).name == name


def test_signals_that_stand_still_leave_a_moved_score_to_source_label_or_judge():
    found = shape(Moved("flat"), Moved("flat"), Moved("down"))

    assert found.name == "neither stage signal moved"
    assert "label" in found.text

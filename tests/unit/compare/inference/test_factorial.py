import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.compare.inference.factorial import mediation, two_by_two
from ragablate.compare.inference.shapley import shapley
from ragablate.errors import EvidenceError

cells = st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=12)
relaxed = settings(deadline=None, max_examples=40)


@relaxed
@given(cells)
def test_effects_of_a_factorial_add_up_in_every_question(rows):
    y00, y10, y01, y11 = np.array(rows).T
    effects = two_by_two(y00, y10, y01, y11)
    shares = effects.first_share + effects.second_share
    steps = effects.first_old + effects.second_old + effects.interaction
    assert shares.tolist() == effects.total.tolist() == steps.tolist()
    assert (effects.first_new - effects.first_old).tolist() == effects.interaction.tolist()
    assert (effects.second_new - effects.second_old).tolist() == effects.interaction.tolist()


@relaxed
@given(cells)
def test_shares_are_two_player_shapley_values(rows):
    y00, y10, y01, y11 = np.array(rows, dtype=float).T
    effects = two_by_two(y00, y10, y01, y11)
    expected = shapley(
        {frozenset(): y00, frozenset("r"): y10, frozenset("g"): y01, frozenset("rg"): y11}
    )
    assert effects.first_share.tolist() == expected["r"].tolist()
    assert effects.second_share.tolist() == expected["g"].tolist()


@relaxed
@given(cells)
def test_the_two_paths_add_up_to_the_total_in_every_question(rows):
    paths = mediation(*np.array(rows).T)
    assert (paths.evidence + paths.other).tolist() == paths.total.tolist()
    assert (paths.evidence_on_control + paths.other_on_treatment).tolist() == paths.total.tolist()
    assert (paths.other_on_control + paths.evidence_on_treatment).tolist() == paths.total.tolist()


def test_cells_of_different_questions_are_refused():
    with pytest.raises(EvidenceError, match=r"cells of \[1, 1, 2, 1\] questions"):
        two_by_two([1], [0], [1, 0], [1])
    with pytest.raises(EvidenceError, match="do not pair"):
        mediation([1], [0], [1, 0], [1])

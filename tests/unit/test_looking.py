from __future__ import annotations

from statistics import NormalDist

import pytest

from ragablate import looking
from ragablate.records import Dataset, Gold, Passage, Question

PLAN = {
    "alpha": 0.05,
    "seed": 0,
    "cluster_by": "document",
    "correction": "holm",
    "sequential": {"rule": None, "looks": 5, "planned_n": None},
    "confirmation": {"share": 0.0, "open": False},
}


def plan(**changes):
    made = {key: dict(v) if isinstance(v, dict) else v for key, v in PLAN.items()}
    for key, value in changes.items():
        group, _, leaf = key.partition("__")
        if leaf:
            made[group][leaf] = value
        else:
            made[group] = value
    return made


def obf(looks, planned_n):
    return plan(sequential__rule="obf", sequential__looks=looks, sequential__planned_n=planned_n)


def test_one_look_is_at_the_level_of_the_plan():
    assert looking.level(plan(), 77) == 0.05
    assert looking.in_words(plan(), 77) == ()


@pytest.mark.parametrize("look", [1, 4, 9, 10])
def test_ten_looks_have_the_published_bounds(look):
    level = looking.level(obf(10, 500), 50 * look)
    bound = -NormalDist().inv_cdf(level / 2)
    assert bound == pytest.approx(2.087 * (10 / look) ** 0.5, rel=1e-3)


@pytest.mark.parametrize(("questions", "look"), [(99, 0), (100, 1), (199, 1), (500, 5), (900, 5)])
def test_a_look_is_complete_once_its_questions_are_there(questions, look):
    assert looking.look(obf(5, 500)["sequential"], questions) == look


def test_before_the_first_look_nothing_is_tested():
    (sentence,) = looking.too_early(obf(5, 500)["sequential"], 60)
    assert "takes 100, and there are 60" in sentence
    assert looking.too_early(obf(5, 500)["sequential"], 100) == []


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"correction": "none"}, "correction must be holm or maxt"),
        ({"sequential__rule": "pocock"}, "sequential.rule must be obf, cs or null"),
        ({"sequential__rule": "obf"}, "sequential.planned_n must be a whole number"),
        ({"sequential__rule": "cs", "sequential__planned_n": 90}, "set cluster_by=null"),
        ({"confirmation__share": 1.5}, "confirmation.share must be a number"),
        ({"confirmation__share": True}, "confirmation.share must be a number"),
        ({"confirmation__open": "yes"}, "confirmation.open must be true or false"),
        ({"confirmation__open": True}, "opens nothing"),
    ],
)
def test_what_cannot_be_declared_is_said_in_one_sentence(changes, part):
    (sentence,) = looking.problems(plan(**changes))
    assert part in sentence


def test_what_can_be_declared_is_taken():
    sensible = plan(correction="maxt", confirmation__share=0.3, confirmation__open=True)
    assert looking.problems(sensible) == []
    assert looking.problems(obf(5, 500)) == []


def drawn(n, groups):
    """n questions spread over groups that must not be torn apart."""
    asked = tuple(
        Question(f"q{i:03d}", f"What is {i}?", slices={"case": f"c{i % groups}"}) for i in range(n)
    )
    gold = {q.qid: Gold(q.qid, answers=("x",)) for q in asked}
    return Dataset("drawn", (), (Passage("p", "text"),), asked, gold)


def sides(dataset, **changes):
    return [
        {q.qid for q in looking.split(dataset, plan(**changes, confirmation__open=side)).questions}
        for side in (False, True)
    ]


def test_without_a_share_nothing_is_sealed():
    dataset = drawn(20, 20)
    assert looking.split(dataset, plan()) is dataset


def test_sealed_and_shown_questions_make_up_the_set():
    dataset = drawn(400, 400)
    shown, sealed = sides(dataset, cluster_by=None, confirmation__share=0.3)
    assert shown | sealed == {q.qid for q in dataset.questions}
    assert not shown & sealed
    assert 0.22 < len(sealed) / 400 < 0.38


def test_a_cluster_lies_on_one_side():
    dataset = drawn(200, 20)
    shown, sealed = sides(dataset, cluster_by="slices.case", confirmation__share=0.4)
    cases = {q.qid: q.slices["case"] for q in dataset.questions}
    assert shown
    assert sealed
    assert not {cases[q] for q in shown} & {cases[q] for q in sealed}


def test_the_draw_is_that_of_the_seed():
    dataset = drawn(100, 100)
    first, again = (sides(dataset, cluster_by=None, confirmation__share=0.5) for _ in range(2))
    other = sides(dataset, cluster_by=None, confirmation__share=0.5, seed=1)
    assert first == again != other


def test_the_gold_of_the_other_side_is_gone():
    dataset = drawn(50, 50)
    kept = looking.split(dataset, plan(cluster_by=None, confirmation__share=0.5))
    assert set(kept.gold) == {q.qid for q in kept.questions}

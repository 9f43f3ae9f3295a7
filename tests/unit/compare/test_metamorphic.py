from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.codec import encode
from ragablate.compare import compare

ARMS = ("control", "upstream", "oracle", "reader")
SCORE = st.sampled_from([0.0, 1.0])
QUESTION = st.fixed_dictionaries(
    {
        "scores": st.tuples(*[SCORE] * len(ARMS)),
        "evidence": st.tuples(SCORE, SCORE),
        "answerable": st.sampled_from([True, True, True, False]),
        "cluster": st.sampled_from(["", "", "a", "b", "c"]),
        "type": st.sampled_from(["x", "y"]),
    }
)
TABLES = st.lists(QUESTION, min_size=4, max_size=60).filter(
    lambda rows: sum(row["answerable"] for row in rows) > 1
)
FEW = settings(deadline=None, max_examples=25)


def study_of(sheet, declare, rows, kinds=("upstream", "oracle", "reader"), repeat=1):
    made = sheet()
    for i, row in enumerate(rows):
        fixed, moved = row["evidence"]
        values = {}
        for arm, score in zip(ARMS, row["scores"], strict=True):
            evidence = {"upstream": moved, "oracle": 1.0}.get(arm, fixed)
            values |= {
                (arm, "evidence_in_context"): evidence,
                (arm, "correct"): score,
                (arm, "abstained"): 1.0 - score,
            }
        cluster = f"copy {i}" if repeat > 1 else row["cluster"]
        made.add(
            values,
            times=repeat,
            answerable=row["answerable"],
            cluster=cluster,
            slices={"type": row["type"]},
        )
    return made.study(*(declare(kind) for kind in kinds))


@given(rows=TABLES, random=st.randoms(use_true_random=False))
@FEW
def test_the_order_of_questions_changes_not_one_byte(sheet, declare, rows, random):
    study = study_of(sheet, declare, rows)
    qids = list(study.qids)
    random.shuffle(qids)
    shuffled = replace(
        study,
        qids=tuple(qids),
        scores={
            arm: {m: {q: table[q] for q in qids if q in table} for m, table in measures.items()}
            for arm, measures in study.scores.items()
        },
        clusters={q: study.clusters[q] for q in qids if q in study.clusters},
    )

    assert encode(compare(shuffled)) == encode(compare(study))


@given(rows=TABLES)
@FEW
def test_swapping_the_arms_flips_signs_and_keeps_p(sheet, declare, rows):
    study = study_of(sheet, declare, rows, kinds=("upstream",))
    scores = dict(study.scores)
    scores["control"], scores["upstream"] = scores["upstream"], scores["control"]

    there = compare(study).effects[0]
    back = compare(replace(study, scores=scores)).effects[0]

    assert back.effect == -there.effect
    assert (back.p, back.better, back.worse) == (there.p, there.worse, there.better)
    assert (back.ci95.low, back.ci95.high) == pytest.approx((-there.ci95.high, -there.ci95.low))
    mirrored = {"up": "down", "down": "up"}
    assert back.state == mirrored.get(there.state, there.state)


@given(rows=TABLES)
@FEW
def test_an_arm_against_itself_is_exactly_nothing(sheet, declare, rows):
    study = study_of(sheet, declare, rows)
    scores = {arm: study.scores["control"] for arm in study.scores}

    effects = compare(replace(study, scores=scores)).effects

    same = [e for e in effects if e.effect is not None and e.measure != "upstream minus reader"]
    assert same
    assert {(e.effect, e.better, e.worse) for e in same} == {(0.0, 0, 0)}
    assert {e.p for e in same} == {1.0}
    assert {e.state for e in same} <= {"flat", "unclear"}


@given(rows=TABLES, more=st.integers(1, 40))
@FEW
def test_always_right_questions_dilute_the_effect_and_keep_p(sheet, declare, rows, more):
    right = {
        "scores": (1.0,) * len(ARMS),
        "evidence": (1.0, 1.0),
        "answerable": True,
        "cluster": "",
        "type": "x",
    }
    before = compare(study_of(sheet, declare, rows)).effects[0]
    after = compare(study_of(sheet, declare, [*rows, *[right] * more])).effects[0]

    assert after.effect == pytest.approx(before.effect * before.n / (before.n + more))
    assert after.p == before.p


@given(rows=TABLES)
@FEW
def test_every_question_doubled_as_its_own_cluster_keeps_p(sheet, declare, rows):
    alone = [{**row, "cluster": ""} for row in rows]
    once = compare(study_of(sheet, declare, alone)).effects[0]
    twice = compare(study_of(sheet, declare, alone, repeat=2)).effects[0]

    assert (twice.p, twice.effect, twice.n) == (once.p, once.effect, 2 * once.n)
    assert twice.clusters == once.n


@given(rows=TABLES)
@FEW
def test_permuting_replicates_changes_no_effect(sheet, declare, rows):
    study = study_of(sheet, declare, rows)

    def decoded(order):
        return {
            arm: {
                measure: {
                    q: tuple((v[0], 1.0, 0.0)[i] if measure == "correct" else v[0] for i in order)
                    for q, v in table.items()
                }
                for measure, table in measures.items()
            }
            for arm, measures in study.scores.items()
        }

    first, other = (compare(replace(study, scores=decoded(o))) for o in ((0, 1, 2), (2, 0, 1)))

    assert [(e.id, e.effect, e.p, e.state) for e in first.effects] == [
        (e.id, e.effect, e.p, e.state) for e in other.effects
    ]


@given(rows=TABLES)
@FEW
def test_every_contrast_ends_in_one_conclusion_that_speaks(sheet, declare, rows):
    study = study_of(sheet, declare, rows)

    comparison = compare(study)

    assert [c.contrast for c in comparison.conclusions] == [c.id for c in study.contrasts]
    known = {e.id for e in comparison.effects}
    for conclusion in comparison.conclusions:
        assert conclusion.verdict
        assert conclusion.sentences
        assert set(conclusion.effects) <= known

from __future__ import annotations

from ragablate.compare import compare
from ragablate.compare.scores import ScoreTable, average, extremes


def columns(arm, **values):
    """Values of one arm by measure."""
    return {(arm, name): value for name, value in values.items()}


def reader_row(full, before, after, *, abstained=(0, 0), faithful=(None, None)):
    row = {}
    for arm, score, refused, faith in zip(
        ("control", "reader"), (before, after), abstained, faithful, strict=True
    ):
        row |= columns(
            arm,
            evidence_retrieved=full,
            evidence_in_context=full,
            correct=score,
            abstained=refused,
            faithfulness=faith,
        )
    return row


def by_id(study):
    return {effect.id.split(":", 1)[1]: effect for effect in compare(study).effects}


def test_pairs_are_made_by_qid_and_never_by_position(sheet, declare):
    made = sheet()
    made.add({("control", "correct"): 1, ("reader", "correct"): 1}, times=10)
    made.add({("control", "correct"): 0, ("reader", "correct"): 0}, times=10)
    made.scores["reader"]["correct"] = dict(reversed(made.scores["reader"]["correct"].items()))

    assert by_id(made.study(declare("reader")))["correct:answerable"].same == 20


def test_eval_gaps_are_excluded_counted_and_listed(sheet, declare):
    made = sheet().add(reader_row(1, 0, 1), times=30)
    gaps = frozenset(made.qids[:3])

    comparison = compare(made.study(declare("reader"), eval_gaps=gaps))

    assert {e.n for e in comparison.effects if e.population == "answerable" and e.n} == {27}
    assert {s.n + s.unmeasured for s in comparison.signals} == {27}
    assert "3 questions without usable gold (q0000, q0001, q0002)" in comparison.notes[0]


def test_unanswerable_questions_stand_apart_and_are_never_pooled(sheet, declare):
    made = sheet().add(reader_row(1, 1, 1), times=20)
    made.add(reader_row(None, 1, 0), times=30, answerable=False)

    effects = by_id(made.study(declare("reader")))

    assert (effects["correct:answerable"].n, effects["correct:answerable"].effect) == (20, 0.0)
    apart = effects["correct:unanswerable"]
    assert (apart.role, apart.n, apart.effect, apart.state) == ("cell", 30, -1.0, "down")


def test_a_reader_swap_is_split_by_the_evidence_of_control(sheet, declare):
    made = sheet()
    made.add(reader_row(1, 0, 1, faithful=(1, 1)), times=12)
    made.add(reader_row(0.5, 0, 0, abstained=(0, 1)), times=8)

    effects = by_id(made.study(declare("reader")))

    assert (effects["correct:evidence full"].n, effects["correct:evidence full"].effect) == (12, 1)
    lacking = effects["abstained:evidence not full"]
    assert (lacking.role, lacking.n, lacking.effect) == ("cell", 8, 1.0)


def test_a_refusal_with_full_evidence_is_not_faithful_as_in_ex_29(sheet, declare):
    made = sheet()
    made.add(reader_row(1, 1, 0, abstained=(0, 1), faithful=(1, None)), times=10)
    made.add(reader_row(1, 0, 0, abstained=(0, 1), faithful=(0, None)), times=20)
    made.add(reader_row(1, 1, 1, faithful=(1, 1)), times=70)

    kept = by_id(made.study(declare("reader")))["faithfulness:kept present"]

    assert (kept.n, kept.unmeasured, kept.better, kept.worse) == (100, 0, 0, 10)
    assert round(kept.p, 5) == 0.00195
    assert kept.state == "down"


def test_a_better_retriever_is_no_worse_reader_as_in_ex_8(sheet, declare):
    def row(before, after, faithful):
        old = columns("control", evidence_in_context=before, correct=before, abstained=1 - before)
        new = columns("upstream", evidence_in_context=after, correct=after, abstained=1 - after)
        faith = {
            ("control", "faithfulness"): 1.0 if before else None,
            ("upstream", "faithfulness"): faithful,
        }
        return old | new | faith

    made = sheet()
    made.add(row(1, 1, 1.0), times=4)
    made.add(row(0, 1, 1.0), times=2)
    made.add(row(0, 1, 0.0), times=2)
    made.add(row(0, 0, None), times=2)
    comparison = compare(made.study(declare("upstream")))
    effects = {effect.id.split(":", 1)[1]: effect for effect in comparison.effects}

    evidence = effects["evidence_in_context:answerable"]
    assert (evidence.effect, evidence.better, evidence.worse, evidence.p) == (0.4, 4, 0, 0.125)
    kept = effects["faithfulness:kept present"]
    assert (kept.n, kept.better, kept.worse) == (4, 0, 0)
    assert "faithfulness:answerable" not in effects
    said = " ".join(s for c in comparison.conclusions for s in c.sentences)
    assert "faithful" not in said
    rates = {s.arm: (s.mean, s.n) for s in comparison.signals if s.measure == "faithfulness"}
    assert rates == {"control": (1.0, 4), "upstream": (0.75, 8)}
    assert any("different questions" in note for note in comparison.notes)


def test_faithfulness_as_the_headline_is_read_where_both_arms_had_the_evidence(sheet, declare):
    made = sheet()
    made.add(reader_row(1, 1, 0, abstained=(0, 1), faithful=(1, None)), times=20)
    made.add(reader_row(0, 0, 0, faithful=(0, 1)), times=20)

    headline = compare(made.study(declare("reader", measure="faithfulness"))).effects[0]

    assert (headline.population, headline.n, headline.effect) == ("kept present", 20, -1.0)


def test_partial_evidence_counts_as_absent(sheet, declare):
    made = sheet()
    for value in (0.0, 0.5, 1.0):
        made.add(
            columns("control", evidence_in_context=value, correct=0)
            | columns("upstream", evidence_in_context=1, correct=0),
            times=10,
        )

    effect = by_id(made.study(declare("upstream")))["evidence_in_context:answerable"]

    assert (effect.control_mean, effect.better) == (1 / 3, 20)


def test_measures_settled_before_the_change_are_negative_controls(sheet, declare):
    made = sheet()
    row = {}
    for arm in ("control", "reader", "oracle", "upstream"):
        row |= columns(arm, evidence_retrieved=1, evidence_in_context=1, correct=1)
    made.add(row, times=30)

    effects = compare(made.study(declare("reader"), declare("oracle"), declare("upstream"))).effects

    controls = {(e.arms[1], e.measure): (e.effect, e.state) for e in effects if e.role == "control"}
    assert controls == {
        ("reader", "evidence_retrieved"): (0.0, "flat"),
        ("reader", "evidence_in_context"): (0.0, "flat"),
        ("oracle", "evidence_retrieved"): (0.0, "flat"),
    }


def test_evidence_that_moves_under_a_swapped_reader_breaks_the_replay(sheet, declare):
    made = sheet().add(reader_row(1, 0, 1), times=29)
    made.add(
        columns("control", evidence_in_context=1, evidence_retrieved=1, correct=0)
        | columns("reader", evidence_in_context=0, evidence_retrieved=1, correct=1)
    )
    conclusion = compare(made.study(declare("reader"))).conclusions[0]

    assert conclusion.label == "refused"
    assert "Evidence in the context moved on 1 question" in conclusion.sentences[0]


def test_a_retriever_that_moves_under_an_oracle_context_confounds(sheet, declare):
    made = sheet()
    for control, oracle in ((1, 1), (1, 0)):
        made.add(
            columns("control", evidence_retrieved=control, evidence_in_context=1, correct=0)
            | columns("oracle", evidence_retrieved=oracle, evidence_in_context=1, correct=1),
            times=20,
        )
    conclusion = compare(made.study(declare("oracle"))).conclusions[0]

    assert (conclusion.verdict, conclusion.label) == ("no attribution", "confounded")
    assert "evidence retrieved (top 10) moved on 20 questions" in conclusion.limits[0]


def test_a_negative_control_is_watched_on_unanswerable_questions_and_eval_gaps_too(sheet, declare):
    made = sheet().add(reader_row(1, 0, 1), times=29)
    made.add(
        columns("control", evidence_retrieved=1, evidence_in_context=1, correct=0)
        | columns("reader", evidence_retrieved=0, evidence_in_context=1, correct=0)
    )
    study = made.study(declare("reader"), eval_gaps=frozenset(made.qids[-1:]))

    assert compare(study).conclusions[0].label == "refused"


def test_primary_effects_come_first_in_the_order_of_the_contrasts(sheet, declare):
    made = sheet()
    row = {}
    for arm in ("control", "reader", "oracle"):
        row |= columns(arm, evidence_in_context=1, correct=1)
    made.add(row, times=30)

    effects = compare(made.study(declare("reader"), declare("oracle"))).effects

    assert [e.contrast for e in effects[:2]] == ["reader/extractive_strict", "oracle/oracle"]
    assert [e.role for e in effects].count("primary") == 2
    assert len({e.id for e in effects}) == len(effects)


def test_a_question_is_the_mean_of_its_replicates_or_unmeasured():
    assert average((1.0, 0.0, 1.0, 1.0)) == 0.75
    assert average((1.0, None)) is None
    assert average(()) is None
    assert average((None,)) is None
    assert extremes((1.0, None, 0.0), 3) == (1 / 3, 2 / 3)


def test_an_unknown_arm_has_no_values(sheet, declare):
    table = ScoreTable(sheet().add({("control", "correct"): 1}).study())

    assert table.values("nowhere", "correct", "q0000") == ()
    assert table.mean("nowhere", "correct", "q0000") is None

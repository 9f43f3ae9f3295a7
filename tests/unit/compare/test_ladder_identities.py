"""What must hold of every ladder, whatever its scores."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragablate.codec import encode
from ragablate.compare import compare
from ragablate.compare.ladder import ladder
from ragablate.compare.ladder_rungs import climb
from ragablate.compare.ladder_terms import merged, shown_one_sided
from ragablate.compare.scores import ScoreTable
from ragablate.errors import EvidenceError
from ragablate.records import Analysis, Proof

ARMS = {"B": "control", "A": "evicted", "D": "all", "S": "first", "O": "oracle", "N": "closed"}
GATED = {"B": "control", "B'": "ungated", **{r: a for r, a in ARMS.items() if r != "B"}}
PROOFS = {"localize": (Proof("INV-3", "pass", "", "reader equal"),)}
FEW = settings(deadline=None, max_examples=25)


def declared(arms=ARMS):
    return Analysis("localize", "?", "ladder", arms, "correct", 0.05)


# ── V1 ──────────────────────────────────────────────────────────────────────────────────


def random_table(sheet, draw, arms, replicates):
    """One to three questions: evidence full, partial or absent, unanswerable, unmeasured."""
    made = sheet()
    levels = draw.choice([(0.0, 1.0), (0.0, 0.25, 0.6, 1.0)])
    for _ in range(draw.randint(1, 3)):
        answerable = draw.random() < 0.8
        row = {
            (arm, "correct"): [draw.choice(levels) for _ in range(replicates)]
            for arm in arms.values()
        }
        base = arms.get("B'", arms["B"])
        row[base, "evidence_in_context"] = draw.choice([0.0, 0.5, 1.0]) if answerable else None
        row["oracle", "faithfulness"] = [
            draw.choice([None, 0.0, 0.7, 1.0]) for _ in range(replicates)
        ]
        row["oracle", "abstained"] = [draw.choice([0.0, 0.0, 1.0]) for _ in range(replicates)]
        made.add(row, answerable=answerable)
    return made


def test_terms_add_up_to_what_control_lacks_in_ten_thousand_tables(sheet):
    draw, shown = random.Random(4), 0
    for number in range(10_000):
        arms = GATED if number % 3 == 0 else ARMS
        study = random_table(sheet, draw, arms, 1 + number % 5).study(analyses=(declared(arms),))
        climbed = climb(ScoreTable(study), declared(arms))
        for question in climbed.complete:
            losses = question.losses(climbed.steps)
            exact = [Fraction(v) for v in study.scores["control"]["correct"][question.qid]]
            assert sum(losses.values()) == 1 - sum(exact) / len(exact)
            shown += 1
        if climbed.complete:
            names = [rung.name for rung in climbed.steps]
            columns = [*(climbed.columns[n] for n in names),
                       *(merged(climbed, n) for n in shown_one_sided(climbed))]  # fmt: skip
            total = sum(sum(column) for column in columns)
            assert total == len(climbed.complete) * (1 - climbed.mean("B"))
    assert shown > 10_000


# ── V11 ─────────────────────────────────────────────────────────────────────────────────

SCORE = st.sampled_from([0.0, 1.0])
QUESTION = st.fixed_dictionaries(
    {
        "scores": st.tuples(*[SCORE] * len(ARMS)),
        "evidence": SCORE,
        "faithful": st.sampled_from([0.0, 1.0, None]),
        "answerable": st.sampled_from([True, True, True, False]),
        "cluster": st.sampled_from(["", "", "a", "b"]),
    }
)
TABLES = st.lists(QUESTION, min_size=4, max_size=40).filter(
    lambda rows: sum(row["answerable"] for row in rows) > 1
)
RIGHT = {
    "scores": (1.0,) * len(ARMS),
    "evidence": 1.0,
    "faithful": 1.0,
    "answerable": True,
    "cluster": "",
}


def study_of(sheet, rows, **changes):
    made = sheet()
    for row in rows:
        values = {
            (arm, "correct"): score for arm, score in zip(ARMS.values(), row["scores"], strict=True)
        }
        values["control", "evidence_in_context"] = row["evidence"] if row["answerable"] else None
        values["oracle", "faithfulness"] = row["faithful"]
        made.add(values, answerable=row["answerable"], cluster=row["cluster"])
    buckets = {q: "retrieval" if i % 2 else "assembly" for i, q in enumerate(made.qids)}
    return made.study(analyses=(declared(),), proofs=PROOFS, buckets=buckets, **changes)


@given(rows=TABLES, draw=st.randoms(use_true_random=False))
@FEW
def test_the_order_of_questions_changes_not_one_byte_of_a_ladder(sheet, rows, draw):
    study = study_of(sheet, rows)
    qids = list(study.qids)
    draw.shuffle(qids)
    shuffled = replace(
        study,
        qids=tuple(qids),
        scores={
            arm: {m: {q: by_qid[q] for q in qids} for m, by_qid in measures.items()}
            for arm, measures in study.scores.items()
        },
        buckets={q: study.buckets[q] for q in qids},
    )

    assert encode(compare(shuffled)) == encode(compare(study))


@given(rows=TABLES, more=st.integers(1, 40))
@FEW
def test_always_right_questions_scale_every_term(sheet, rows, more):
    before = compare(study_of(sheet, rows)).analyses[0]
    after = compare(study_of(sheet, [*rows, *[RIGHT] * more])).analyses[0]

    was = {t.name: t for t in before.terms}
    for term in after.terms:
        old = was[term.name]
        assert term.value == pytest.approx(old.value * old.n / (old.n + more), abs=1e-12)
        assert (term.fixed, term.broke, term.p) == (old.fixed, old.broke, old.p)
    assert after.agreement == before.agreement


@given(rows=TABLES, replicates=st.permutations([0, 1, 2]))
@FEW
def test_the_order_of_decodes_changes_nothing_but_buckets(sheet, rows, replicates):
    study = study_of(sheet, rows)
    draw = random.Random(len(rows))
    qids = study.qids
    scores = {
        arm: {
            m: {q: tuple(draw.choice([0.0, 1.0]) for _ in range(3)) for q in qids}
            if m in ("correct", "faithfulness")
            else {q: by_qid[q] * 3 for q in qids}
            for m, by_qid in measures.items()
        }
        for arm, measures in study.scores.items()
    }
    permuted = {
        arm: {
            m: {q: tuple(values[k] for k in replicates) for q, values in by_qid.items()}
            for m, by_qid in measures.items()
        }
        for arm, measures in scores.items()
    }

    there, back = (compare(replace(study, scores=s)).analyses[0] for s in (scores, permuted))

    assert encode(there) == encode(back)


def test_arms_that_all_equal_control_leave_everything_to_reader_label_and_joint(sheet):
    rows = [{**RIGHT, "scores": (float(i % 2),) * 6, "evidence": float(i % 3 > 0)}
            for i in range(30)]  # fmt: skip

    result = compare(study_of(sheet, rows)).analyses[0]

    for term in result.terms[:4]:
        assert (term.value, term.fixed, term.broke, term.p) == (0.0, 0, 0, 1.0)
    assert result.named == ""


def test_a_set_without_answerable_questions_is_refused(sheet):
    study = study_of(sheet, [{**RIGHT, "answerable": False}] * 6)

    with pytest.raises(EvidenceError, match="0 answerable question"):
        compare(study)
    conclusion = ladder(ScoreTable(study), declared()).conclusion
    assert (conclusion.verdict, conclusion.label) == ("refused", "refused")


# ── what is missing ─────────────────────────────────────────────────────────────────────


def losing(sheet, faithful=1.0, gone=0):
    """14 questions lost by retrieval, 3 by assembly, 83 right; some without a score in D."""
    rows = [{**RIGHT, "scores": (0, 0, 1, 1, 1, 0), "evidence": 0.0}] * 14
    rows += [{**RIGHT, "scores": (0, 1, 1, 1, 1, 0), "evidence": 0.0}] * 3
    rows += [{**RIGHT, "faithful": faithful}] * 83
    study = study_of(sheet, rows)
    for qid in study.qids[-gone:] if gone else ():
        study.scores["all"]["correct"][qid] = (None,)
    return study


def ruled(study):
    comparison = compare(study)
    return comparison.analyses[0], comparison.conclusions[0]


def test_missing_answers_leave_all_terms_and_are_said(sheet):
    result, conclusion = ruled(losing(sheet, gone=4))

    assert {t.n for t in result.terms} == {96}
    assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)
    assert any("4 questions of 100 not measured on every rung" in s for s in conclusion.limits)


def test_a_name_that_missing_answers_could_flip_is_not_given(sheet):
    assert ruled(losing(sheet))[0].named == "retrieval"
    flipped = ruled(losing(sheet, gone=4))[0]
    assert flipped.named == ""
    assert flipped.candidates[0] == "retrieval"


def test_many_missing_answers_make_it_an_association(sheet):
    result, conclusion = ruled(losing(sheet, gone=20))

    assert conclusion.label == "descriptive"
    assert conclusion.verdict == "association only"
    assert (result.named, result.candidates, conclusion.owner) == ("", (), "")
    assert "cannot be put down to the stages" in conclusion.sentences[1]


def test_without_faithfulness_reader_and_label_are_one_term(sheet):
    rows = [{**RIGHT, "scores": (0, 0, 0, 0, 0, 0), "faithful": None}] * 30 + [RIGHT] * 30

    result, conclusion = ruled(study_of(sheet, rows))

    assert [t.name for t in result.terms][4:] == ["reader-or-label", "joint"]
    assert result.named == "reader-or-label"
    assert "reader or label loses the most" in conclusion.verdict


def test_answers_whose_support_is_unmeasured_stay_apart(sheet):
    wrong = {**RIGHT, "scores": (0, 0, 0, 0, 0, 0)}
    rows = [{**wrong, "faithful": f} for f in (0.0, 1.0, None)] * 10 + [RIGHT] * 10

    result, _ = ruled(study_of(sheet, rows))

    terms = {t.name: t.value for t in result.terms}
    assert terms["reader"] == terms["source-or-label"] == terms["reader-or-label"] == 0.25
    assert result.named == "reader"


def test_the_reader_is_not_named_for_losses_that_may_be_the_labels(sheet):
    wrong = {**RIGHT, "scores": (0, 0, 0, 0, 0, 0)}
    rows = [wrong, *[{**wrong, "faithful": None}] * 20, *[RIGHT] * 20]

    result, _ = ruled(study_of(sheet, rows))

    assert result.named == ""
    assert result.candidates[0] == "reader"


def test_a_refusal_with_the_gold_before_it_is_the_readers(sheet):
    made = sheet()
    made.add(
        {
            **{(arm, "correct"): 0 for arm in ARMS.values()},
            ("control", "evidence_in_context"): 1,
            ("oracle", "faithfulness"): None,
            ("oracle", "abstained"): 1,
        },
        times=30,
    )

    result, _ = ruled(made.study(analyses=(declared(),), proofs=PROOFS))

    reader = next(t for t in result.terms if t.name == "reader")
    assert (reader.value, reader.reasons) == (1.0, {"refused_despite_evidence": 1.0})


def test_a_ladder_without_judged_evidence_is_refused_in_one_sentence(sheet):
    made = sheet().add({(arm, "correct"): 1 for arm in ARMS.values()}, times=30)

    comparison = compare(made.study(analyses=(declared(),), proofs=PROOFS))

    assert comparison.analyses == ()
    (conclusion,) = comparison.conclusions
    assert conclusion.label == "refused"
    assert "add the judge evidence" in conclusion.sentences[0]


def test_a_step_that_fails_its_proof_refuses_the_ladder(sheet):
    broken = Proof("INV-3", "fail", "refuse", "D to S: the reader differs")
    study = replace(losing(sheet), proofs={"localize": (broken,)})

    conclusion = compare(study).conclusions[0]

    assert conclusion.label == "refused"
    assert conclusion.sentences[0].endswith("D to S: the reader differs.")


def test_a_confounded_step_names_no_stage(sheet):
    confounded = Proof("INV-5", "fail", "confounded", "A to D: the prompt changed")
    study = replace(losing(sheet), proofs={"localize": (confounded,)})

    result, conclusion = ruled(study)

    assert (conclusion.verdict, result.named) == ("no attribution", "")
    assert not any("loses the most" in s for s in conclusion.sentences)


def test_gold_that_makes_answers_worse_names_no_stage(sheet):
    rows = [{**RIGHT, "scores": (1, 1, 1, 1, 0, 1)}] * 20 + [RIGHT] * 30

    result, conclusion = ruled(study_of(sheet, rows))

    assert conclusion.verdict == "gold suspect"
    assert (result.named, result.candidates) == ("", ())
    assert conclusion.owner.startswith("the question set")
    assert any("Repairing distractors made answers worse" in s for s in conclusion.sentences)


def test_every_repair_has_an_effect_with_its_id(sheet):
    comparison = compare(losing(sheet))

    terms = {t.effect: t for t in comparison.analyses[0].terms if t.effect}
    effects = {e.id: e for e in comparison.effects if e.role == "term"}
    assert set(terms) == set(effects) == {
        f"localize:{name}:answerable" for name in (
            "assembly", "retrieval", "ordering", "distractor"
        )
    }  # fmt: skip
    for name, term in terms.items():
        assert term.value == pytest.approx(effects[name].effect, abs=1e-12)
        assert term.p_adjusted == effects[name].p_adjusted
    assert set(comparison.conclusions[0].effects) <= {e.id for e in comparison.effects}
    assert terms["localize:retrieval:answerable"].p_adjusted == 4 * 2**-13


def test_asking_again_is_set_against_what_supplying_the_gold_fixes(sheet, declare):
    made = sheet()
    row = {("control", "correct"): 0, ("evicted", "correct"): 0, ("all", "correct"): 1,
           ("first", "correct"): 1, ("oracle", "correct"): 1, ("closed", "correct"): 0,
           ("control", "evidence_in_context"): 0}  # fmt: skip
    made.add({**row, ("placebo", "correct"): 1}, times=10)
    made.add({**row, ("placebo", "correct"): 0}, times=30)
    study = made.study(declare("placebo"), analyses=(declared(),), proofs=PROOFS)

    result, _ = ruled(replace(study, buckets=dict.fromkeys(study.qids, "retrieval")))

    shares = {s.name: s for s in result.shares}
    assert (shares["PS"].count, shares["PS"].of, shares["PS"].placebo) == (40, 40, 0.25)

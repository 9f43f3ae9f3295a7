from __future__ import annotations

from fractions import Fraction

import pytest

from ragablate.compare import compare
from ragablate.records import Analysis, Proof

ROLES = {"N": "closed_book", "B": "control", "A": "with_evicted", "D": "with_gold",
         "S": "gold_first", "O": "oracle"}  # fmt: skip

EX_1 = """
q1    1   1  | 0 1 1 1 1 1 | 1
q2    1   1  | 1 1 1 1 1 1 | 1
q3    1   0  | 0 0 1 1 1 1 | 1
q4    0   0  | 0 0 0 1 1 1 | 1
q5    0   0  | 0 0 0 0 0 1 | 1
q6    1   1  | 0 0 0 0 1 1 | 1
q7    1   1  | 0 0 0 0 0 1 | 1
q8    1   1  | 0 0 0 0 0 0 | 0
q9    0   0  | 0 0 0 0 0 0 | 0
q10   1   1  | 0 0 0 0 0 0 | 1
q11   0   0  | 1 1 1 0 0 1 | 1
q12   1   1  | 0 1 1 1 1 1 | 1
q13   0   0  | 0 0 0 1 1 1 | 1
q14   0   0  | 0 0 0 1 1 1 | 1
u1    -   -  | 1 0 0 0 0 1 | 1
u2    -   -  | 0 0 0 0 0 0 | 0
"""

BUCKETS = {
    **dict.fromkeys(("q4", "q5", "q9", "q13", "q14"), "retrieval"),
    "q3": "assembly",
    "q6": "generation: unsupported claim",
    "q7": "generation: unsupported claim",
    "q8": "generation: refusal",
    "q10": "source-or-label",
}
REASONS = {
    "assembly": {"q3": "budget_cut"},
    "retrieval": {
        "q4": "not_in_candidates",
        "q5": "not_indexed",
        "q9": "reranked_out",
        "q11": "reranked_out",
        "q13": "not_in_candidates",
        "q14": "right_document_other_passage",
    },
}


def analysis(**arms):
    return Analysis("localize", "?", "ladder", ROLES | arms, "correct", 0.05)


def ladder_study(made, declared=None, *contrasts, **changes):
    declared = declared or analysis()
    fields = {
        "analyses": (declared,),
        "proofs": {declared.id: (Proof("INV-3", "pass", "", "reader equal"),)},
        **changes,
    }
    return made.study(*contrasts, **fields)


def rung(evidence, b, a, d, s, o, n=0, faithful=None):
    """One question on all rungs; a value or one value a decode."""
    scores = {"N": n, "B": b, "A": a, "D": d, "S": s, "O": o}
    made = {(ROLES[role], "correct"): score for role, score in scores.items()}
    made["control", "evidence_in_context"] = evidence
    if faithful is not None:
        made["oracle", "faithfulness"] = faithful
    return made


def ex_1(sheet, without_gold=None):
    made = sheet()
    for line in EX_1.split("\n")[1:-1]:
        (qid, _, prompt), scores, faithful = (part.split() for part in line.split("|"))
        n, b, a, d, s, o = map(int, scores)
        row = rung(None if prompt == "-" else int(prompt), b, a, d, s, o, n, int(faithful[0]))
        if without_gold is not None:
            row["necessity", "correct"] = without_gold.get(qid, 0)
        made.add(row, answerable=prompt != "-")
        made.qids[-1:] = [qid]
    names = dict(zip([f"q{i:04d}" for i in range(len(made.qids))], made.qids, strict=True))
    made.answerable = {names[q]: v for q, v in made.answerable.items()}
    made.slices = {}
    made.scores = {
        arm: {m: {names[q]: v for q, v in by_qid.items()} for m, by_qid in measures.items()}
        for arm, measures in made.scores.items()
    }
    return made


def ladder_of(study):
    comparison = compare(study)
    conclusion = next(c for c in comparison.conclusions if c.contrast == "localize")
    effects = {e.id: e for e in comparison.effects if e.contrast == "localize"}
    return comparison.analyses[0], effects, conclusion


def fourteenths(terms):
    return {t.name: round(t.value * 14, 9) for t in terms}


# ── EX-1 ────────────────────────────────────────────────────────────────────────────────


def test_ex_1_every_term_is_as_worked_out_by_hand(sheet):
    result, _, _ = ladder_of(ladder_study(ex_1(sheet), buckets=BUCKETS, reasons=REASONS))

    assert result.order == "ladder B>A>D>S>O"
    assert fourteenths(result.terms) == {
        "assembly": 1,
        "retrieval": 2,
        "ordering": 1,
        "distractor": 1,
        "reader": 1,
        "source-or-label": 1,
        "joint": 3,
    }
    assert result.total == pytest.approx(10 / 14, abs=1e-12)
    assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)
    assert {role: round(14 * mean, 9) for role, mean in result.cells.items()} == {
        "B": 4, "A": 5, "D": 7, "S": 8, "O": 11, "N": 2
    }  # fmt: skip


def test_ex_1_prints_net_and_gross(sheet):
    result, _, _ = ladder_of(ladder_study(ex_1(sheet)))

    gross = {t.name: (t.n, t.fixed, t.broke) for t in result.terms}
    assert gross == {
        "assembly": (14, 1, 0),
        "retrieval": (14, 3, 1),
        "ordering": (14, 1, 0),
        "distractor": (14, 1, 0),
        "reader": (14, 1, 0),
        "source-or-label": (14, 1, 0),
        "joint": (14, 3, 0),
    }


def test_ex_1_weighs_both_sides_of_the_reader(sheet):
    _, effects, conclusion = ladder_of(ladder_study(ex_1(sheet)))

    gap = effects["localize:correct:answerable"]
    weighing = effects["localize:upstream minus reader:answerable"]
    assert (gap.effect, gap.better, gap.worse, gap.p, gap.state) == (0.5, 7, 0, 0.015625, "up")
    assert weighing.effect == pytest.approx(5 / 14)
    assert weighing.p == 92 / 512
    assert weighing.state == "unclear"
    assert conclusion.verdict == "both"
    assert conclusion.label == "causal with limits"
    assert conclusion.limits == ("pilot: only 14 questions",)


def test_ex_1_cannot_tell_retrieval_from_assembly(sheet):
    result, effects, conclusion = ladder_of(ladder_study(ex_1(sheet)))

    assert result.named == ""
    assert result.candidates[:2] == ("retrieval", "assembly")
    assert set(result.candidates) == {
        "retrieval", "assembly", "ordering", "distractor", "reader"
    }  # fmt: skip
    against = effects["localize:retrieval minus assembly:answerable"]
    assert (against.better, against.worse, against.p) == (3, 2, 1.0)
    assert any("cannot be told from that of assembly" in s for s in conclusion.sentences)
    assert "to tell retrieval from assembly" in conclusion.settle


def test_ex_1_shares_of_evidence_that_is_enough(sheet):
    result, _, conclusion = ladder_of(ladder_study(ex_1(sheet), buckets=BUCKETS))

    shares = {s.name: (s.count, s.of) for s in result.shares}
    assert shares["PS"] == (4, 6)
    assert shares["PS (log says retrieval)"] == (3, 5)
    assert (
        "Of the 5 questions whose log says retrieval, supplying the gold fixed 3 (PS = 3/5)."
        in conclusion.sentences
    )


def test_ex_1_sets_logs_beside_repairs(sheet):
    result, _, _ = ladder_of(ladder_study(ex_1(sheet), buckets=BUCKETS))

    table = {(a.bucket, a.rung): a.questions for a in result.agreement}
    assert table == {
        ("retrieval", "retrieval"): 3,
        ("retrieval", "more than one fix"): 1,
        ("retrieval", "none"): 1,
        ("assembly", "assembly"): 1,
        ("generation: unsupported claim", "ordering"): 1,
        ("generation: unsupported claim", "distractor"): 1,
        ("generation: refusal", "none"): 1,
        ("source-or-label", "none"): 1,
    }
    assert result.agreement[0].bucket == "retrieval"


def test_ex_1_keeps_unanswerable_questions_apart(sheet):
    result, _, conclusion = ladder_of(ladder_study(ex_1(sheet)))

    shares = {s.name: (s.count, s.of) for s in result.shares}
    assert shares["correct refusals"] == (0, 2)
    assert shares["fabrications with the context, none without"] == (1, 2)
    assert shares["fabrications without any context"] == (1, 2)
    assert any(s.startswith("On 2 unanswerable questions") for s in conclusion.sentences)


def test_ex_1_repeats_the_terms_where_memory_cannot_help(sheet):
    result, _, conclusion = ladder_of(ladder_study(ex_1(sheet)))

    (stratum,) = result.strata.values()
    assert {t.n for t in stratum} == {12}
    twelfths = {t.name: round(12 * t.value, 9) for t in stratum}
    assert twelfths["retrieval"] == 3
    assert sum(twelfths.values()) == 10
    assert any(s.startswith("On the 12 of 14 questions") for s in conclusion.sentences)


def test_ex_1_reasons_are_partitions_of_their_term(sheet):
    result, _, conclusion = ladder_of(ladder_study(ex_1(sheet), reasons=REASONS))

    parts = {t.name: {r: round(14 * v, 9) for r, v in t.reasons.items()} for t in result.terms}
    assert parts["assembly"] == {"budget_cut": 1}
    assert parts["retrieval"] == {
        "not_in_candidates": 2,
        "right_document_other_passage": 1,
        "reranked_out": -1,
    }
    assert parts["reader"] == {"unsupported": 1}
    for term in result.terms:
        if term.reasons:
            assert sum(term.reasons.values()) == pytest.approx(term.value, abs=1e-12)
    assert not any("because" in s and "reranked" in s for s in conclusion.sentences)


def test_ex_15_asks_how_many_right_answers_need_their_evidence(sheet, declare):
    made = ex_1(sheet, without_gold={"q2": 1})
    study = ladder_study(made, None, declare("necessity"))

    result, _, conclusion = ladder_of(study)

    shares = {s.name: (s.count, s.of) for s in result.shares}
    assert shares["PN"] == (2, 3)
    assert any("(PN = 2/3)" in s for s in conclusion.sentences)


# ── other worked examples ───────────────────────────────────────────────────────────────


def disjoint(sheet, top, runner_up, n=100):
    made = sheet()
    made.add(rung(0, 0, 0, 1, 1, 1, faithful=1), times=top)
    made.add(rung(0, 0, 1, 1, 1, 1, faithful=1), times=runner_up)
    return made.add(rung(1, 1, 1, 1, 1, 1, faithful=1), times=n - top - runner_up)


def test_ex_18_names_the_top_of_14_and_3(sheet):
    result, effects, conclusion = ladder_of(ladder_study(disjoint(sheet, 14, 3)))

    assert effects["localize:retrieval minus assembly:answerable"].p == pytest.approx(
        0.012726, abs=5e-7
    )
    assert (result.named, result.candidates) == ("retrieval", ())
    assert conclusion.verdict == "upstream is the bottleneck; retrieval loses the most"
    assert conclusion.owner.startswith("retrieval: chunking")
    assert any(s.startswith("Retrieval loses the most") for s in conclusion.sentences)


def test_ex_18_names_nothing_of_12_and_5(sheet):
    result, effects, conclusion = ladder_of(ladder_study(disjoint(sheet, 12, 5)))

    assert effects["localize:retrieval minus assembly:answerable"].p == pytest.approx(
        0.143463, abs=5e-7
    )
    assert result.named == ""
    assert result.candidates == ("retrieval", "assembly")
    assert conclusion.owner.startswith("everything before the reader")


def test_ex_19_weighs_upstream_against_reader(sheet):
    made = sheet()
    made.add(rung(0, 0, 0, 1, 1, 1), times=32)
    made.add(rung(1, 1, 1, 1, 1, 0), times=2)
    made.add(rung(1, 0, 0, 0, 0, 0), times=8)
    made.add(rung(0, 0, 0, 0, 0, 0), times=5)
    made.add(rung(1, 1, 1, 1, 1, 1), times=53)

    result, effects, conclusion = ladder_of(ladder_study(made))

    gap = effects["localize:correct:answerable"]
    weighing = effects["localize:upstream minus reader:answerable"]
    terms = {t.name: t for t in result.terms}
    assert gap.effect == pytest.approx(0.30)
    assert gap.p == pytest.approx(6.9e-8, rel=0.01)
    assert (gap.ci95.low, gap.ci95.high) == pytest.approx((0.2041, 0.4011), abs=5e-5)
    assert weighing.effect == pytest.approx(0.20)
    assert weighing.p == pytest.approx(0.0053, abs=5e-5)
    assert (weighing.ci95.low, weighing.ci95.high) == pytest.approx((0.0640, 0.3281), abs=5e-5)
    assert terms["reader-or-label"].value == pytest.approx(0.10)
    assert terms["joint"].value == pytest.approx(0.05)
    assert terms["distractor"].value == pytest.approx(-0.02)
    assert (terms["distractor"].fixed, terms["distractor"].broke) == (0, 2)
    assert "reader" not in terms
    assert conclusion.verdict.startswith("upstream is the bottleneck")


def test_ex_22_charges_co_failures_to_no_stage(sheet):
    made = sheet()
    made.add(rung(1, 1, 1, 1, 1, 1), times=72)
    made.add(rung(0, 0, 0, 1, 1, 1), times=48)
    made.add(rung(1, 0, 0, 0, 0, 0), times=48)
    made.add(rung(0, 0, 0, 0, 0, 0), times=32)

    result, effects, conclusion = ladder_of(ladder_study(made))

    terms = {t.name: t.value for t in result.terms}
    weighing = effects["localize:upstream minus reader:answerable"]
    assert effects["localize:correct:answerable"].effect == pytest.approx(0.24)
    assert (weighing.effect, weighing.better, weighing.worse, weighing.p) == (0.0, 48, 48, 1.0)
    assert terms["joint"] == pytest.approx(0.16)
    assert terms["retrieval"] == terms["reader-or-label"] == pytest.approx(0.24)
    assert conclusion.verdict == "both"
    assert result.candidates == ("retrieval", "reader-or-label")
    assert any(s.startswith("16 % of the questions need more than one") for s in (
        conclusion.sentences
    ))  # fmt: skip


def test_ex_23_fabrication_is_no_fault_of_retrieval_on_a_ladder(sheet):
    made = sheet()
    made.add(rung(1, 1, 1, 1, 1, 1), times=65).add(rung(1, 0, 0, 0, 0, 0), times=5)
    made.add(rung(None, 0, 0, 0, 0, 1, n=1), times=30, answerable=False)

    result, effects, conclusion = ladder_of(ladder_study(made))

    assert effects["localize:correct:answerable"].effect == 0.0
    assert "upstream" not in conclusion.verdict
    shares = {s.name: (s.count, s.of) for s in result.shares}
    assert shares["fabrications with the context, none without"] == (30, 30)
    assert {t.n for t in result.terms} == {70}


def gated(sheet, refused, lost=0, n=100):
    """A gate that refuses questions the reader would answer, before a ladder without losses."""
    made = sheet()
    for times, control, rest in ((refused, 0, 1), (lost, 0, 0), (n - refused - lost, 1, 1)):
        row = rung(1, rest, rest, rest, rest, rest, faithful=0)
        row |= {("ungated", "correct"): rest, ("ungated", "evidence_in_context"): 1}
        made.add(row | {("control", "correct"): control}, times=times)
    made.add(
        rung(None, 1, 0, 0, 0, 1, n=1) | {("ungated", "correct"): 0,
                                          ("ungated", "evidence_in_context"): None},
        times=30,
        answerable=False,
    )  # fmt: skip
    return ladder_study(made, analysis(**{"B'": "ungated"}))


def test_a_gates_own_loss_is_the_first_rung(sheet):
    result, effects, conclusion = ladder_of(gated(sheet, refused=40))

    terms = {t.name: t for t in result.terms}
    assert result.order == "ladder B>B'>A>D>S>O"
    assert (terms["gate"].value, terms["gate"].fixed, result.total) == (0.4, 40, 0.4)
    assert effects["localize:gate:answerable"].p_adjusted == pytest.approx(5 * 2.0**-39)
    assert effects["localize:correct:answerable"].effect == 0.0
    assert conclusion.verdict == "the gate loses the most"
    assert conclusion.owner.startswith("the gate")
    shares = {s.name: (s.count, s.of) for s in result.shares}
    assert shares["fabrications the gate prevents"] == (30, 30)
    assert any("kept from inventing one by its gate on 30" in s for s in conclusion.sentences)


def test_without_a_shortfall_behind_the_gate_no_stage_is_named(sheet):
    result, _, conclusion = ladder_of(gated(sheet, refused=0, lost=0))

    assert conclusion.verdict == "no material shortfall"
    assert (result.named, conclusion.owner) == ("", "")


def test_a_ladder_of_something_that_is_no_quality_of_answers_is_refused(sheet):
    made = sheet()
    made.add({(arm, "abstained"): 0 for arm in ROLES.values()}, times=30)

    study = ladder_study(made, Analysis("localize", "?", "ladder", ROLES, "abstained", 0.05))

    (conclusion,) = compare(study).conclusions
    assert conclusion.label == "refused"
    assert "abstained does not say how good they are" in conclusion.sentences[0]


def test_replicates_are_added_as_counts_and_divided_once(sheet):
    made = sheet()
    made.add(rung([1] * 3, [1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1], [0] * 3, [1] * 3),
             times=30)  # fmt: skip
    made.add(rung([0] * 3, [0] * 3, [0] * 3, [1, 0, 1], [1, 0, 1], [1, 0, 1], [0] * 3, [1] * 3),
             times=30)  # fmt: skip

    result, effects, conclusion = ladder_of(ladder_study(made))

    terms = {t.name: t.value for t in result.terms}
    assert terms["retrieval"] == 0.5
    assert terms["distractor"] == pytest.approx(1 / 6, abs=1e-15)
    assert terms["joint"] == pytest.approx(1 / 6, abs=1e-15)
    assert result.total == pytest.approx(5 / 6, abs=1e-15)
    assert effects["localize:retrieval:answerable"].replicates == 3
    assert {(s.count, s.of) for s in result.shares if s.name == "PS"} == {(60, 90)}
    assert "each decoded 3 times" in conclusion.sentences[0]


def test_exact_sums_survive_thirds():
    from ragablate.compare.ladder_rungs import Complete, rungs

    third = tuple(map(Fraction, (1, 0, 0)))
    full = tuple(map(Fraction, (1, 1, 0)))
    question = Complete(
        "q", True, {"B": third, "A": third, "D": full, "S": third, "O": full},
        ("faithful", "unsupported", "unmeasured"),
    )  # fmt: skip

    losses = question.losses(rungs(analysis()))

    assert sum(losses.values()) == Fraction(2, 3)
    assert losses["reader-or-label"] == Fraction(1, 3)
    assert losses["ordering"] == Fraction(-1, 3)

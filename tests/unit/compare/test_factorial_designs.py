from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from several_arms import cells, crossed, filled, proven, studied

from ragablate.codec import encode
from ragablate.compare import compare
from ragablate.compare.cells import cells as read_cells
from ragablate.compare.combining import alone, interactions, last, roles, shares, total
from ragablate.compare.factorial import ADDITIVE, DEPENDS, UNSHOWN
from ragablate.compare.inference.multiplicity import holm
from ragablate.compare.scores import ScoreTable
from ragablate.records import Proof

# METHOD's table lists Y00, Y10, Y01, Y11; cells are named by their bits.
COLUMNS = ("00", "10", "01", "11")
EX4 = {"1111": 8, "0111": 2, "0001": 4, "0101": 2, "0011": 1, "0000": 3}

A0, A1 = "retriever | reader=small", "retriever | reader=large"
B0, B1 = "reader | retriever=bm25", "reader | retriever=dense"


def shown(study):
    comparison = compare(study)
    (conclusion,) = comparison.conclusions
    return comparison, conclusion


def by_name(comparison, population="answerable"):
    return {e.measure: e for e in comparison.effects if e.population == population}


def multiplied(patterns, times):
    return {pattern: n * times for pattern, n in patterns.items()}


# ── the worked example ──────────────────────────────────────────────────────────────────


def test_ex4_gives_the_printed_effects_p_values_and_verdict(sheet):
    comparison, conclusion = shown(studied(filled(sheet, EX4, COLUMNS), crossed()))
    (result,) = comparison.analyses
    found = by_name(comparison)
    assert result.cells == {"00": 0.40, "01": 0.55, "10": 0.60, "11": 0.85}
    expected = {
        A0: (0.20, 0.125),
        A1: (0.30, 0.03125),
        B0: (0.15, 0.25),
        B1: (0.25, 0.0625),
        "interaction": (0.10, 0.6875),
        "retriever": (0.25, 0.0078125),
        "reader": (0.20, 0.015625),
        "total": (0.45, 0.00390625),
    }
    assert {name: (round(e.effect, 12), e.p) for name, e in found.items()} == expected
    assert (found[A0].better, found[A0].worse) == (4, 0)
    assert (found["total"].better, found["total"].worse) == (9, 0)
    assert (found["interaction"].better, found["interaction"].worse) == (4, 2)
    assert conclusion.verdict == UNSHOWN
    assert conclusion.label == "causal"
    assert any("additivity not shown" in s for s in conclusion.sentences)


def test_ex4_terms_add_up_to_the_total_in_both_ways(sheet):
    comparison, _ = shown(studied(filled(sheet, EX4, COLUMNS), crossed()))
    (result,) = comparison.analyses
    assert [t.name for t in result.terms] == [A0, B0, "interaction"]
    assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)
    shared = next(terms for name, terms in result.beside.items() if "Shapley" in name)
    assert sum(t.value for t in shared) == pytest.approx(result.total, abs=1e-12)
    assert result.total == pytest.approx(0.45, abs=1e-12)


def test_ex4_with_the_end_points_alone_is_refused_and_the_missing_arms_are_named(sheet):
    patterns = {"11": 8, "01": 9, "00": 3}
    analysis = crossed(only=["00", "11"])
    comparison, conclusion = shown(studied(filled(sheet, patterns, ("00", "11")), analysis))
    assert comparison.analyses == ()
    assert comparison.effects == ()
    assert (conclusion.verdict, conclusion.label) == ("no attribution", "refused")
    assert "2 variables changed" in conclusion.sentences[0]
    assert "+0.45" in conclusion.sentences[1]
    assert "cannot be split" in conclusion.sentences[1]
    assert conclusion.settle == "run the missing arms: reader=large alone; retriever=dense alone"


def test_a_cell_that_was_run_but_not_measured_is_missing_too(sheet):
    made = filled(sheet, {"1111": 10, "0001": 10}, COLUMNS)
    del made.scores["01"]["correct"]
    _, conclusion = shown(studied(made, crossed()))
    assert conclusion.label == "refused"
    assert conclusion.settle == "run the missing arms: reader=large alone"


# ── interplay ───────────────────────────────────────────────────────────────────────────


def test_a_detected_interaction_forbids_a_worth_without_the_other_level(sheet):
    patterns = {"0001": 40, "0000": 30, "1111": 30}
    comparison, conclusion = shown(studied(filled(sheet, patterns, COLUMNS), crossed()))
    assert by_name(comparison)["interaction"].state == "up"
    assert conclusion.verdict == DEPENDS
    text = conclusion.sentences[-1]
    assert (
        "replacing retriever bm25 by dense is worth 0.00 with reader small, +0.40 with large"
        in (text)
    )
    assert (
        "replacing reader small by large is worth 0.00 with retriever bm25, +0.40 with dense"
        in (text)
    )
    assert "veraged" not in " ".join(conclusion.sentences)


def test_effects_that_add_up_within_the_margin_may_be_quoted_averaged(sheet):
    patterns = {"0101": 40, "0011": 60, "1111": 300, "0000": 200}
    comparison, conclusion = shown(studied(filled(sheet, patterns, COLUMNS), crossed()))
    assert by_name(comparison)["interaction"].state == "flat"
    assert conclusion.verdict == ADDITIVE
    assert "retriever +0.07" in conclusion.sentences[-1]
    assert "reader +0.10" in conclusion.sentences[-1]


def test_simple_effects_and_interaction_are_one_family_and_the_shares_another(sheet):
    comparison, _ = shown(studied(filled(sheet, EX4, COLUMNS), crossed()))
    found = by_name(comparison)
    five = [A0, B0, A1, B1, "interaction"]
    adjusted = holm([found[name].p for name in five])
    assert [found[name].p_adjusted for name in five] == list(adjusted)
    pair = holm([found["retriever"].p, found["reader"].p])
    assert (found["retriever"].p_adjusted, found["reader"].p_adjusted) == pair
    assert found["total"].p_adjusted == found["total"].p
    assert {e.role for e in comparison.effects} == {"term"}
    assert len({e.id for e in comparison.effects}) == len(comparison.effects)


def test_with_three_variables_shares_lead_and_pairs_stand_beside(sheet):
    names = cells(3)
    patterns = {"".join("1" if "1" in name[:2] else "0" for name in names): 60, "0" * 8: 60}
    study = studied(filled(sheet, patterns, names), crossed(3))
    comparison, conclusion = shown(study)
    (result,) = comparison.analyses
    assert [t.name for t in result.terms] == ["retriever", "reader", "assembler"]
    assert [round(t.value, 12) for t in result.terms] == [0.25, 0.25, 0.0]
    pairs = next(terms for name, terms in result.beside.items() if "pairs" in name)
    assert [(t.name, t.value) for t in pairs] == [
        ("retriever x reader", -0.5),
        ("retriever x assembler", 0.0),
        ("reader x assembler", 0.0),
    ]
    assert conclusion.verdict == DEPENDS
    assert "retriever x reader" in conclusion.sentences[-1]


# ── identities, exact in rationals ──────────────────────────────────────────────────────


def added(*weights):
    every = {}
    for each in weights:
        for role, weight in each.items():
            every[role] = every.get(role, Fraction(0)) + weight
    return {role: weight for role, weight in every.items() if weight}


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_shares_add_up_to_the_total_whatever_the_scores(m):
    factors = crossed(m).factors
    assert added(*(e.weights for e in shares(factors))) == total(m).weights
    assert all(sum(e.weights.values()) == 0 for e in (*shares(factors), *interactions(factors)))
    assert all(e.bound == 1 for e in shares(factors))
    assert all(e.bound == 2 for e in interactions(factors))


def test_both_effects_alone_and_the_interaction_add_up_to_the_total():
    factors = crossed(2).factors
    parts = (*alone(factors), *interactions(factors))
    assert added(*(e.weights for e in parts)) == total(2).weights
    crossing = added(*(e.weights for e in (last(factors)[0],)), {
        role: -w for role, w in alone(factors)[0].weights.items()})  # fmt: skip
    assert crossing == interactions(factors)[0].weights


def tables(m, most=30):
    row = st.lists(st.integers(0, 1), min_size=2**m, max_size=2**m)
    return st.lists(row, min_size=2, max_size=most)


FEW = settings(deadline=None, max_examples=25)


def exact(scores, estimand):
    found = scores.weigh(estimand.weights)
    return [
        Fraction(int(plus - minus), found.denominator)
        for minus, plus in zip(found.minus, found.plus, strict=True)
    ]


@FEW
@given(data=st.data(), m=st.integers(2, 5), replicates=st.integers(1, 3))
def test_every_question_adds_up_exactly_in_rationals(sheet, data, m, replicates):
    decoded = st.tuples(*[st.integers(0, 1).map(float)] * replicates)
    rows = data.draw(st.lists(st.tuples(*[decoded] * 2**m), min_size=2, max_size=6))
    made = sheet()
    for row in rows:
        made.add({(c, "correct"): values for c, values in zip(cells(m), row, strict=True)})
    study = studied(made, crossed(m))
    table = ScoreTable(study)
    read = read_cells(table.reading("correct"), study.analyses[0].arms, "answerable", study.qids)
    factors = study.analyses[0].factors
    parts = [exact(read, estimand) for estimand in shares(factors)]
    whole = exact(read, total(m))
    assert [sum(each) for each in zip(*parts, strict=True)] == whole
    one = [Fraction(sum(map(int, row[-1]))) / replicates for row in rows]
    none = [Fraction(sum(map(int, row[0]))) / replicates for row in rows]
    assert whole == [a - b for a, b in zip(one, none, strict=True)]
    result = compare(study).analyses[0]
    shared = result.terms if m > 2 else list(result.beside.values())[-1]
    assert sum(t.value for t in shared) == pytest.approx(result.total, abs=1e-12)
    assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)


@FEW
@given(rows=tables(3))
def test_a_dummy_gets_nothing_with_certainty_and_symmetric_changes_get_the_same(sheet, rows):
    dummy, alike = sheet(), sheet()
    for row in rows:
        by_cell = dict(zip(cells(3), map(float, row), strict=True))
        dummy.add({(c, "correct"): by_cell[c[:2] + "0"] for c in cells(3)})
        alike.add({(c, "correct"): by_cell["".join(sorted(c[:2])) + c[2]] for c in cells(3)})
    found = by_name(compare(studied(dummy, crossed(3))))
    assert (found["assembler"].effect, found["assembler"].p) == (0.0, 1.0)
    assert found["retriever x assembler"].effect == 0.0
    found = by_name(compare(studied(alike, crossed(3))))
    assert found["retriever"].effect == found["reader"].effect
    assert found["retriever"].p == found["reader"].p


@FEW
@given(rows=tables(2), random=st.randoms(use_true_random=False))
def test_the_order_of_questions_and_of_variables_changes_no_number(sheet, rows, random):
    made, swapped = sheet(), sheet()
    for i, row in enumerate(rows):
        by_cell = dict(zip(cells(2), map(float, row), strict=True))
        made.add({(c, "correct"): v for c, v in by_cell.items()}, cluster=f"c{i % 7}")
        swapped.add({(c[::-1], "correct"): v for c, v in by_cell.items()}, cluster=f"c{i % 7}")
    study = studied(made, crossed())
    qids = list(study.qids)
    random.shuffle(qids)
    assert encode(compare(replace(study, qids=tuple(qids)))) == encode(compare(study))
    analysis = study.analyses[0]
    turned = replace(analysis, factors=analysis.factors[::-1])
    other = by_name(compare(studied(swapped, turned)))
    same = by_name(compare(study))
    assert {n: (e.effect, e.p) for n, e in other.items()} == {
        n: (e.effect, e.p) for n, e in same.items()
    }


def test_an_arm_against_itself_is_exactly_nothing(sheet):
    comparison, conclusion = shown(
        studied(filled(sheet, {"1111": 40, "0000": 60}, COLUMNS), crossed())
    )
    assert {(e.effect, e.p, e.state) for e in comparison.effects} == {(0.0, 1.0, "flat")}
    assert conclusion.verdict == ADDITIVE


# ── populations, replicates, clusters ───────────────────────────────────────────────────


def test_unanswerable_questions_count_apart_and_in_no_term(sheet):
    made = filled(sheet, multiplied(EX4, 5), COLUMNS)
    made.add({(c, "correct"): float(c == "00") for c in COLUMNS}, times=30, answerable=False)
    comparison, conclusion = shown(studied(made, crossed()))
    (result,) = comparison.analyses
    assert {t.n for t in result.terms} == {100}
    assert result.total == pytest.approx(0.45)
    apart = {t.name: t.value for t in result.strata["unanswerable"]}
    assert apart == {A0: -1.0, B0: -1.0, "interaction": 1.0, "total": -1.0}
    assert "where the right answer is to abstain" in conclusion.sentences[-1]


def test_replicates_are_averaged_per_question_and_change_nothing_when_permuted(sheet):
    def study(values):
        made = sheet()
        for i in range(40):
            made.add({(c, "correct"): values if c == "11" and i % 2 else 0.0 for c in COLUMNS}
                     if isinstance(values, float) else
                     {(c, "correct"): values if c == "11" and i % 2 else (0.0,) * 3
                      for c in COLUMNS})  # fmt: skip
        return studied(made, crossed())

    one, other = compare(study((1.0, 0.0, 0.0))), compare(study((0.0, 0.0, 1.0)))
    assert encode(one) == encode(other)
    found = by_name(one)
    assert found["interaction"].effect == pytest.approx(1 / 6)
    assert found["interaction"].replicates == 3
    assert found["retriever"].effect == pytest.approx(1 / 12)


def test_clusters_are_flipped_whole_and_few_of_them_are_a_limit(sheet):
    made = sheet()
    for i in range(60):
        right = 1.0 if i % 10 < 8 else 0.0
        values = {("00", "correct"): 0.0, ("01", "correct"): 0.0}
        values |= {("10", "correct"): right, ("11", "correct"): right}
        made.add(values, cluster=f"d{i // 10}")
    comparison, conclusion = shown(studied(made, crossed()))
    found = by_name(comparison)
    assert found["retriever"].clusters == 6
    assert found["retriever"].p == 2 / 2**6
    assert found[A0].ci95.method == "cluster t"
    assert "the changes lie in only 6 clusters" in conclusion.limits


def test_fewer_than_twenty_questions_are_a_pilot_and_one_is_refused(sheet):
    _, conclusion = shown(studied(filled(sheet, {"0011": 12}, COLUMNS), crossed()))
    assert "pilot: only 12 questions" in conclusion.limits
    made = filled(sheet, {"0011": 1}, COLUMNS)
    made.add({(c, "correct"): None if c == "11" else 1.0 for c in COLUMNS}, times=3)
    comparison, conclusion = shown(studied(made, crossed()))
    assert conclusion.label == "refused"
    assert comparison.analyses == ()


def test_faithfulness_is_read_where_every_arm_had_the_evidence(sheet):
    made = sheet()
    for evidence in ("1111", "1011"):
        values = {(c, "faithfulness"): float(c[1]) for c in COLUMNS}
        values |= {
            (c, "evidence_in_context"): float(e) for c, e in zip(COLUMNS, evidence, strict=True)
        }
        values |= {(c, "abstained"): 0.0 for c in COLUMNS}
        made.add(values, times=25)
    # The second half has a reader whose evidence moved, so the study must not use readers.
    analysis = crossed(measure="faithfulness")
    analysis = replace(
        analysis, factors=(analysis.factors[0], replace(analysis.factors[1], variable="reranker"))
    )
    comparison, _ = shown(studied(made, analysis))
    assert {(e.population, e.n) for e in comparison.effects} == {("kept present", 25)}


# ── what is missing, and what was not proven ────────────────────────────────────────────


def test_a_question_missing_in_one_arm_is_in_no_term_and_must_not_decide(sheet):
    made = filled(sheet, {"0101": 12, "1010": 1, "0000": 83}, COLUMNS)
    made.add({(c, "correct"): None if c == "10" else 1.0 for c in COLUMNS}, times=4)
    comparison, conclusion = shown(studied(made, crossed()))
    found = by_name(comparison)
    assert {(e.n, e.unmeasured) for e in found.values()} == {(96, 4)}
    assert found[A0].p == pytest.approx(0.0034, abs=1e-4)
    assert (found[A0].state, found[A0].detail) == ("unclear", "errors could flip it")
    # What is missing in one arm cannot decide a term that does not use it.
    assert found[B0].detail != "errors could flip it"
    assert any("4 questions of 100 left out" in limit for limit in conclusion.limits)
    assert conclusion.label == "causal with limits"


def test_more_than_five_per_cent_missing_is_descriptive(sheet):
    made = filled(sheet, {"0011": 40, "0000": 50}, COLUMNS)
    made.add({(c, "correct"): None if c == "11" else 0.0 for c in COLUMNS}, times=10)
    _, conclusion = shown(studied(made, crossed()))
    assert (conclusion.label, conclusion.verdict) == ("descriptive", "association only")


def test_an_arm_without_any_answer_is_refused(sheet):
    made = filled(sheet, {"0011": 30}, COLUMNS)
    errors = {"11": {qid: "infrastructure" for qid in made.qids}}
    _, conclusion = shown(studied(made, crossed(), errors=errors))
    assert conclusion.label == "refused"
    assert "Arm '11' has no answer to any of the 30 questions" in conclusion.sentences[0]


CAUSAL_WORDS = ("changed correct by", "is worth", "may be quoted", "made no difference")


@pytest.mark.parametrize(
    ("consequence", "label", "verdict"),
    [
        ("refuse", "refused", "refused"),
        ("confounded", "confounded", "no attribution"),
        ("descriptive", "descriptive", "association only"),
    ],
)
def test_one_broken_step_silences_every_causal_word(sheet, consequence, label, verdict):
    analysis = crossed()
    broken = Proof("INV-5", "fail", consequence, "01 to 11: the prompt changed")
    proofs = {analysis.id: (*proven(analysis)[analysis.id], broken)}
    patterns = {"0001": 40, "0000": 30, "1111": 30}
    comparison, conclusion = shown(
        studied(filled(sheet, patterns, COLUMNS), analysis, proofs=proofs)
    )
    assert (conclusion.label, conclusion.verdict) == (label, verdict)
    text = " ".join(conclusion.sentences)
    assert not any(word in text for word in CAUSAL_WORDS)
    assert "01 to 11: the prompt changed" in text
    assert bool(comparison.analyses) == (consequence != "refuse")


def test_a_step_that_nothing_was_checked_of_is_an_association(sheet):
    analysis = crossed()
    proofs = {analysis.id: proven(analysis)[analysis.id][:3]}
    patterns = {"0001": 40, "1111": 60}
    _, conclusion = shown(studied(filled(sheet, patterns, COLUMNS), analysis, proofs=proofs))
    assert conclusion.label == "descriptive"
    assert "no invariant was checked for the step 10 to 11" in conclusion.limits


def test_a_study_without_proofs_makes_no_causal_claim(sheet):
    study = studied(filled(sheet, {"0001": 40, "1111": 60}, COLUMNS), crossed(), proofs={})
    assert shown(study)[1].label == "descriptive"


def test_evidence_that_moves_under_another_reader_refuses_the_design(sheet):
    made = sheet()
    values = {(c, "correct"): float(c == "11") for c in COLUMNS}
    values |= {(c, "evidence_in_context"): float(c != "11") for c in COLUMNS}
    made.add(values, times=30)
    _, conclusion = shown(studied(made, crossed()))
    assert conclusion.label == "refused"
    assert "the replay is broken" in conclusion.sentences[0]


def test_a_placebo_that_moved_limits_the_design(sheet, declare):
    made = sheet()
    for i in range(60):
        values = {(c, "correct"): float(c == "11") for c in COLUMNS}
        made.add({**values, ("placebo", "correct"): float(i % 2)})
    placebo = declare("placebo", control="00", treatment="placebo")
    analysis = crossed()
    study = made.study(
        placebo,
        analyses=(analysis,),
        proofs={**proven(analysis), placebo.id: (Proof("INV-4", "pass", "", "equal"),)},
    )
    conclusion = next(c for c in compare(study).conclusions if c.contrast == analysis.id)
    assert "the placebo moved, though nothing was changed in it" in conclusion.limits


def test_roles_are_every_combination():
    assert roles(2) == ("00", "01", "10", "11")
    assert len(roles(5)) == 32

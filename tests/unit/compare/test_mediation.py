from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from several_arms import filled, mediated, proven, studied

from ragablate.compare import compare
from ragablate.compare.mediation import reading
from ragablate.compare.paths import orders, paths, total
from ragablate.records import Proof

ROLES = ("B", "c01", "c10", "R")
EX10 = {"0101": 5, "1100": 3, "1111": 7, "0000": 5}


def times(patterns, factor):
    return {pattern: n * factor for pattern, n in patterns.items()}


def shown(study):
    comparison = compare(study)
    (conclusion,) = comparison.conclusions
    return comparison, conclusion


def by_name(comparison, population="answerable"):
    return {
        e.measure: e for e in comparison.effects if e.population == population and e.role == "term"
    }


# ── the worked example ──────────────────────────────────────────────────────────────────


def test_ex10_splits_the_total_exactly_and_both_orders_agree(sheet):
    comparison, conclusion = shown(studied(filled(sheet, EX10, ROLES), mediated()))
    (result,) = comparison.analyses
    assert result.cells == {"B": 0.50, "c01": 0.75, "c10": 0.35, "R": 0.60}
    assert {t.name: round(t.value, 12) for t in result.terms} == {
        "evidence path": 0.25,
        "other path": -0.15,
    }
    assert result.total == pytest.approx(0.10, abs=1e-12)
    found = {t.name: round(t.value, 12) for t in result.beside["both orders of the two paths"]}
    assert found == {
        "evidence path, control's distractors": 0.25,
        "evidence path, treatment's distractors": 0.25,
        "other path, treatment's evidence": -0.15,
        "other path, control's evidence": -0.15,
    }
    assert "evidence helped, distractors ate most of it" in " ".join(conclusion.sentences)
    # Twenty questions estimate this and do not yet decide it: p = 0.0625 and 0.25.
    assert [e.p for e in comparison.effects if "path" in e.measure][:2] == [0.0625, 0.25]
    assert conclusion.verdict == "not enough evidence"


def test_ex10_is_the_verdict_once_both_paths_are_decided(sheet):
    comparison, conclusion = shown(studied(filled(sheet, times(EX10, 4), ROLES), mediated()))
    assert [t.state for t in comparison.analyses[0].terms] == ["up", "down"]
    assert conclusion.verdict == "evidence helped, distractors ate most of it"
    assert conclusion.label == "causal"


# ── the verdict table ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("through", "beside", "verdict"),
    [
        (0.25, -0.15, "evidence helped, distractors ate most of it"),
        (0.25, -0.05, "evidence helped, distractors ate some of it"),
        (0.10, -0.20, "evidence helped, distractors ate all of it"),
        (-0.20, 0.05, "lost evidence hurt, better distractors made up for some of it"),
        (-0.20, 0.15, "lost evidence hurt, better distractors made up for most of it"),
        (-0.20, 0.30, "lost evidence hurt, better distractors made up for all of it"),
    ],
)
def test_paths_that_pull_apart_say_how_much_is_left(through, beside, verdict):
    states = ("up", "down") if through > 0 else ("down", "up")
    assert reading(*states, through, beside) == verdict


def test_every_combination_of_states_has_a_verdict_and_none_claims_what_is_unclear():
    states = ("up", "down", "flat", "unclear")
    sign = {"up": 0.1, "down": -0.1, "flat": 0.0, "unclear": 0.0}
    found = {(e, o): reading(e, o, sign[e], sign[o]) for e in states for o in states}
    assert all(found.values())
    assert found["unclear", "unclear"] == "not enough evidence"
    for (evidence, other), verdict in found.items():
        if "unclear" in (evidence, other):
            assert "not decided" in verdict or verdict == "not enough evidence"
    assert len(set(found.values())) == len(found)


def test_a_path_through_lost_evidence_points_at_retrieval_and_one_beside_at_the_context(sheet):
    lost = filled(sheet, {"1010": 20, "1111": 300}, ROLES)
    assert shown(studied(lost, mediated()))[1].owner.startswith("retrieval")
    worse = filled(sheet, {"1100": 20, "1111": 300}, ROLES)
    _, conclusion = shown(studied(worse, mediated()))
    assert conclusion.owner.startswith("the context")
    assert conclusion.verdict == "worse distractors hurt, not the evidence"


# ── identities ──────────────────────────────────────────────────────────────────────────


def summed(*estimands):
    every = {}
    for estimand in estimands:
        for role, weight in estimand.weights.items():
            every[role] = every.get(role, Fraction(0)) + weight
    return {role: weight for role, weight in every.items() if weight}


def test_the_paths_add_up_to_the_total_and_so_does_each_order_whatever_the_scores():
    assert summed(*paths()) == total().weights
    evidence, rest, reverse, first = orders()
    assert summed(evidence, rest) == summed(reverse, first) == total().weights
    assert {r: w * 2 for r, w in paths()[0].weights.items()} == summed(evidence, reverse)
    assert all(e.bound == 1 for e in (*paths(), *orders()))


@settings(deadline=None, max_examples=30)
@given(
    rows=st.lists(
        st.tuples(*[st.integers(0, 1)] * 4, *[st.sampled_from([0.0, 0.5, 1.0])] * 2),
        min_size=2,
        max_size=40,
    )
)
def test_the_split_by_what_became_of_the_evidence_adds_up_to_the_total(sheet, rows):
    made = sheet()
    for *scores, before, after in rows:
        values = {(r, "correct"): float(s) for r, s in zip(ROLES, scores, strict=True)}
        seen = {"B": before, "c01": after, "c10": before, "R": after}
        made.add({**values, **{(r, "evidence_in_context"): e for r, e in seen.items()}})
    (result,) = compare(studied(made, mediated())).analyses
    split = next(terms for name, terms in result.beside.items() if "became" in name)
    assert [t.name for t in split] == ["gained", "lost", "kept", "absent"]
    assert sum(t.value for t in split) == pytest.approx(result.total, abs=1e-12)
    assert sum(t.n for t in split) == len(rows)
    assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)


# ── negative controls and populations ───────────────────────────────────────────────────


def evidence(sheet, groups):
    """Questions by what became of their evidence: ``(before, after, pattern, how many)``."""
    made = sheet()
    for before, after, pattern, n in groups:
        values = {(r, "correct"): float(d) for r, d in zip(ROLES, pattern, strict=True)}
        seen = {"B": before, "c01": after, "c10": before, "R": after}
        made.add({**values, **{(r, "evidence_in_context"): e for r, e in seen.items()}}, times=n)
    return made


def test_a_score_that_moves_where_the_evidence_stayed_is_said_to_have_another_cause(sheet):
    groups = [(1.0, 1.0, "1100", 20), (1.0, 1.0, "1111", 80), (0.0, 1.0, "0101", 20)]
    comparison, conclusion = shown(studied(evidence(sheet, groups), mediated()))
    text = " ".join(conclusion.sentences)
    assert "acts through more than the presence of the evidence" in text
    kept = next(e for e in comparison.effects if e.population == "kept present")
    assert (kept.n, kept.effect, kept.state) == (100, -0.2, "down")


def test_a_score_that_stays_where_the_evidence_stayed_is_shown_flat(sheet):
    groups = [(1.0, 1.0, "1111", 80), (0.0, 1.0, "0101", 20)]
    _, conclusion = shown(studied(evidence(sheet, groups), mediated()))
    text = " ".join(conclusion.sentences)
    assert "80 questions whose evidence was there before and after" in text
    assert "did not move by more than the margin" in text


def test_unmeasured_evidence_leaves_the_split_out_and_says_so(sheet):
    comparison, conclusion = shown(studied(filled(sheet, times(EX10, 4), ROLES), mediated()))
    assert not any("became" in name for name in comparison.analyses[0].beside)
    assert any("was not measured of every question" in s for s in conclusion.sentences)


def test_unanswerable_questions_count_apart(sheet):
    made = filled(sheet, times(EX10, 4), ROLES)
    made.add({(r, "correct"): float(r in ("B", "c01")) for r in ROLES}, times=30, answerable=False)
    comparison, conclusion = shown(studied(made, mediated()))
    (result,) = comparison.analyses
    assert result.total == pytest.approx(0.10)
    assert {t.name: t.value for t in result.strata["unanswerable"]} == {
        "evidence path": 0.0, "other path": -1.0, "total": -1.0,
    }  # fmt: skip
    assert "where the right answer is to abstain" in conclusion.sentences[-1]


def test_a_measure_that_is_no_merit_is_neither_helped_nor_hurt(sheet):
    made = filled(sheet, times(EX10, 4), ROLES, measure="abstained")
    _, conclusion = shown(studied(made, mediated(measure="abstained")))
    assert conclusion.verdict == "evidence path up, other path down"
    assert conclusion.owner == ""
    text = " ".join(conclusion.sentences)
    assert "better" not in text
    assert "helped" not in text


def test_both_paths_are_one_family(sheet):
    found = by_name(compare(studied(filled(sheet, times(EX10, 2), ROLES), mediated())))
    p, q = found["evidence path"].p, found["other path"].p
    assert (found["evidence path"].p_adjusted, found["other path"].p_adjusted) == (2 * p, q)
    assert found["total"].p_adjusted == found["total"].p


# ── what may not be claimed ─────────────────────────────────────────────────────────────


def test_without_the_edited_contexts_no_path_is_claimed_and_the_split_is_descriptive(sheet):
    groups = [(1.0, 1.0, "1111", 80), (0.0, 1.0, "0101", 20)]
    made = evidence(sheet, groups)
    del made.scores["c01"], made.scores["c10"]
    analysis = mediated(roles=("B", "R"))
    comparison, conclusion = shown(studied(made, analysis))
    (result,) = comparison.analyses
    assert (conclusion.verdict, conclusion.label) == ("no path claimed", "descriptive")
    assert {t.name: round(t.value, 12) for t in result.terms} == {
        "gained": 0.2, "lost": 0.0, "kept": 0.0, "absent": 0.0,
    }  # fmt: skip
    assert "changed correct by" not in " ".join(conclusion.sentences)
    assert "mediation design" in conclusion.settle


def test_one_edited_context_alone_claims_no_path_either(sheet):
    made = filled(sheet, times(EX10, 4), ROLES)
    del made.scores["c10"]
    _, conclusion = shown(studied(made, mediated()))
    assert conclusion.verdict == "no path claimed"
    assert "1 edited context ('c10') was not run" in conclusion.sentences[0]


def test_without_the_treatment_there_is_nothing_to_split(sheet):
    made = filled(sheet, times(EX10, 4), ROLES)
    del made.scores["R"]
    comparison, conclusion = shown(studied(made, mediated()))
    assert comparison.analyses == ()
    assert (conclusion.label, conclusion.settle) == ("refused", "run the missing arms: R")


@pytest.mark.parametrize(
    ("consequence", "verdict"),
    [("refuse", "refused"), ("confounded", "no attribution"), ("descriptive", "association only")],
)
def test_a_broken_edit_claims_no_path(sheet, consequence, verdict):
    analysis = mediated()
    broken = Proof("INV-12", "fail", consequence, "R to c10: gold is left in the context")
    proofs = {analysis.id: (*proven(analysis)[analysis.id], broken)}
    made = filled(sheet, times(EX10, 4), ROLES)
    _, conclusion = shown(studied(made, analysis, proofs=proofs))
    assert conclusion.verdict == verdict
    text = " ".join(conclusion.sentences)
    assert "hrough the evidence" not in text
    assert "R to c10: gold is left in the context" in text


def test_a_missing_answer_in_an_edited_context_can_flip_the_paths_but_not_the_total(sheet):
    made = filled(sheet, {"0101": 8, "1111": 92}, ROLES)
    made.add({(r, "correct"): None if r == "c01" else 1.0 for r in ROLES}, times=5)
    found = by_name(compare(studied(made, mediated())))
    assert found["evidence path"].detail == "errors could flip it"
    assert found["total"].state == "up"


def test_several_levels_are_analyses_of_their_own(sheet):
    one = mediated()
    two = replace(one, id="mediation/other")
    study = studied(filled(sheet, times(EX10, 4), ROLES), one, two)
    comparison = compare(study)
    assert [c.contrast for c in comparison.conclusions] == ["mediation", "mediation/other"]
    assert len({e.id for e in comparison.effects}) == len(comparison.effects)

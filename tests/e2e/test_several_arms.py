"""Designs of several arms, from the command's overrides to the bundle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import planted
import pytest

from ragablate.config import composing
from ragablate.errors import DesignError
from ragablate.records import AnalysisResult, Conclusion
from ragablate.session import Outcome, run

Run = Callable[..., Outcome]


@pytest.fixture
def execute(tmp_path: Path) -> Run:
    """Plants groups of questions and runs experiments on them."""

    def call(groups: dict[str, int], *more: str, unanswerable: int = 0) -> Outcome:
        folder = planted.write(tmp_path / "data", groups, unanswerable)
        with composing():
            return run(planted.overrides(folder, *more))

    return call


def only(outcome: Outcome) -> tuple[AnalysisResult, Conclusion]:
    (result,), (conclusion,) = outcome.comparison.analyses, outcome.comparison.conclusions
    return result, conclusion


def values(terms: tuple[object, ...]) -> dict[str, float]:
    return {t.name: round(t.value, 12) for t in terms}  # type: ignore[attr-defined]


# Gold gained; kept but drowned by a decoy; kept; never found. The counts of EX-10, fourfold.
EX10 = {"0010": 20, "1011": 12, "1010": 28, "0000": 20}
MEDIATION = ("experiment=mediation", "experiment.mediation.treatments=[new]")
CROSSED = "experiment.retriever_x_reader.variables"


def test_ex10_comes_out_of_a_run_with_two_rankings(execute: Run) -> None:
    outcome = execute(EX10, *MEDIATION, unanswerable=4)
    result, conclusion = only(outcome)
    assert result.cells == {"B": 0.50, "R": 0.60, "c01": 0.75, "c10": 0.35}
    assert values(result.terms) == {"evidence path": 0.25, "other path": -0.15}
    assert result.total == pytest.approx(0.10)
    assert conclusion.verdict == "evidence helped, distractors ate most of it"
    assert conclusion.label in ("causal", "causal with limits")
    split = next(terms for name, terms in result.beside.items() if "became" in name)
    assert values(split) == {"gained": 0.25, "lost": 0.0, "kept": -0.15, "absent": 0.0}
    proofs = outcome.bundle.proofs["mediation"]
    assert not [p for p in proofs if p.status == "fail"]
    assert {t.n for t in result.terms} == {80}
    assert {t.n for t in result.strata["unanswerable"]} == {4}


def test_edited_contexts_hold_the_others_gold_and_their_own_distractors(execute: Run) -> None:
    bundle = execute(EX10, *MEDIATION).bundle
    shown = {
        role: {t.qid: set(t.prompt_pids) for t in bundle.traces[arm]}
        for role, arm in bundle.analyses[0].arms.items()
    }
    for qid in bundle.questions:
        gold = {f"g{int(qid[1:])}"}
        assert shown["c01"][qid] & gold == shown["R"][qid] & gold
        assert shown["c10"][qid] & gold == shown["B"][qid] & gold
        assert shown["c01"][qid] - gold == shown["B"][qid] - gold
        assert shown["c10"][qid] - gold == shown["R"][qid] - gold


def test_a_planted_interaction_comes_out_of_a_run(execute: Run) -> None:
    outcome = execute(
        EX10,
        "experiment=retriever_x_reader",
        f"{CROSSED}.retriever=new",
        f"{CROSSED}.reader=robust",
    )
    result, conclusion = only(outcome)
    assert result.cells == {"00": 0.50, "01": 0.50, "10": 0.60, "11": 0.75}
    assert [t.value for t in result.terms] == pytest.approx([0.10, 0.0, 0.15])
    assert conclusion.verdict == "effects depend on each other"
    assert "is worth 0.00" in conclusion.sentences[-1]
    report = (outcome.folder / "report.md").read_text(encoding="utf-8")
    assert "what adds up" in report
    assert "each change after all others" in report


def test_a_planted_change_of_pipeline_is_shared_out(execute: Run) -> None:
    to = "['retriever=new','reader=robust']"
    outcome = execute(EX10, "experiment=attribute_change", f"experiment.attribute_change.to={to}")
    result, conclusion = only(outcome)
    assert values(result.terms) == {"retriever": 0.175, "reader": 0.075}
    assert result.total == pytest.approx(0.25)
    # Twenty questions speak for the retriever and twelve for the reader: too close to name one.
    assert conclusion.verdict == "better; which stage did most is not decided"
    assert result.candidates == ("retriever", "reader")
    ordered = execute(
        EX10,
        "experiment=attribute_change",
        f"experiment.attribute_change.to={to}",
        "+experiment.attribute_change.order=[reader,retriever]",
    )
    result, conclusion = only(ordered)
    assert values(result.terms) == {"reader": 0.0, "retriever": 0.25}
    assert result.order == "sequential, order = [reader, retriever]"


def test_a_treatment_that_changes_nothing_refuses_the_design(execute: Run) -> None:
    alike = {"1010": 12, "0000": 12}
    assert only(execute(alike, *MEDIATION))[1].label != "refused"
    # Of each ranking one passage is shown: the same gold.
    outcome = execute({"1010": 24}, *MEDIATION, "assembler.max_passages=1")
    assert outcome.comparison.analyses == ()
    assert outcome.comparison.conclusions[0].label == "refused"


@pytest.mark.slow
def test_shipped_data_go_through_all_three_designs(tmp_path: Path) -> None:
    with composing():
        outcome = run(
            [
                "experiment=[retriever_x_reader,mediation,attribute_change,placebo,closed_book]",
                f"outputs={tmp_path}",
            ]
        )
    results = {r.id: r for r in outcome.comparison.analyses}
    labels = {c.contrast: c.label for c in outcome.comparison.conclusions}
    assert set(results) == {"retriever_x_reader", "mediation", "attribute_change"}
    for name, result in results.items():
        assert labels[name] in ("causal", "causal with limits")
        assert sum(t.value for t in result.terms) == pytest.approx(result.total, abs=1e-12)
        assert not [p for p in outcome.bundle.proofs[name] if p.status == "fail"]
    # Three designs over the same retrievers and readers cannot disagree.
    crossed, split, shared = results.values()
    assert crossed.total == shared.total
    assert crossed.cells["10"] - crossed.cells["00"] == pytest.approx(split.total)
    signals = {
        (s.arm, s.measure): s.mean
        for s in outcome.comparison.signals
        if s.population == "answerable"
    }
    arms = next(a for a in outcome.bundle.analyses if a.id == "mediation").arms
    evidence = "evidence_in_context"
    assert signals[arms["c01"], evidence] == signals[arms["R"], evidence]
    assert signals[arms["c10"], evidence] == signals[arms["B"], evidence]
    assert split.cells["B"] == signals[arms["B"], "correct"]


ATTRIBUTED = "experiment.attribute_change"


def test_two_bundles_are_attributed_to_the_stages_in_which_they_differ(execute: Run) -> None:
    groups = {"1011": 12, "0010": 9, "1010": 20, "0111": 7, "0000": 5}
    before = execute(groups, "experiment=placebo", "name=before")
    after = execute(groups, "experiment=placebo", "name=after", "retriever=new", "reader=robust")
    direct = execute(
        groups, "experiment=attribute_change", f"{ATTRIBUTED}.to=['retriever=new','reader=robust']"
    )
    outcome = execute(
        groups,
        "experiment=attribute_change",
        f"{ATTRIBUTED}.from={{bundle: '{before.folder}'}}",
        f"{ATTRIBUTED}.to=[{{bundle: '{after.folder}'}}]",
    )

    found, said = only(outcome)
    expected, _ = only(direct)
    assert list(values(found.terms)) == ["retriever", "reader"]
    assert (values(found.terms), found.total) == (values(expected.terms), expected.total)
    scored = [o.bundle.study().scores["control"]["correct"] for o in (before, outcome)]
    assert scored[0] == scored[1]
    assert said.label in ("causal", "causal with limits")


def test_an_attribution_may_begin_at_a_bundle_other_than_control(execute: Run) -> None:
    groups = {"1011": 12, "0010": 9, "1010": 20}
    before = execute(groups, "experiment=placebo", "name=before")
    outcome = execute(
        groups,
        "reader=robust",
        "experiment=attribute_change",
        f"{ATTRIBUTED}.from={{bundle: '{before.folder}'}}",
        f"{ATTRIBUTED}.to=['retriever=new']",
    )

    found, _ = only(outcome)
    assert list(values(found.terms)) == ["retriever", "reader"]
    assert found.cells["00"] == pytest.approx(32 / 41)
    assert found.cells["11"] == 1.0


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("from={bundle: nowhere}", "no bundle can be read at nowhere"),
        ("from='retriever=new'", "from names the pipeline of a bundle"),
        ("to=[{bundle: nowhere}]", "no bundle can be read at nowhere"),
    ],
)
def test_a_bundle_that_is_none_is_refused_by_name(execute: Run, asked: str, sentence: str) -> None:
    with pytest.raises(DesignError, match=sentence):
        execute({"1011": 3}, "experiment=attribute_change", f"{ATTRIBUTED}.{asked}")


def test_bundles_of_other_settings_than_the_plan_are_refused(execute: Run) -> None:
    groups = {"1011": 12, "0010": 9}
    before = execute(groups, "experiment=placebo", "name=before", "limit=15")
    with pytest.raises(DesignError, match=r"differs from bundle .* in limit"):
        execute(
            groups,
            "experiment=attribute_change",
            f"{ATTRIBUTED}.from={{bundle: '{before.folder}'}}",
            f"{ATTRIBUTED}.to=['retriever=new']",
        )


def test_evidence_lost_both_ways_is_shared_by_averaging_both_orders(tmp_path: Path) -> None:
    overrides = planted.write_halves(tmp_path / "data", 30)
    with composing():
        outcome = run([*overrides, "experiment=localize", "experiment.localize.both_orders=true"])
    result, conclusion = only(outcome)

    ladder = values(result.terms)
    assert (ladder["assembly"], ladder["retrieval"]) == (0.0, 1.0)
    (shared,) = (terms for name, terms in result.beside.items() if "both orders" in name)
    assert values(shared) == {"assembly": 0.5, "retrieval": 0.5}
    assert {term.state for term in shared} == {"up"}
    assert any(s.startswith("Averaged over both orders") for s in conclusion.sentences)
    assert not [p for p in outcome.bundle.proofs["localize"] if p.status == "fail"]


def test_without_asking_there_is_no_arm_for_the_other_order(tmp_path: Path) -> None:
    overrides = planted.write_halves(tmp_path / "data", 20)
    with composing():
        result, _ = only(run([*overrides, "experiment=localize"]))
    assert result.beside == {}

from __future__ import annotations

import pytest

from ragablate.compare import compare
from ragablate.compare.labels import STRENGTH, licence, weakest
from ragablate.records import Proof

PASS = Proof("INV-1", "pass", "", "same questions")


def failed(consequence, text="broken", invariant="INV-5"):
    return Proof(invariant, "fail", consequence, text)


@pytest.mark.parametrize(
    ("proofs", "label"),
    [
        ((PASS,), "causal"),
        ((PASS, failed("warn")), "causal with limits"),
        ((PASS, Proof("INV-9", "warn", "warn", "some changed")), "causal with limits"),
        ((PASS, Proof("INV-14", "not_checked", "", "no corpus")), "causal with limits"),
        ((PASS, failed("descriptive"), failed("warn")), "descriptive"),
        ((failed("confounded"), failed("descriptive")), "confounded"),
        ((failed("confounded"), failed("refuse"), PASS), "refused"),
        ((failed(""),), "confounded"),
        ((), "descriptive"),
    ],
)
def test_the_weakest_finding_sets_the_label(proofs, label):
    assert licence(proofs).label == label


def test_findings_beside_the_proofs_weaken_too():
    assert licence((PASS,), [("confounded", "moved")]).label == "confounded"


def test_only_a_causal_label_licenses_an_attribution():
    causal = {label for label in STRENGTH if licence((PASS,), [(label, "x")]).causal}

    assert causal == {"causal", "causal with limits"}
    assert weakest([]) == "causal"


def test_the_reasons_are_those_of_the_label_and_the_limits_are_all():
    found = licence((failed("confounded", "frame moved."), failed("warn", "old run"), PASS))

    assert found.reasons == ("frame moved",)
    assert found.limits == ("frame moved", "old run")


@pytest.fixture
def swapped(sheet, declare):
    def study(*proofs):
        contrast = declare("upstream")
        made = sheet().add({("control", "correct"): 0, ("upstream", "correct"): 1}, times=80)
        return made.study(contrast, proofs={contrast.id: proofs})

    return study


def test_questions_chosen_by_the_controls_failures_confound_as_in_ex_27(swapped):
    proof = failed(
        "confounded",
        "80 questions were selected because the control failed on them. Decode the control again.",
        "INV-22",
    )
    conclusion = compare(swapped(proof)).conclusions[0]

    assert (conclusion.verdict, conclusion.label) == ("no attribution", "confounded")
    assert conclusion.owner == ""
    assert conclusion.sentences[0] == (
        "On 80 answerable questions, correct differs by +1.00 between minilm_run and control "
        "(bm25) (95 % CI +0.91 to +1.00; exact p = 1.7e-24; 80 questions changed: 80 better, 0 "
        "worse). This cannot be put down to the retriever. 80 questions were selected because "
        "the control failed on them. Decode the control again."
    )


def test_a_descriptive_difference_is_an_association(swapped):
    conclusion = compare(swapped(failed("descriptive", "read from logs"))).conclusions[0]

    assert (conclusion.verdict, conclusion.label) == ("association only", "descriptive")
    assert "not the effect of the retriever. Read from logs." in conclusion.sentences[0]
    assert "changed correct by" not in " ".join(conclusion.sentences)


def test_a_refused_contrast_shows_no_number_anywhere(swapped):
    comparison = compare(swapped(failed("refuse", "Reader differs: temperature 0.0 vs 0.2")))

    assert comparison.conclusions[0].sentences == (
        "No effect of replacing retriever bm25 by minilm_run is reported. "
        "Reader differs: temperature 0.0 vs 0.2.",
    )
    (effect,) = comparison.effects
    numbers = (effect.effect, effect.p, effect.p_adjusted, effect.ci95, effect.control_mean)
    assert (effect.state, set(numbers)) == ("refused", {None})

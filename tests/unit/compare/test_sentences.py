from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ragablate.compare import compare

CONTROL, TREATMENT = ("control", "correct"), ("upstream", "correct")


def swap(sheet, better, worse, n, also=()):
    made = sheet()
    row = dict.fromkeys(((arm, "correct") for arm in also), 1)
    made.add({CONTROL: 0, TREATMENT: 1, **row}, times=better)
    made.add({CONTROL: 1, TREATMENT: 0, **row}, times=worse)
    return made.add({CONTROL: 1, TREATMENT: 1, **row}, times=n - better - worse)


def said(study):
    return compare(study).conclusions[0].sentences


def test_a_causal_effect_in_one_sentence(sheet, declare):
    made = swap(sheet, 14, 3, 160, also=("oracle",))

    assert said(made.study(declare("upstream"), declare("oracle")))[0] == (
        "On 160 answerable questions, with reader extractive (7f3a) held fixed, replacing "
        "retriever bm25 by minilm_run changed correct by +0.07 (95 % CI +0.02 to +0.13; exact "
        "p = 0.013, Holm 0.013; 17 questions changed: 14 better, 3 worse)."
    )


def test_not_enough_evidence_says_what_is_possible_and_what_would_decide(sheet, declare):
    assert said(swap(sheet, 12, 5, 100).study(declare("upstream")))[:2] == (
        "On 100 answerable questions, with reader extractive (7f3a) held fixed, it is not "
        "decided whether replacing retriever bm25 by minilm_run changes correct: +0.07 (95 % CI "
        "-0.01 to +0.16; exact p = 0.143; 17 questions changed: 12 better, 5 worse).",
        "The data are compatible with anything from -0.01 to +0.16. To decide a difference of "
        "0.05 with about 17 % of questions changing takes about 570 questions; this set has 100.",
    )


def test_flat_is_only_ever_no_difference_larger_than_the_margin(sheet, declare):
    assert said(swap(sheet, 1, 1, 200).study(declare("upstream")))[0] == (
        "On 200 answerable questions, with reader extractive (7f3a) held fixed, replacing "
        "retriever bm25 by minilm_run made no difference larger than the margin of 0.05 to "
        "correct (0.000, 90 % CI -0.018 to +0.018; 2 questions changed: 1 better, 1 worse)."
    )


def test_a_detected_difference_inside_the_margin_is_negligible(sheet, declare):
    study = swap(sheet, 12, 1, 1000).study(declare("upstream"))

    assert (compare(study).effects[0].state, compare(study).effects[0].detail) == (
        "flat",
        "negligible",
    )
    assert said(study)[0].endswith("A difference is there (exact p = 0.003), but a smaller one.")


def test_too_few_changes_are_said_instead_of_a_p_value_alone(sheet, declare):
    sentences = said(swap(sheet, 5, 0, 40).study(declare("upstream")))

    assert sentences[1:3] == (
        "Only 5 questions changed; at least 6 must change before any difference can be detected.",
        "The test and the interval do not agree, so nothing is claimed.",
    )


def test_a_family_raises_the_number_of_changes_it_takes(sheet, declare):
    made = swap(sheet, 6, 0, 100, also=("oracle", "reader"))
    contrasts = [declare(kind) for kind in ("upstream", "oracle", "reader")]

    sentences = said(made.study(*contrasts))

    assert "at least 6 (7 as the first of 3 contrasts) must change" in sentences[1]
    assert "among 3 contrasts the test does not hold" in sentences[2]


def test_a_pilot_is_called_one(sheet, declare):
    assert "With fewer than 20 questions this is a pilot." in said(
        swap(sheet, 3, 1, 12).study(declare("upstream"))
    )


def test_clusters_and_replicates_are_named(sheet, declare):
    made = sheet()
    for document in range(20):
        made.add({CONTROL: (0, 0), TREATMENT: (1, 1)}, times=2, cluster=f"d{document}")

    assert said(made.study(declare("upstream")))[0].startswith(
        "On 40 answerable questions (in 20 clusters, each decoded 2 times), with reader"
    )


def test_a_drawn_p_value_is_not_called_exact(sheet, declare):
    made = sheet()
    for i in range(60):
        made.add({CONTROL: 0.3, TREATMENT: 0.4 + (i * i % 17) / 17.3 * 0.5})

    assert "Monte Carlo p = " in said(made.study(declare("upstream")))[0]


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("upstream", {}, "replacing retriever bm25 by minilm_run"),
        ("upstream", {"control_level": ""}, "setting retriever to minilm_run"),
        (
            "assembler",
            {"variable": "assembler.budget_tokens", "control_level": "512", "level": "256"},
            "changing assembler.budget_tokens from 512 to 256",
        ),
        ("oracle", {}, "showing the reader exactly the gold evidence in place of its own context"),
        ("closed_book", {}, "showing the reader no passages at all"),
        ("necessity", {}, "taking all gold out of the context"),
    ],
)
def test_the_change_is_named_in_words(sheet, declare, kind, fields, words):
    made = sheet().add({CONTROL: 0, (kind, "correct"): 1}, times=40)

    assert words in said(made.study(declare(kind, **fields)))[0]


def every_kind(sheet, declare, level="correct"):
    arms = ("control", "closed_book", "oracle", "upstream", "reader", "placebo", "assembler")
    made = sheet()
    for i in range(90):
        row = {}
        for j, arm in enumerate(arms):
            full = float((i * (j + 2)) % 7 > 2)
            row |= {
                (arm, "evidence_retrieved"): full,
                (arm, "evidence_in_context"): full,
                (arm, "correct"): float((i + j * 5) % 3 > 0),
                (arm, "abstained"): float((i + j) % 5 == 0),
            }
        made.add(row, answerable=i % 6 != 0)
    kinds = [k for k in arms if k != "control"]
    return made.study(*(declare(kind) for kind in kinds), top_k=7)


def test_whatever_was_retrieved_says_how_deep(sheet, declare):
    comparison = compare(every_kind(sheet, declare))

    texts = [t for c in comparison.conclusions for t in (*c.sentences, *c.limits)]
    retrieved = [t for t in texts if re.search(r"retrieved", t)]
    assert retrieved
    assert all("top 7" in text for text in retrieved)


def test_no_sentence_breaks_its_form(sheet, declare):
    comparison = compare(every_kind(sheet, declare))

    for conclusion in comparison.conclusions:
        for text in conclusion.sentences:
            assert text[0].isupper()
            assert text.endswith(".")
            assert not re.search(r"\bnan\b|None|\.\.|  | ,|-0\.00\b(?!\d)|±|−", text), text


def test_slices_are_exploratory_and_wait_for_the_gate(sheet, declare):
    made = sheet()
    made.add({CONTROL: 0, TREATMENT: 1}, times=25, slices={"type": "bridge"})
    made.add({CONTROL: 1, TREATMENT: 1}, times=15, slices={"type": "bridge"})
    made.add({CONTROL: 1, TREATMENT: 1}, times=40, slices={"type": "comparison"})
    study = made.study(declare("upstream"))

    text = said(study)[-1]
    assert text.startswith("Exploratory: the effect differs by type (Welch p = ")
    assert "bridge +0.62 (n = 40; 25 questions changed: 25 better, 0 worse; BH p = " in text
    even = {q: {"type": "bridge" if i % 2 else "comparison"} for i, q in enumerate(study.qids)}
    assert not any("Exploratory" in s for s in said(replace(study, slices=even)))


def test_changes_that_sit_in_few_clusters_are_said_to(sheet, declare):
    made = sheet()
    for document in range(3):
        made.add({CONTROL: 0, TREATMENT: 1}, times=5, cluster=f"d{document}")
    for document in range(3, 20):
        made.add({CONTROL: 1, TREATMENT: 1}, times=5, cluster=f"d{document}")
    conclusion = compare(made.study(declare("upstream"))).conclusions[0]

    assert "The changes add up in fewer than 6 clusters, too few to detect a difference." in (
        conclusion.sentences
    )
    assert "the changes lie in only 3 clusters" in conclusion.limits


def test_an_effect_between_zero_and_the_margin_asks_for_more_than_the_plan(sheet, declare):
    made = swap(sheet, 12, 0, 300)

    conclusion = compare(made.study(declare("upstream"))).conclusions[0]

    assert conclusion.sentences[0].startswith("On 300 answerable questions")
    borderline = compare(swap(sheet, 5, 0, 160).study(declare("upstream"))).conclusions[0]
    assert any("and this set has 160: the truth lies close to" in s for s in borderline.sentences)
    assert borderline.settle == "more than the 160 questions of this set, to decide correct"


def test_assumptions_stand_beside_causal_claims_only(sheet, declare):
    study = swap(sheet, 14, 3, 100).study(declare("upstream"))

    assert compare(study).notes[-1].startswith("Every causal claim assumes")
    assert not any("causal" in note for note in compare(replace(study, proofs={})).notes)

"""Planted faults through the runner: each is caught under its invariant, none ends as causal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import saboteurs
import scripted_world
from validation.worlds import BY_NAME, draw

from ragablate.bundle import Bundle
from ragablate.bundle.exhibits import across
from ragablate.compare.labels import licence
from ragablate.config import composing
from ragablate.errors import AdapterError, DesignError, EvidenceError
from ragablate.proofs import prove
from ragablate.records import Conclusion, Contrast, Proof
from ragablate.session import Outcome, run

N = 30
JUDGES = "judge=[correct,evidence,abstention]"
BETTER = "{better:['retriever=scripted','retriever.fault=better']}"
Execute = Callable[..., Outcome]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    draws = draw(BY_NAME["balanced"], N, np.random.default_rng(5))
    return scripted_world.write(tmp_path / "data", draws)


@pytest.fixture
def execute(data: Path) -> Execute:
    """Runs a plan on the scripted pipeline, a reader with a fault in place of the plain one."""
    scripted_world.Retriever.calls = saboteurs.Reader.calls = 0

    def call(*more: str, reader: str = "", folder: Path = data) -> Outcome:
        fault = [f"reader.fault={reader}"] if reader else []
        given = scripted_world.overrides(folder, JUDGES, "reader=sabotaged", *fault, *more)
        with composing():
            return run(given)

    return call


def proof(outcome: Outcome, contrast: str, invariant: str) -> Proof:
    found = [p for p in outcome.bundle.proofs[contrast] if p.invariant == invariant]
    assert len(found) == 1
    return found[0]


def concluded(outcome: Outcome, contrast: str) -> Conclusion:
    return next(c for c in outcome.comparison.conclusions if c.contrast == contrast)


def caught(
    outcome: Outcome, contrast: str, invariant: str, consequence: str, *words: str
) -> Conclusion:
    """The invariant is broken as said, stands in the bundle, and the claim is not causal."""
    broken = proof(outcome, contrast, invariant)
    assert broken.status == ("warn" if consequence == "warn" else "fail"), broken
    assert broken.consequence == consequence
    for word in words:
        assert word in broken.text
    stored = json.loads((outcome.folder / "effects.json").read_text(encoding="utf-8"))
    assert broken.text in {p["text"] for p in stored["proofs"][contrast]}
    conclusion = concluded(outcome, contrast)
    expected = {"refuse": "refused", "confounded": "confounded", "warn": "causal with limits"}
    assert conclusion.label == expected[consequence]
    assert any(broken.text.rstrip(".") in limit for limit in conclusion.limits)
    return conclusion


def swap(variable: str, *levels: str) -> tuple[str, str]:
    """A contrast of one variable, given on the command line."""
    kind = {"retriever": "retriever", "reader": "reader"}[variable.split(".")[0]]
    name = f"swap_{kind}"
    return (
        f"experiment=[closed_book,placebo,{name}]",
        f"experiment.{name}.treatments=[{','.join(levels)}]",
    )


# ── without a fault ─────────────────────────────────────────────────────────────────────


def test_without_a_fault_every_claim_is_causal(execute: Execute) -> None:
    outcome = execute(
        *swap("retriever", BETTER),
        "experiment=[closed_book,placebo,swap_retriever,oracle_context,necessity]",
    )
    assert {c.label for c in outcome.comparison.conclusions} == {"causal"}
    for proofs in outcome.bundle.proofs.values():
        assert [p for p in proofs if p.status != "pass"] == []


def test_every_claim_carries_every_invariant_that_applies_to_it(execute: Execute) -> None:
    outcome = execute(
        *swap("retriever", BETTER),
        "experiment=[closed_book,placebo,swap_retriever]",
    )
    numbers = [int(p.invariant[4:]) for p in outcome.bundle.proofs["swap_retriever/better"]]
    assert numbers == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 22]
    numbers = [int(p.invariant[4:]) for p in outcome.bundle.proofs["placebo/placebo"]]
    assert numbers == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 19, 20, 22]


def test_what_was_not_checked_is_said_and_weakens_the_claim(execute: Execute) -> None:
    outcome = execute("experiment=oracle_context")
    conclusion = concluded(outcome, "oracle_context/oracle")
    assert conclusion.label == "causal with limits"
    assert any("INV-9 not checked" in limit for limit in conclusion.limits)
    assert any("INV-13 not checked" in limit for limit in conclusion.limits)


# ── what reaches the reader beside the context ──────────────────────────────────────────


def test_a_timestamp_in_the_prompt_is_caught(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,placebo]", reader="clock")
    caught(outcome, "closed_book/closed_book", "INV-5", "confounded", "line 1: 'Now it is")
    caught(outcome, "placebo/placebo", "INV-5", "confounded")


def test_the_number_of_passages_in_the_prompt_is_caught(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,oracle_context,placebo]", reader="count")
    said = ("'Found 4 passages.'", "'Found 0 passages.'")
    caught(outcome, "closed_book/closed_book", "INV-5", "confounded", *said)
    caught(outcome, "oracle_context/oracle", "INV-5", "confounded", "'Found 1 passages.'")
    assert proof(outcome, "placebo/placebo", "INV-5").status == "pass"


def test_passages_that_the_reader_cuts_under_their_own_ids_are_caught(execute: Execute) -> None:
    level = "{short:['reader=sabotaged','reader.fault=short']}"
    outcome = execute(*swap("reader", level))
    assert proof(outcome, "swap_reader/short", "INV-2").status == "pass"
    caught(outcome, "swap_reader/short", "INV-19", "confounded", "every passage in full")


def test_gold_that_the_assembler_cuts_under_its_own_id_counts_as_absent(execute: Execute) -> None:
    outcome = execute("experiment=[localize,placebo]", "assembler=cutting")
    ladder = outcome.comparison.analyses[0]
    study = outcome.bundle.study()
    assert {v for (v,) in study.scores["control"]["evidence_in_context"].values()} == {0.0}
    terms = {t.name: t.value for t in ladder.terms}
    assert terms["reader-or-label"] == terms["distractor"] == 0.0
    assert terms["assembly"] > 0.0


# ── what changed beside the variable ────────────────────────────────────────────────────


def test_a_second_knob_hidden_in_a_reader_swap_is_named(execute: Execute) -> None:
    level = "{terse:['reader=sabotaged','reader.style=terse','reader.temperature=0.7']}"
    outcome = execute(*swap("reader", level))
    named = ("reader.style (plain -> terse)", "reader.temperature (0.0 -> 0.7)")
    caught(outcome, "swap_reader/terse", "INV-4", "warn", *named)


def test_a_second_knob_outside_the_variable_is_refused_before_anything_runs(
    execute: Execute, tmp_path: Path
) -> None:
    level = "{terse:['reader.style=terse','reader.temperature=0.7']}"
    with pytest.raises(DesignError, match=r"reader\.temperature, outside its variable"):
        execute(*swap("reader", level), "experiment.swap_reader.variable=reader.style")
    assert not (tmp_path / "outputs").exists()


def test_a_retriever_swap_that_changes_nothing_is_refused(execute: Execute) -> None:
    outcome = execute(*swap("retriever", "{idle:['retriever=scripted','retriever.fault=idle']}"))
    conclusion = caught(
        outcome, "swap_retriever/idle", "INV-12", "refuse", "30/30", "no treatment was applied"
    )
    effect = next(e for e in outcome.comparison.effects if e.contrast == "swap_retriever/idle")
    assert effect.effect is None
    assert conclusion.verdict == "refused"


def test_an_index_that_is_replaced_during_the_run_is_caught(execute: Execute) -> None:
    outcome = execute(*swap("retriever", BETTER), "retriever.index=moving")
    caught(outcome, "swap_retriever/better", "INV-6", "confounded", "the index changed", "20 of 20")


def test_a_corpus_that_is_edited_during_the_run_is_caught(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,placebo]", "retriever.index=writing")
    caught(outcome, "closed_book/closed_book", "INV-6", "confounded", "was changed during the run")


# ── questions, gold and corpus ──────────────────────────────────────────────────────────


def test_an_indexed_evaluation_file_is_caught(execute: Execute, data: Path) -> None:
    rows = (data / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    with (data / "corpus.jsonl").open("a", encoding="utf-8") as corpus:
        for number, row in enumerate(rows[:12]):
            corpus.write(json.dumps({"id": f"eval{number}", "title": "", "text": row}) + "\n")
    outcome = execute("experiment=[oracle_context,closed_book,placebo]")
    caught(outcome, "oracle_context/oracle", "INV-14", "confounded", "12 questions")


def test_questions_chosen_by_failure_are_caught_unless_control_is_decoded_anew(
    execute: Execute,
) -> None:
    plan = ("experiment=[closed_book,placebo]", "questions_selected_by_failure=true")
    first = execute(*plan)
    caught(first, "closed_book/closed_book", "INV-22", "confounded", "fresh_control=true")
    again = execute(*plan, "fresh_control=true")
    assert proof(again, "closed_book/closed_book", "INV-22").status == "pass"
    assert concluded(again, "closed_book/closed_book").label == "causal"
    before, after = (
        {t.decoding["seed"] for t in o.bundle.traces["control"]} for o in (first, again)
    )
    assert not before & after
    assert again.calls == 3 * N


# ── the reader, its cache and its clock ─────────────────────────────────────────────────


def test_a_response_cache_that_serves_replicates_is_caught(execute: Execute) -> None:
    plan = ("experiment=[closed_book,placebo]", "replicates=3", "reader.temperature=0.7")
    outcome = execute(*plan, reader="cache")
    caught(outcome, "closed_book/closed_book", "INV-10", "refuse", "a cache is serving", "30/30")
    honest = execute(*plan, "seed=1")
    assert proof(honest, "closed_book/closed_book", "INV-10").status == "pass"


def test_a_cache_that_knows_the_question_alone_is_caught(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,placebo]", reader="memo")
    caught(outcome, "closed_book/closed_book", "INV-10", "warn", "with and without passages")


def test_a_sampling_reader_is_told_from_a_deterministic_one(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,placebo]", "reader.temperature=0.7")
    caught(
        outcome,
        "closed_book/closed_book",
        "INV-9",
        "warn",
        "30 of 30 answers changed",
        "at least 3",
        "The reader samples: set its temperature to 0, or average over replicates=3",
    )


def test_a_drifting_model_is_caught_where_the_arms_were_not_interleaved(
    execute: Execute,
) -> None:
    execute("experiment=closed_book", "reader.remote=true", reader="drift")
    later = execute(
        "experiment=[closed_book,oracle_context,placebo]", "reader.remote=true", reader="drift"
    )
    caught(later, "oracle_context/oracle", "INV-15", "warn", "asked for again")
    assert proof(later, "closed_book/closed_book", "INV-15").status == "warn"


def test_a_drifting_model_does_no_harm_where_the_arms_were_interleaved(execute: Execute) -> None:
    outcome = execute(
        "experiment=[closed_book,oracle_context]", "reader.remote=true", reader="drift"
    )
    assert proof(outcome, "oracle_context/oracle", "INV-15").status == "pass"


def test_a_model_that_the_server_replaces_is_caught(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,placebo]", "reader.remote=true", reader="replaced")
    caught(outcome, "closed_book/closed_book", "INV-15", "confounded", "fake-1, fake-2")


def test_answers_that_a_provider_cuts_off_in_one_arm_are_caught(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,placebo]", reader="length")
    cut = caught(
        outcome, "closed_book/closed_book", "INV-19", "confounded", "30 in context=closed_book"
    )
    assert cut.verdict == "no attribution"


def test_prompts_that_a_provider_reads_only_in_part_are_caught(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,oracle_context,placebo]", reader="window")
    caught(outcome, "oracle_context/oracle", "INV-19", "warn", "one largest number")


def test_one_failed_answer_is_counted_and_weakens_the_claim(execute: Execute) -> None:
    outcome = execute("experiment=[closed_book,placebo]", reader="timeout")
    failed = [
        name for name in outcome.bundle.proofs if proof(outcome, name, "INV-7").status == "warn"
    ]
    assert failed
    for name in failed:
        caught(outcome, name, "INV-7", "warn", "1 error in")


# ── judges and scores ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", ["1.3", "nan", "-0.1"])
def test_a_score_that_is_none_stops_the_run(execute: Execute, tmp_path: Path, value: str) -> None:
    spoilt = ("judge=[spoilt,evidence]", f"judge.correct.value='{value}'")
    with pytest.raises(AdapterError, match=r"scores lie in \[0, 1\]"):
        execute("experiment=closed_book", *spoilt)
    assert list((tmp_path / "outputs" / "data").glob("*")) == []


def test_a_judge_cannot_be_the_variable(execute: Execute) -> None:
    with pytest.raises(DesignError, match="'judge' cannot be the variable"):
        execute(*swap("reader", "plain"), "experiment.swap_reader.variable=judge.correct")


# ── arms that were run in different executions ──────────────────────────────────────────


def elsewhere(before: Bundle, after: Bundle, **changes: str) -> tuple[dict[str, Proof], str]:
    contrast = Contrast(
        "elsewhere", "elsewhere", "?",
        **{"kind": "closed_book", "variable": "context", "level": "closed_book",
           "control": "control", "treatment": "context=closed_book", **changes},
        measure="correct", margin=0.05,
    )  # fmt: skip
    proofs = prove(across(contrast, before, after))
    return {p.invariant: p for p in proofs}, licence(proofs).label


def test_equal_executions_can_be_compared_with_what_was_not_checked_said(
    execute: Execute,
) -> None:
    bundle = execute("experiment=closed_book").bundle
    proofs, label = elsewhere(bundle, bundle)
    assert proofs["INV-4"].status == "pass"
    assert proofs["INV-9"].status == proofs["INV-17"].status == "not_checked"
    assert label == "causal with limits"


def test_a_reworded_question_between_executions_is_caught(execute: Execute, data: Path) -> None:
    before = execute("experiment=closed_book").bundle
    file = data / "questions.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("is item 7 kept", "do we keep item 7"), encoding="utf-8")
    after = execute("experiment=closed_book").bundle
    proofs, label = elsewhere(before, after)
    assert proofs["INV-1"].consequence == "refuse"
    assert "1 question differs" in proofs["INV-1"].text
    assert "(q007: text)" in proofs["INV-1"].text
    assert label == "refused"


def test_changed_gold_between_executions_is_caught(execute: Execute, data: Path) -> None:
    before = execute("experiment=closed_book").bundle
    file = data / "questions.jsonl"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('["g3"]', '["g4"]'), encoding="utf-8")
    proofs, label = elsewhere(before, execute("experiment=closed_book").bundle)
    assert "(q003: gold)" in proofs["INV-1"].text
    assert label == "refused"


def test_an_edited_judge_between_executions_is_caught(execute: Execute) -> None:
    before = execute("experiment=closed_book").bundle
    after = execute("experiment=closed_book", "judge.correct.exact=[perhaps]").bundle
    proofs, label = elsewhere(before, after)
    assert proofs["INV-8"].consequence == "confounded"
    assert "correct" in proofs["INV-8"].text
    assert label == "confounded"


def test_two_variables_changed_between_executions_are_not_attributed(execute: Execute) -> None:
    before = execute("experiment=closed_book").bundle
    after = execute("experiment=closed_book", "reader.style=terse", "retriever.fault=better").bundle
    proofs, label = elsewhere(
        before, after, kind="upstream", variable="retriever", level="better", treatment="control"
    )
    assert proofs["INV-4"].consequence == "confounded"
    assert "reader.style (plain -> terse)" in proofs["INV-4"].text
    assert "Missing arms: reader only, retriever only" in proofs["INV-4"].text
    assert proofs["INV-3"].consequence == "refuse"
    assert label == "refused"


def test_an_all_errors_arm_is_refused_and_leaves_no_bundle(
    execute: Execute, tmp_path: Path
) -> None:
    with pytest.raises(EvidenceError, match="has no answer to any"):
        execute("experiment=closed_book", reader="dead")
    assert list((tmp_path / "outputs" / "data").glob("*")) == []

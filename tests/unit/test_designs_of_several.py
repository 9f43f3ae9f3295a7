"""Factorials, mediations, attributions and ladders: which arms they make, and what they refuse."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ragablate.config import composing, conf_dir
from ragablate.design import CONTROL, Plan, plan
from ragablate.edges import changes_between, edges
from ragablate.errors import DesignError

DENSE = "retriever=minilm_run"
WIDE = "reader=extractive_wide"


def of(name: str, *overrides: str) -> Plan:
    with composing():
        return plan([f"experiment={name}", *overrides])


def problems(*overrides: str) -> tuple[str, ...]:
    with composing(), pytest.raises(DesignError) as caught:
        plan(list(overrides))
    return caught.value.problems


# ── factorial ───────────────────────────────────────────────────────────────────────────


def test_a_factorial_has_an_arm_for_every_combination_and_control_is_none_of_them() -> None:
    planned = of("retriever_x_reader")
    (analysis,) = planned.analyses
    assert planned.contrasts == ()
    assert analysis.arms == {"00": CONTROL, "01": WIDE, "10": DENSE, "11": f"{DENSE},{WIDE}"}
    assert [(f.variable, f.control_level, f.level) for f in analysis.factors] == [
        ("retriever", "bm25", "minilm_run"),
        ("reader", "extractive", "extractive_wide"),
    ]


def test_every_step_of_a_factorial_changes_its_own_variable_only() -> None:
    planned = of("retriever_x_reader")
    arms = {arm.name: arm for arm in planned.arms}
    steps = edges(planned.analyses[0])
    assert [step.roles for step in steps] == [
        ("00", "10"), ("00", "01"), ("01", "11"), ("10", "11"),
    ]  # fmt: skip
    assert [step.contrast.kind for step in steps] == ["upstream", "reader", "upstream", "reader"]
    for step in steps:
        moved = changes_between(arms[step.contrast.control], arms[step.contrast.treatment])
        assert moved
        assert {c.key.split(".")[0] for c in moved} == {step.contrast.variable}


def test_only_a_first_change_must_change_something() -> None:
    steps = edges(of("retriever_x_reader").analyses[0])
    assert {s.roles: s.may_change_nothing for s in steps} == {
        ("00", "10"): False, ("00", "01"): False, ("01", "11"): True, ("10", "11"): True,
    }  # fmt: skip


def test_leaves_and_stages_can_be_crossed_and_arms_are_shared_with_contrasts() -> None:
    more = "+experiment.retriever_x_reader.variables={assembler.budget_tokens: 900}"
    planned = of("[retriever_x_reader,swap_retriever]", more)
    (analysis,) = planned.analyses
    assert sorted(analysis.arms) == [f"{a}{b}{c}" for a in "01" for b in "01" for c in "01"]
    assert analysis.arms["001"] == "assembler.budget_tokens=900"
    assert planned.configs[analysis.arms["111"]]["assembler"]["budget_tokens"] == 900
    assert planned.contrasts[0].treatment == analysis.arms["100"] == DENSE
    assert len(edges(analysis)) == 12


CROSSED = "experiment.retriever_x_reader"
FIVE = "{assembler.budget_tokens: 900, assembler.max_passages: 3, reranker.top_k: 5}"


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        (f"~{CROSSED}.variables.reader", "a mapping of at least two"),
        (f"+{CROSSED}.variables={{judge: correct}}", "'judge' cannot be the variable"),
        (f"{CROSSED}.variables.reader=nonsense", "Could not find 'reader/nonsense'"),
        (f"{CROSSED}.variables.reader=extractive", "is equal to control"),
        (
            f"+{CROSSED}.variables={{reader.sentences: 3}}",
            "reader.sentences is part of reader, so they are not two variables",
        ),
        (f"+{CROSSED}.variables={FIVE}", "5 variables take 32 arms"),
    ],
)
def test_what_cannot_be_crossed_is_refused_in_one_sentence(override: str, sentence: str) -> None:
    assert sentence in problems("experiment=retriever_x_reader", override)[0]


@pytest.mark.slow
def test_five_variables_are_crossed_on_request() -> None:
    planned = of(
        "retriever_x_reader", f"+{CROSSED}.variables={FIVE}", f"+{CROSSED}.allow_five=true"
    )
    assert len(planned.analyses[0].arms) == len(planned.arms) == 32


def test_six_variables_are_refused_whatever_is_asked() -> None:
    six = FIVE.replace("{", "{retriever.depth: 50, ", 1).replace("retriever.depth", "gate")
    found = problems(
        "experiment=retriever_x_reader",
        f"+{CROSSED}.variables={six}",
        f"+{CROSSED}.allow_five=true",
    )
    assert "6 variables take 64 arms" in found[0]


# ── mediation ───────────────────────────────────────────────────────────────────────────


def test_a_mediation_edits_the_gold_of_either_context_after_the_other() -> None:
    planned = of("mediation")
    (analysis,) = planned.analyses
    arms, configs = analysis.arms, planned.configs
    assert (arms["B"], arms["R"]) == (CONTROL, DENSE)
    assert configs[arms["c01"]]["context"]["arm"] == DENSE
    assert configs[arms["c10"]]["context"]["arm"] == CONTROL
    assert configs[arms["c01"]]["retriever"] == configs[CONTROL]["retriever"]
    assert configs[arms["c10"]]["retriever"] == configs[DENSE]["retriever"]
    assert [s.roles for s in edges(analysis)] == [("B", "R"), ("B", "c01"), ("R", "c10")]
    assert [s.may_change_nothing for s in edges(analysis)] == [False, True, True]


def test_every_level_of_a_mediation_is_an_analysis_of_its_own() -> None:
    planned = of("mediation", "experiment.mediation.treatments=[minilm_run,bm25_lucene]")
    assert [a.id for a in planned.analyses] == ["mediation/minilm_run", "mediation/bm25_lucene"]
    assert len({arm for a in planned.analyses for arm in a.arms.values()}) == 7


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["variable=reader", "treatments=[extractive_wide]"], "no evidence path to split off"),
        (["variable=gate", "treatments=[none]"], "no evidence path to split off"),
        (["variable=chunker", "treatments=[none]"], "another chunker cuts other passages"),
        (["treatments=[bm25]"], "is equal to control"),
    ],
)
def test_what_has_no_two_paths_is_refused(overrides: list[str], sentence: str) -> None:
    asked = [f"experiment.mediation.{o}" for o in overrides]
    assert sentence in problems("experiment=mediation", *asked)[0]


def test_a_gate_that_edited_contexts_would_override_is_refused_with_advice(tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    shutil.copytree(conf_dir(), conf)
    (conf / "gate" / "other.yaml").write_text("_target_: somebody.else.Gate\n")
    with composing(conf), pytest.raises(DesignError, match="add gate=none"):
        plan(["experiment=mediation", "gate=other"])


def test_a_context_after_an_arm_that_is_not_there_is_refused() -> None:
    level = "{there:['context=gold_as_in','context.arm=nowhere']}"
    found = problems(
        "experiment=oracle_context", f"experiment.oracle_context.treatments=[{level}]"
    )  # fmt: skip
    assert "context.arm is 'nowhere', which is no arm of this plan" in found[0]


def test_a_context_after_one_that_is_itself_edited_is_refused() -> None:
    levels = (
        "[{one:['context=gold_as_in','context.arm=control']},"
        "{two:['context=gold_as_in','context.arm=\"context=one\"']}]"
    )
    found = problems(
        "experiment=oracle_context", f"experiment.oracle_context.treatments={levels}"
    )  # fmt: skip
    assert "is itself edited after another" in found[0]


# ── attribution ─────────────────────────────────────────────────────────────────────────


def test_an_attribution_finds_the_stages_that_differ_in_pipeline_order() -> None:
    to = "['reader=extractive_wide','assembler.budget_tokens=900','retriever=minilm_run']"
    planned = of("attribute_change", f"experiment.attribute_change.to={to}")
    (analysis,) = planned.analyses
    assert [f.variable for f in analysis.factors] == ["retriever", "assembler", "reader"]
    assert {f.level for f in analysis.factors} == {"target"}
    assert len(analysis.arms) == 8
    whole = planned.configs[analysis.arms["111"]]
    assert whole["assembler"]["budget_tokens"] == 900
    assert "RunFile" in whole["retriever"]["_target_"]
    half = planned.configs[analysis.arms["100"]]
    assert half["assembler"] == planned.control["assembler"]
    assert all(step.may_change_nothing for step in edges(analysis))


def test_an_order_needs_only_the_arms_along_it() -> None:
    planned = of("attribute_change", "+experiment.attribute_change.order=[reader,retriever]")
    (analysis,) = planned.analyses
    assert analysis.order == ("reader", "retriever")
    assert sorted(analysis.arms) == ["00", "01", "11"]
    assert [s.roles for s in edges(analysis)] == [("00", "01"), ("01", "11")]


@pytest.fixture
def two_configs(tmp_path: Path) -> Path:
    """The catalogue with a second pipeline of its own."""
    conf = tmp_path / "conf"
    shutil.copytree(conf_dir(), conf)
    text = (conf / "config.yaml").read_text(encoding="utf-8")
    other = text.replace("- retriever: bm25", "- retriever: minilm_run")
    other = other.replace("- reader: extractive", "- reader: extractive_wide")
    (conf / "other.yaml").write_text(other, encoding="utf-8")
    (conf / "another_seed.yaml").write_text(other.replace("seed: 0", "seed: 7"), encoding="utf-8")
    return conf


def test_the_other_pipeline_can_be_a_config_of_its_own(two_configs: Path) -> None:
    to = "experiment.attribute_change.to"
    with composing(two_configs):
        planned = plan(["experiment=attribute_change", f"{to}=[{{config: other}}]", "limit=50"])
    (analysis,) = planned.analyses
    assert [f.variable for f in analysis.factors] == ["retriever", "reader"]
    assert planned.configs[analysis.arms["11"]]["reader"]["sentences"] == 4
    assert {config["limit"] for config in planned.configs.values()} == {50}


def test_what_the_command_line_says_of_a_stage_is_said_of_control_alone(two_configs: Path) -> None:
    to = "experiment.attribute_change.to"
    with composing(two_configs):
        planned = plan(
            ["experiment=attribute_change", f"{to}=[{{config: other}}]", "retriever=bm25_lucene",
             "assembler.budget_tokens=900"]
        )  # fmt: skip
        more = plan(
            ["experiment=attribute_change",
             f"{to}=[{{config: other, overrides: ['reader=extractive']}}]"]
        )  # fmt: skip
    assert [f.variable for f in planned.analyses[0].factors] == [
        "retriever", "assembler", "reader",
    ]  # fmt: skip
    assert planned.analyses[0].factors[0].control_level == "bm25_lucene"
    assert [f.variable for f in more.analyses[0].factors] == ["retriever"]


def test_two_configs_that_differ_outside_the_stages_are_refused(two_configs: Path) -> None:
    to = "experiment.attribute_change.to=[{config: another_seed}]"
    with composing(two_configs), pytest.raises(DesignError, match=r"differ in .*seed"):
        plan(["experiment=attribute_change", to])


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["to=[]"], "needs to, the other pipeline"),
        (["to=[{config: 3}]"], "needs to, the other pipeline"),
        (["to=[{config: nowhere}]"], "nowhere"),
        (["to=[{config: config, also: 1}]"], "needs to, the other pipeline"),
        (["to=['retriever=bm25']"], "the two pipelines are equal"),
        (["to=['seed=3','retriever=minilm_run']"], "also differ in"),
        (["to=['retriever=nonsense']"], "Could not find 'retriever/nonsense'"),
        (["to=['context=oracle']"], "both pipelines must have context=actual"),
        (["order=[reader]"], "order must name each stage that differs once: retriever, reader"),
    ],
)
def test_what_cannot_be_attributed_is_refused_in_one_sentence(
    overrides: list[str], sentence: str
) -> None:
    asked = [f"++experiment.attribute_change.{o}" for o in overrides]
    found = problems("experiment=attribute_change", *asked)
    assert any(sentence in problem for problem in found), found
    assert all("\n" not in problem for problem in found)


# ── ladder ──────────────────────────────────────────────────────────────────────────────


def test_each_rung_of_a_ladder_is_one_edit_of_controls_context() -> None:
    planned = of("localize")
    (analysis,) = planned.analyses
    assert [s.roles for s in edges(analysis)] == [
        ("B", "A"), ("A", "D"), ("D", "S"), ("S", "O"), ("B", "N"),
    ]  # fmt: skip
    assert {s.contrast.variable for s in edges(analysis)} == {"context"}
    arms = {arm.name: arm for arm in planned.arms}
    for step in edges(analysis):
        moved = changes_between(arms[step.contrast.control], arms[step.contrast.treatment])
        assert moved
        assert all(c.key.startswith("context.") for c in moved)

from __future__ import annotations

import pytest

from ragablate.design import CONTROL, plan
from ragablate.errors import DesignError

pytestmark = pytest.mark.usefixtures("hydra")


def problems(*overrides: str) -> tuple[str, ...]:
    with pytest.raises(DesignError) as caught:
        plan(list(overrides))
    return caught.value.problems


def test_every_arm_differs_from_control_inside_its_variable_only() -> None:
    planned = plan([])
    assert planned.arms[0].name == CONTROL
    for arm in planned.arms:
        assert all(
            c.key == arm.variable or c.key.startswith(f"{arm.variable}.") for c in arm.changes
        )
        assert bool(arm.changes) == bool(arm.variable)


def test_two_experiments_that_want_the_same_arm_share_it() -> None:
    planned = plan(
        ["experiment=[oracle_context,necessity]", "experiment.necessity.treatments=[oracle]"]
    )
    assert [a.name for a in planned.arms] == [CONTROL, "context=oracle"]
    assert [c.id for c in planned.contrasts] == ["oracle_context/oracle", "necessity/oracle"]


def test_adding_an_experiment_changes_no_other_arm() -> None:
    alone = plan(["experiment=swap_retriever"])
    together = plan(["experiment=[oracle_context,swap_retriever]"])
    assert alone.configs["retriever=minilm_run"] == together.configs["retriever=minilm_run"] | {
        "experiment": alone.configs["retriever=minilm_run"]["experiment"]
    }


def test_a_single_name_and_a_list_compose_alike() -> None:
    one, many = plan(["experiment=oracle_context"]), plan(["experiment=[oracle_context]"])
    assert one.contrasts == many.contrasts


def test_control_is_what_the_command_line_composes() -> None:
    planned = plan(["retriever=minilm_run", "experiment=[oracle_context]"])
    assert planned.contrasts[0].control_level == "actual"
    assert all("RunFile" in c["retriever"]["_target_"] for c in planned.configs.values())


def test_a_leaf_can_be_the_variable_with_levels_of_any_type() -> None:
    planned = plan(
        ["experiment=swap_assembler", "experiment.swap_assembler.treatments=[null,1500,900]"]
    )
    budgets = [planned.configs[a.name]["assembler"]["budget_tokens"] for a in planned.arms]
    assert budgets == [600, None, 1500, 900]


def test_a_named_level_may_set_several_leaves_of_its_variable() -> None:
    planned = plan(
        [
            "experiment=swap_retriever",
            "experiment.swap_retriever.treatments="
            "[{deep:['retriever=bm25_lucene','retriever.depth=7']}]",
        ]
    )
    arm = planned.configs["retriever=deep"]
    assert (arm["retriever"]["variant"], arm["retriever"]["depth"]) == ("lucene", 7)


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["experiment.swap_reader.variable=[reader,retriever]"], "names 2 variables"),
        (["experiment.swap_reader.variable=dataset"], "'dataset' cannot be the variable"),
        (["experiment.swap_reader.variable=judge"], "'judge' cannot be the variable"),
        (["experiment.swap_reader.variable=seed"], "not a stage of the pipeline"),
        (["experiment.swap_reader.variable=reader.nonsense"], "control has no 'reader.nonsense'"),
        (["experiment.swap_reader.treatments=[nonsense]"], "Could not find 'reader/nonsense'"),
        (["experiment.swap_reader.treatments=[true]"], "reads on, off, yes and no as booleans"),
        (["experiment.swap_reader.treatments=[]"], "has no treatments"),
        (["experiment.swap_reader.treatments=[extractive]"], "is equal to control: no treatment"),
        (["experiment.swap_reader.design=guess"], "unknown design 'guess'"),
        (["experiment.swap_reader.margin=2"], "margin must be a number between 0 and 1"),
        (["+experiment.swap_reader.extra=1"], "unknown key 'extra'"),
        (["experiment=[]"], "no experiment is chosen"),
        (["context=oracle"], "its control must have context=actual"),
        (
            ["experiment.swap_reader.treatments=[{two:['reader=replay','retriever=none']}]"],
            "sets retriever, outside its variable",
        ),
        (["experiment=swap_assembler", "assembler.budget_tokens=3"], "which this level would over"),
        (["reader.nope=1"], "Could not override 'reader.nope'"),
        (["reader=nope"], "Could not find 'reader/nope'"),
        (["judge=[correct,nope]"], "Could not find 'judge/nope' Available options in 'judge': abs"),
        (["dataset=jsonl"], "dataset.path has no value"),
    ],
)
def test_what_is_not_one_change_is_refused_in_one_sentence(
    overrides: list[str], sentence: str
) -> None:
    found = problems(*overrides)
    assert any(sentence in problem for problem in found), found
    assert all("\n" not in problem for problem in found)


def test_an_interpolation_that_moves_a_second_leaf_is_found_in_the_resolved_configs() -> None:
    found = problems("experiment=swap_assembler", "reader.sentences=${assembler.budget_tokens}")
    assert "also changes reader.sentences (600 -> 1500)" in found[0]


def test_all_problems_of_a_plan_come_at_once() -> None:
    found = problems(
        "experiment.swap_reader.treatments=[nonsense]",
        "experiment.swap_retriever.variable=judge",
        "experiment.placebo.margin=0",
    )
    assert len(found) == 3


def test_a_runtime_knob_is_no_change() -> None:
    found = problems(
        "experiment=swap_retriever",
        "+retriever.runtime={threads:1}",
        "experiment.swap_retriever.treatments=[{same:['retriever.runtime.threads=2']}]",
    )
    assert "is equal to control" in found[0]


def test_on_other_data_nothing_is_swapped_in_that_was_made_for_the_shipped_ones() -> None:
    for name in ("swap_retriever", "retriever_x_reader", "mediation", "attribute_change"):
        planned = plan([f"experiment={name}", "dataset=jsonl", "dataset.path=anywhere"])
        shipped = [c for c in planned.configs.values() if "RunFile" in c["retriever"]["_target_"]]
        assert shipped == []


@pytest.mark.parametrize("control", ["dense", "minilm_run", "bm25_lucene", "hybrid"])
def test_another_control_is_swapped_for_plain_bm25(control: str) -> None:
    planned = plan([f"retriever={control}", "experiment=swap_retriever"])
    assert [a.name for a in planned.arms] == ["control", "retriever=bm25"]

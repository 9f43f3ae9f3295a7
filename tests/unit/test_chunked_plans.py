"""What a plan with chunkers and rewriters refuses, and what its levels may set."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragablate import session
from ragablate.errors import DesignError

pytestmark = pytest.mark.usefixtures("hydra")


def problems(*overrides: str) -> list[str]:
    with pytest.raises(DesignError) as raised:
        session.check(overrides)
    return raised.value.problems


@pytest.mark.parametrize(
    "overrides", [["chunker=fixed"], ["experiment=swap_chunker"]], ids=["control", "an arm"]
)
def test_a_chunker_over_passages_is_refused_rather_than_silent(overrides: list[str]) -> None:
    (problem,) = problems(*overrides)
    assert "cuts documents with Fixed, but quickstart holds passages" in problem
    assert "dataset.unit=documents" in problem


def test_documents_are_cut_and_each_arm_has_one_change(toy: Path) -> None:
    checked = session.check(
        ["dataset=jsonl", f"dataset.path={toy}", "dataset.unit=documents", "chunker=fixed",
         "experiment=swap_chunker",
         "experiment.swap_chunker.treatments=[none,{long: ['chunker.overlap=3']}]"]
    )  # fmt: skip
    arms = {arm.name: {c.key for c in arm.changes} for arm in checked.plan.arms}
    assert arms["chunker=long"] == {"chunker.overlap"}
    assert {key.split(".")[0] for key in arms["chunker=none"]} == {"chunker"}


@pytest.mark.parametrize("coverage", ["0", "1.2", "true", "half"])
def test_a_coverage_without_meaning_is_refused(coverage: str) -> None:
    assert any("gold_coverage must be a number" in p for p in problems(f"gold_coverage={coverage}"))


def test_a_level_that_only_turns_knobs_keeps_the_choice_of_the_line() -> None:
    checked = session.check(
        ["rewriter=last_turn_concat", "experiment=swap_rewriter",
         "experiment.swap_rewriter.treatments=[{two: ['rewriter.turns=2']}]"]
    )  # fmt: skip
    arms = {arm.name: [c.key for c in arm.changes] for arm in checked.plan.arms}
    assert arms["rewriter=two"] == ["rewriter.turns"]

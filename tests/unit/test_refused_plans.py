"""Requests that no arm could answer for, refused before a model or an index is loaded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ragablate import session
from ragablate.errors import DesignError

pytestmark = pytest.mark.usefixtures("hydra")


def problems(*overrides: str) -> tuple[str, ...]:
    with pytest.raises(DesignError) as caught:
        session.check(["experiment=swap_assembler", *overrides])
    return caught.value.problems


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("reader=null", "reader=null: Config group"),
        ("experiment=null", "Config group override must be"),
        ("~reader", "reader is not in the config"),
        ("~seed", "seed is not in the config"),
        ("retriever.k1=nan", "retriever.k1 is nan: give a finite number"),
        ("alpha=1e400", "alpha is inf"),
        ("alpha=0.5", "alpha must be a number between 0 and 0.5"),
        ("retriever.depth=1.5", "retriever.depth is 1.5: expected int"),
        ("retriever.analyzer.tokenizer=[1]", "retriever.analyzer.tokenizer is [1]: expected str"),
        ("experiment.swap_assembler.treatments=[300,300]", "swap_assembler/300 is declared twice"),
        ("experiment.swap_assembler.treatments=[1e2]", "assembler.budget_tokens is 100.0"),
    ],
)
def test_a_request_without_meaning_is_one_sentence(override: str, sentence: str) -> None:
    found = problems(override)
    assert any(sentence in problem for problem in found), found
    assert all("\n" not in problem for problem in found)


@pytest.mark.parametrize("name", ["../up", "/abs", "a/b", "..", ".store", r"a\b", "two\nlines"])
def test_bundles_never_lie_elsewhere_than_in_a_folder_of_their_own(name: str) -> None:
    quoted = name.replace("\\", "\\\\")
    assert "cannot be a folder under outputs" in problems(f'name="{quoted}"')[0]


@pytest.mark.parametrize("name", ["x y", "näme", "2026.1", "a#b"])
def test_any_other_name_is_a_folder(name: str) -> None:
    assert session.check(["experiment=swap_assembler", f'name="{name}"']).name == name


def test_a_data_set_that_lies_in_the_current_folder_is_called_like_the_folder(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy)
    assert session.check(["dataset=jsonl", "dataset.path=."]).name == "toy"


def test_a_hidden_data_folder_needs_a_name_for_the_study(toy: Path) -> None:
    hidden = toy.parent / ".toy"
    shutil.move(toy, hidden)
    own = ["dataset=jsonl", f"dataset.path={hidden}"]
    assert "'.toy'" in problems(*own)[0]
    assert session.check([*own, "name=toy"]).name == "toy"

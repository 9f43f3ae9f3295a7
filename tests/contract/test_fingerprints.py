"""Every knob moves the fingerprint of its adapter, and nothing else does."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import needs
import pytest
from hydra.utils import instantiate
from test_adapters import node_of

from ragablate.adapters import fingerprint
from ragablate.config import flatten

pytestmark = pytest.mark.usefixtures("hydra")


@pytest.fixture(autouse=True)
def _functions_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def mutated(node: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of a config node with one leaf replaced."""
    changed = copy.deepcopy(node)
    place: Any = changed
    *parents, last = path.split(".")
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return changed


def another(value: Any) -> Any:
    """A value of the same kind that differs."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return [*value, "x"]
    if isinstance(value, dict):
        return {**value, "x": 1}
    return 1


def print_of(node: dict[str, Any]) -> str:
    return fingerprint(node, instantiate(node, _convert_="all"))


CASES = [pair for pair in needs.every() if pair[0] != "dataset"]


@pytest.mark.parametrize(("group", "option"), CASES)
def test_every_leaf_moves_the_fingerprint_unless_it_is_a_runtime_knob(
    group: str, option: str, tmp_path: Path
) -> None:
    node = node_of(group, option, tmp_path)
    before = print_of(node)
    assert before == print_of(copy.deepcopy(node))
    still, moved = [], []
    for leaf, value in flatten(node).items():
        if leaf.endswith("_target_"):
            continue
        moves = print_of(mutated(node, leaf, another(value))) != before
        if "runtime" in leaf.split("."):
            moved += [leaf] if moves else []
        else:
            still += [] if moves else [leaf]
    assert still == [], "these knobs change results but not the fingerprint"
    assert moved == [], "these runtime knobs change the fingerprint"


def test_the_class_is_part_of_the_fingerprint(tmp_path: Path) -> None:
    prints = {
        print_of(node_of(group, option, tmp_path))
        for group, option in needs.every()
        if group == "context"
    }
    assert len(prints) == len(needs.options("context"))


def test_a_path_counts_by_the_content_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = print_of(node_of("retriever", "run_file", tmp_path / "a"))
    assert first == print_of(node_of("retriever", "run_file", tmp_path / "b"))
    other = node_of("retriever", "run_file", tmp_path / "b")
    with open(other["path"], "a", encoding="utf-8") as run:
        run.write("q1 Q0 p9 9 0.01 toy\n")
    assert first != print_of(other)


def test_a_nested_adapter_counts_with_its_own_source(tmp_path: Path) -> None:
    node = node_of("retriever", "hybrid", tmp_path)
    sparse = [k for k in flatten(node) if k.endswith("k1")]
    assert print_of(mutated(node, sparse[0], 9.0)) != print_of(node)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pytest

from ragablate.adapters import Workshop
from ragablate.knobs import knob_problems
from ragablate.protocols import Retriever


class Part:
    def __init__(self, depth: int = 1) -> None:
        self.depth = depth


class Whole:
    def __init__(
        self,
        depth: int | None = 1,
        share: float = 0.5,
        names: Sequence[str] = (),
        rule: Literal["all", "any"] = "all",
        parts: Mapping[str, Part] | None = None,
        anything: object = None,
    ) -> None: ...


def wrong(**knobs: object) -> list[str]:
    return knob_problems("reader", {"_target_": f"{__name__}.Whole", **knobs})


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        ("depth", "abc"),
        ("depth", 100.0),
        ("depth", True),
        ("share", "0.5"),
        ("names", "abc"),
        ("names", [1]),
        ("names", None),
    ],
)
def test_a_value_of_another_type_than_declared_is_named_by_key_and_value(
    knob: str, value: object
) -> None:
    (problem,) = wrong(**{knob: value})
    assert problem.startswith(f"reader.{knob} is {value!r}: expected")


@pytest.mark.parametrize(
    ("knob", "value"),
    [("depth", 3), ("depth", None), ("share", 1), ("names", ["a"]), ("anything", {"a": [1]})],
)
def test_a_value_of_the_declared_type_passes(knob: str, value: object) -> None:
    assert wrong(**{knob: value}) == []


def test_a_choice_among_words_is_left_to_the_adapter_which_names_them() -> None:
    assert wrong(rule="some") == []


def test_parts_that_are_built_themselves_are_looked_at_with_their_own_key() -> None:
    (problem,) = wrong(parts={"x": {"_target_": f"{__name__}.Part", "depth": "deep"}})
    assert problem.startswith("reader.parts.x.depth is 'deep'")


def test_the_workshop_builds_nothing_of_another_type_and_says_all_that_is_wrong() -> None:
    workshop = Workshop()
    node = {"_target_": "ragablate.retrieve.bm25.BM25", "k1": "high", "depth": 1.5}
    assert workshop.adapter("retriever", node, Retriever) is None
    assert [p.split(" is ")[0] for p in workshop.problems] == ["retriever.k1", "retriever.depth"]


@pytest.mark.parametrize("target", [None, 3, "nowhere.Nothing", "nodots", f"{__name__}.Nothing"])
def test_what_cannot_be_found_is_left_to_whoever_builds_it(
    target: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert knob_problems("reader", {"_target_": target, "depth": "x"}) == []
    assert capsys.readouterr().err == ""

"""Plans in words, and the command that repeats one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragablate.bundle.read import Bundle
from ragablate.compare.inference import states
from ragablate.records import Change, Comparison
from ragablate.report import plans


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("dataset.path=/home/me/my data/set", "dataset.path=…/set"),
        ("dataset.path='/home/me/set'", "dataset.path='…/set'"),
        ("/data/", "…/data"),
        ("files=[/a/b/c,/d/e]", "files=[…/c,…/e]"),
        ("files={x:/a/b,y:/c}", "files={x:…/b,y:…/c}"),
        (r"path=C:\Users\me\set", "path=…/set"),
        ("dataset.path=data/set", "dataset.path=data/set"),
        ("reader.base_url=http://localhost:8080/v1", "reader.base_url=http://localhost:8080/v1"),
        ("reader.model=org/model", "reader.model=org/model"),
        ("retriever.path=pkg://ragablate.data/x.run", "retriever.path=pkg://ragablate.data/x.run"),
        (r"pattern=\d+\w", r"pattern=\d+\w"),
    ],
)
def test_absolute_paths_are_cut_to_their_last_part_and_nothing_else_is(
    given: str, shown: str
) -> None:
    assert plans.portable(given) == shown


def test_the_command_leaves_out_what_cannot_change_a_result() -> None:
    arguments = [
        "ragablate", "run", "experiment=[a,b]", "outputs=/tmp/x", "quiet=true", "json=true",
        "name=n", "hydra.run.dir=y", "++reader.runtime.workers=3", "+reader.depth=4",
    ]  # fmt: skip
    assert plans.command(arguments) == "ragablate run 'experiment=[a,b]' +reader.depth=4"


def test_a_pipeline_leaves_out_stages_that_do_nothing() -> None:
    choices = {
        "chunker": "none", "rewriter": "hyde", "retriever": "bm25", "reranker": "none",
        "gate": "none", "assembler": "ranked", "context": "actual", "reader": "extractive",
    }  # fmt: skip
    assert plans.pipeline(choices, 10) == (
        "question → hyde → bm25 → none (top 10) → ranked → actual → extractive"
    )


def test_options_are_known_from_what_is_varied_else_from_the_adapter(
    study: tuple[Bundle, Comparison],
) -> None:
    bundle, _ = study
    swap = replace(bundle.contrasts[0], control_level="bm25_lucene")
    choices = plans.choices_of(bundle.plan["config"], [swap])
    assert choices["retriever"] == "bm25_lucene"
    assert choices["reader"] == "extractive"
    assert choices["gate"] == "–"


def test_the_rule_names_its_numbers() -> None:
    assert plans.rule(0.05, [0.05, 0.05], 4) == (
        "up or down when the exact p (Holm over 4 contrasts) is at most 0.05, the 95 % interval "
        "excludes 0 and at least 6 questions changed; flat when the 90 % interval lies within "
        "±0.05; else unclear"
    )
    assert "Holm" not in plans.rule(0.01, [0.05, 0.1], 1)
    assert "p (Holm over the terms of a design) is" in plans.rule(0.05, [0.05], 1, 1)
    assert "p (Holm over 4 contrasts or the terms of a design) is" in plans.rule(0.05, [0.05], 4, 2)
    assert "98 % interval lies within ± the experiment's margin" in plans.rule(0.01, [0.05, 0.1], 1)


def test_the_rule_asks_for_as_many_changed_questions_as_the_comparator() -> None:
    assert plans.FEWEST_CHANGED == states.FEWEST_CHANGED


@pytest.mark.parametrize(
    ("leaf", "shown"),
    [
        (None, "–"),
        ("", '""'),
        (True, "true"),
        (0.75, "0.75"),
        (["title", None], "[title, –]"),
        ({"a": [1]}, "{a: [1]}"),
        ("ragablate.retrieve.bm25.BM25", "retrieve.bm25.BM25"),
        ("/home/me/x.run", "…/x.run"),
    ],
)
def test_values_of_a_config_are_short(leaf: object, shown: str) -> None:
    assert plans.change(Change("k", leaf, None)) == ("k", shown, "–")

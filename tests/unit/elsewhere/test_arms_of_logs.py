"""Arms that were run elsewhere: what their logs prove, and what they do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragablate.cli import main
from ragablate.elsewhere import Arms, Choice, compare_arms
from ragablate.errors import EvidenceError
from ragablate.logs import read_log

Row = dict[str, Any]
READER = {"model": "m-1", "decoding": {"temperature": 0}, "prompt_version": "v7"}


def answered(number: int, right: bool, **more: Any) -> Row:
    """One row of a help desk's log, with a person's verdict."""
    gold = {"pid": f"doc{number}#1", "text": f"The fee of plan {number} is {number} euros."}
    other = {"pid": f"doc{number}#2", "text": f"Plan {number} was renamed last year."}
    return {
        "qid": f"q{number}", "question": f"What is the fee of plan {number}?",
        "answer": f"{number} euros" if right else "It was renamed.",
        "retrieved": [gold, other], "prompt_pids": [gold["pid"], other["pid"]],
        "gold_pids": [gold["pid"]], "verdicts": {"correct": float(right)}, **READER, **more,
    }  # fmt: skip


def other_context(number: int) -> Row:
    text = f"Plan {number} was renamed last year."
    return {
        "retrieved": [{"pid": f"doc{number}#2", "text": text}],
        "prompt_pids": [f"doc{number}#2"],
    }


@pytest.fixture
def compared(tmp_path: Path) -> Callable[..., Arms]:
    def call(choice: Choice | None = None, **arms: list[Row]) -> Arms:
        return compare_arms({r: read_log(p) for r, p in write(tmp_path, **arms).items()},
                            choice or Choice(selected_by_failure=False))  # fmt: skip

    return call


def write(folder: Path, **arms: list[Row]) -> dict[str, str]:
    paths = {}
    for role, rows in arms.items():
        path = folder / f"{role}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        paths[role] = str(path)
    return paths


def status(found: Arms, invariant: str, role: str = "treatment") -> tuple[str, str]:
    proofs = found.study.proofs[f"compare/{role}"]
    return next((p.status, p.consequence) for p in proofs if p.invariant == invariant)


def label(found: Arms) -> str:
    return found.comparison.conclusions[0].label


def test_a_reader_swapped_on_the_same_contexts_is_causal_with_limits(
    compared: Callable[..., Arms],
) -> None:
    found = compared(
        control=[answered(n, n % 2 == 0) for n in range(40)],
        treatment=[answered(n, True, model="m-2") for n in range(40)],
    )
    assert found.study.contrasts[0].kind == "reader"
    assert status(found, "INV-2") == ("pass", "")
    assert label(found) == "causal with limits"
    assert found.comparison.effects[0].effect == 0.5


def test_two_changes_are_confounded_and_the_missing_arms_named(
    compared: Callable[..., Arms],
) -> None:
    found = compared(
        control=[answered(n, n % 2 == 0) for n in range(40)],
        treatment=[answered(n, True, model="m-2", **other_context(n)) for n in range(40)],
    )
    conclusion = found.comparison.conclusions[0]
    assert (conclusion.label, conclusion.verdict) == ("confounded", "no attribution")
    assert "Missing arms: the new contexts with control's reader" in " ".join(conclusion.limits)


def test_contexts_that_no_log_holds_leave_an_association(compared: Callable[..., Arms]) -> None:
    def bare(n: int, right: bool, model: str) -> Row:
        row = answered(n, right, model=model)
        del row["retrieved"], row["prompt_pids"]
        return row

    found = compared(
        control=[bare(n, n % 2 == 0, "m-1") for n in range(40)],
        treatment=[bare(n, True, "m-2") for n in range(40)],
    )
    assert status(found, "INV-2") == ("fail", "descriptive")
    assert label(found) == "descriptive"


def test_a_reader_that_no_log_names_leaves_an_association(compared: Callable[..., Arms]) -> None:
    found = compared(
        control=[answered(n, n % 2 == 0, decoding=None) for n in range(40)],
        treatment=[answered(n, True, **other_context(n)) for n in range(40)],
    )
    assert status(found, "INV-3") == ("fail", "descriptive")
    assert label(found) == "descriptive"


def test_an_oracle_without_the_gold_is_refused(compared: Callable[..., Arms]) -> None:
    found = compared(
        control=[answered(n, n % 2 == 0) for n in range(40)],
        oracle=[answered(n, True, **other_context(n)) for n in range(40)],
    )
    assert status(found, "INV-12", "oracle") == ("fail", "refuse")
    assert label(found) == "refused"


def test_an_oracle_that_shows_the_gold_says_where_the_bottleneck_is(
    compared: Callable[..., Arms],
) -> None:
    found = compared(
        control=[answered(n, n % 4 == 0, **other_context(n)) for n in range(60)],
        oracle=[answered(n, True, prompt_pids=[f"doc{n}#1"]) for n in range(60)],
    )
    assert status(found, "INV-12", "oracle")[0] == "pass"
    conclusion = found.comparison.conclusions[0]
    assert conclusion.label == "causal with limits"
    assert conclusion.verdict == "upstream is the bottleneck"


def test_questions_chosen_by_failure_confound(compared: Callable[..., Arms]) -> None:
    found = compared(
        Choice(selected_by_failure=True),
        control=[answered(n, n % 2 == 0) for n in range(40)],
        treatment=[answered(n, True, model="m-2") for n in range(40)],
    )
    assert status(found, "INV-22") == ("fail", "confounded")
    assert label(found) == "confounded"


def test_verdicts_of_people_against_the_rule_confound(compared: Callable[..., Arms]) -> None:
    ruled = [answered(n, True, model="m-2", references=[f"{n} euros"]) for n in range(40)]
    for row in ruled:
        del row["verdicts"]
    found = compared(control=[answered(n, n % 2 == 0) for n in range(40)], treatment=ruled)
    assert status(found, "INV-8") == ("fail", "confounded")


def test_other_questions_and_unequal_decodes_are_refused(compared: Callable[..., Arms]) -> None:
    control = [answered(n, n % 2 == 0) for n in range(10)]
    with pytest.raises(EvidenceError, match="need the same questions"):
        compared(control=control, treatment=[answered(n, True, model="b") for n in range(9)])
    twice = [answered(n, True, replicate=k, model="b") for n in range(10) for k in (1, 2)]
    with pytest.raises(EvidenceError, match="needs the same number"):
        compared(control=control, treatment=twice)
    changed = [answered(n, True, model="b", question="Other?") for n in range(10)]
    found = compared(control=control, treatment=changed)
    assert status(found, "INV-1") == ("fail", "refuse")


def test_failures_that_only_moved_are_called_renamed(compared: Callable[..., Arms]) -> None:
    """EX-9: 40 right, 12 lost in retrieval, 3 in assembly, 5 at the reader; 10 move."""

    def row(n: int, bucket: str) -> Row:
        gold = {"pid": f"doc{n}#1", "text": "gold"}
        other = {"pid": f"doc{n}#2", "text": "other"}
        ranked = [other] if bucket == "retrieval" else [gold, other]
        shown = [other["pid"]] if bucket in ("retrieval", "assembly") else [gold["pid"]]
        return answered(n, bucket == "ok", retrieved=ranked, prompt_pids=shown)

    before = ["ok"] * 40 + ["retrieval"] * 12 + ["assembly"] * 3 + ["reader"] * 5
    after = ["ok"] * 40 + ["assembly"] * 10 + ["retrieval"] * 2 + ["assembly"] * 3 + ["reader"] * 5
    found = compared(
        Choice(margin=0.10, selected_by_failure=False),
        control=[row(n, b) for n, b in enumerate(before)],
        treatment=[row(n, b) for n, b in enumerate(after)],
    )
    moves = found.moves["treatment"]
    assert moves.verdict == "renamed the problem"
    assert (moves.fixed, moves.broken, moves.moved) == (0, 0, 10)
    assert moves.counts["retrieval", "assembly"] == 10


def test_a_log_without_shown_ids_accuses_neither_assembly_nor_retrieval(
    compared: Callable[..., Arms],
) -> None:
    rows = []
    for n in range(20):
        row = answered(n, n > 4)
        row["gold_pids"] = ["elsewhere"]
        del row["prompt_pids"]
        rows.append(row)
    found = compared(control=rows, treatment=[{**row, "model": "m-2"} for row in rows])
    assert set(found.moves["treatment"].counts) == {
        ("ok", "ok"), ("retrieval or assembly", "retrieval or assembly")
    }  # fmt: skip


def test_the_command_prints_verdicts_and_refuses_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write(
        tmp_path,
        control=[answered(n, n % 2 == 0) for n in range(40)],
        treatment=[answered(n, True, model="m-2") for n in range(40)],
    )
    arms = [f"--arm={role}={path}" for role, path in paths.items()]
    assert main(["compare", *arms, "--selected-by-failure", "no"]) == 0
    out = capsys.readouterr().out
    assert "40/40 contexts byte-identical" in out
    assert "causal with limits" in out
    assert main(["compare", *arms, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["moves"]["treatment"]["fixed"] == 20
    assert main(["compare", arms[0]]) == 2
    assert "Name one arm control" in capsys.readouterr().err
    assert main(["compare", arms[0], "--arm", "x=absent.jsonl"]) == 2

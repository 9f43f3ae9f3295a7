"""Gates through the runner, and floors found by ``ragablate calibrate``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ragablate import session
from ragablate.cli import main
from ragablate.config import composing
from ragablate.errors import DesignError, RagablateError
from ragablate.session import Outcome


def run(tmp_path: Path, *overrides: str) -> Outcome:
    with composing():
        return session.run([f"outputs={tmp_path / 'outputs'}", *overrides])


def test_a_floor_trades_right_answers_for_inventions_and_leaves_its_numbers(
    tmp_path: Path,
) -> None:
    level = "+experiment.swap_gate.treatments.floor=['gate=floor','gate.floor=20']"
    outcome = run(tmp_path, "experiment=swap_gate", level)
    bundle = outcome.bundle
    study = bundle.study()

    def right(arm: str, answerable: bool) -> float:
        own = [v[0] or 0.0 for q, v in study.scores[arm]["correct"].items()
               if study.answerable[q] is answerable]  # fmt: skip
        return sum(own) / len(own)

    assert right("gate=floor", False) > right("control", False)
    assert right("gate=floor", True) < right("control", True)
    refused = [t for t in bundle.traces["gate=floor"] if t.gate and t.gate.outcome == "refuse"]
    assert refused
    assert all(t.gate.signals["top"] < 20 == t.gate.signals["top_floor"] for t in refused if t.gate)
    assert all(t.gate.reason and t.abstained for t in refused if t.gate)
    (conclusion,) = (c for c in outcome.comparison.conclusions if c.contrast.endswith("/floor"))
    assert conclusion.verdict == "fewer right answers, fewer fabrications"
    assert conclusion.label in ("causal", "causal with limits")


def test_the_ladder_begins_with_what_the_gate_loses(tmp_path: Path) -> None:
    outcome = run(tmp_path, "gate=floor", "gate.floor=20", "experiment=localize")
    (result,) = outcome.comparison.analyses
    terms = {term.name: term.value for term in result.terms}
    assert result.order == "ladder B>B'>A>D>S>O"
    assert terms["gate"] > 0
    assert sum(terms.values()) == pytest.approx(result.total, abs=1e-12)


def calibrated(tmp_path: Path, *overrides: str) -> tuple[int, Path]:
    out = tmp_path / "found"
    asked = ["calibrate", f"outputs={tmp_path / 'outputs'}", f"calibration.out={out}", *overrides]
    return main(asked), out


def test_a_calibrated_floor_is_a_gate_for_the_stages_it_was_found_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = calibrated(tmp_path)
    said = capsys.readouterr().out
    assert code == 0
    assert "taken" in said
    found = yaml.safe_load((out / "gate" / "calibrated_floor.yaml").read_text(encoding="utf-8"))
    stages = {"chunker", "rewriter", "retriever", "reranker"}
    assert set(found["calibrated_for"]) == {*stages, "corpus"}
    assert found["floor"] > 0

    search = f"hydra.searchpath=[file://{out}]"
    outcome = run(tmp_path, search, "gate=calibrated_floor", "experiment=oracle_context")
    assert outcome.comparison.conclusions
    gate = (search, "gate=calibrated_floor")
    with pytest.raises(DesignError, match="calibrated for another retriever"):
        run(tmp_path, *gate, "retriever.k1=1.2", "experiment=oracle_context")
    with pytest.raises(DesignError, match="calibrated for another retriever"):
        run(tmp_path, *gate, "experiment=[swap_retriever,swap_gate]")


def test_a_calibrated_gate_is_off_in_all_arms_where_its_retriever_is_the_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out = calibrated(tmp_path)
    line = [f"hydra.searchpath=[file://{out}]", "gate=calibrated_floor", "limit=40",
            "gate.floor=30", "experiment=[swap_retriever,oracle_context]"]  # fmt: skip
    outcome = run(tmp_path, *line)
    swap, oracle = outcome.bundle.contrasts
    assert (swap.variable, oracle.id) == ("retriever", "oracle_context/oracle")
    for arm in (swap.control, swap.treatment):
        assert {t.gate.outcome for t in outcome.bundle.traces[arm]} == {"go"}
    (note,) = (n for n in outcome.comparison.notes if "gate" in n)
    assert note.startswith(
        "The gate was calibrated for control's retriever, which this plan varies"
    )
    for report in ("report.md", "report.html"):
        assert "off in all arms" in (outcome.folder / report).read_text(encoding="utf-8")
    assert outcome.bundle.plan["command"] == ["ragablate", "run", f"outputs={tmp_path / 'outputs'}",
                                              *line]  # fmt: skip
    assert main(["check", *line]) == 0
    assert "it is off in all arms" in " ".join(capsys.readouterr().out.split())
    assert main(["verify", str(outcome.folder)]) == 0


def test_segments_and_a_held_out_half_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = calibrated(
        tmp_path, "calibration.gate=gap", "calibration.held_out=true", "calibration.segment=hops"
    )
    said = " ".join(capsys.readouterr().out.split())
    assert code == 0
    rate = r"refusals \d+/\d+ \(\d\.\d\d to \d\.\d\d\)"
    held = re.findall(rf"half it was not tuned on: correct {rate}, wrong {rate}\.", said)
    assert len(held) == 2, "of all questions, and of the one segment that has a floor"
    assert "±11 points" in said
    assert (out / "gate" / "calibrated_gap.yaml").is_file()


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("calibration.gate=none", "calibration.gate is 'none'"),
        ("calibration.gate=relevance", "NoReranker keeps the retriever's"),
        ("calibration.segment=type", "tells answerable questions from unanswerable ones"),
        ("calibration.segment=colour", "a slice no question has; they have answerable, hops, type"),
        ("rewriter._target_=scripted.SearchesTwice", "searched 200 question(s) several times"),
        ("calibration.max_wrong_refusal=0", "Taken is the floor"),
    ],
)
def test_what_cannot_be_calibrated_is_said(
    tmp_path: Path, override: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = calibrated(tmp_path, override)
    said = capsys.readouterr()
    assert part in said.out + said.err
    assert code == (0 if "max_wrong" in override else 2)


def test_a_gate_that_refuses_nothing_withholds_no_effect_of_the_oracle(tmp_path: Path) -> None:
    outcome = run(tmp_path, "gate=floor", "gate.floor=0", "experiment=oracle_context")
    (oracle,) = (
        e for e in outcome.comparison.effects
        if e.contrast == "oracle_context/oracle" and e.role == "primary"
    )  # fmt: skip
    assert oracle.state == "up"
    (said,) = (c for c in outcome.comparison.conclusions if c.contrast == oracle.contrast)
    assert said.label in ("causal", "causal with limits")


def test_a_segment_has_its_own_floor_in_a_run_and_no_other_slice_is_seen(tmp_path: Path) -> None:
    floors = ["gate=floor", "gate.floor=0", "gate.segment=hops", "+gate.floors.2=1000"]
    outcome = run(tmp_path, *floors, "experiment=oracle_context", "limit=40")
    questions = outcome.bundle.questions
    refused = {t.qid for t in outcome.bundle.traces["control"] if t.gate.outcome == "refuse"}
    assert refused == {qid for qid, q in questions.items() if q.slices["hops"] == "2"}
    assert 0 < len(refused) < 40


@pytest.mark.parametrize(
    ("overrides", "part"),
    [
        (("gate=relevance",), "NoReranker keeps the retriever's"),
        (("gate=combined", "gate.weights={relevance:1.0}"), "NoReranker keeps the retriever's"),
        (("gate=floor", "gate.segment=type"), "tells answerable questions from unanswerable"),
        (("gate=floor", "rewriter=standalone", "rewriter.keep_question=true"), "fuses by rank"),
        (("gate=gap", "rewriter._target_=scripted.SearchesTwice"), "a score fused by rank says"),
    ],
)
def test_a_gate_on_numbers_without_a_meaning_is_refused(
    tmp_path: Path, overrides: tuple[str, ...], part: str
) -> None:
    floor = [] if "gate=combined" in overrides else ["gate.floor=5"]
    with pytest.raises(RagablateError, match=re.escape(part)):
        run(tmp_path, *overrides, *floor, "experiment=oracle_context")


def test_a_floor_is_refused_for_another_corpus(tmp_path: Path) -> None:
    _, out = calibrated(tmp_path)
    file = out / "gate" / "calibrated_floor.yaml"
    stamped = yaml.safe_load(file.read_text(encoding="utf-8"))
    stamped["calibrated_for"]["corpus"] = "0" * 64
    file.write_text(yaml.safe_dump(stamped), encoding="utf-8")
    search = f"hydra.searchpath=[file://{out}]"
    with pytest.raises(DesignError, match="calibrated for another corpus"):
        run(tmp_path, search, "gate=calibrated_floor", "experiment=oracle_context")


def test_both_rates_of_a_reader_that_says_yes_or_no_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["limit=40", "gate=relevance_read", "reader@gate.reader=function",
            "gate.reader.function=scripted:relevant"]  # fmt: skip
    code, out = calibrated(tmp_path, "calibration.gate=relevance_read", *line)
    said = " ".join(capsys.readouterr().out.split())
    assert code == 0
    rate = r"(\d+)/(\d+) \(\d\.\d\d to \d\.\d\d\)"
    found = re.search(rf"all: correct refusals {rate}, wrong refusals {rate}\.", said)
    assert found is not None
    outcome = run(tmp_path, *line, "experiment=closed_book")
    traces = outcome.bundle.traces["control"]
    answerable = outcome.bundle.study().answerable
    kept = [t for t in traces if t.gate is None or t.gate.outcome != "go"]
    unclear = [t for t in traces if t.gate is None]
    right = [t for t in kept if not answerable[t.qid] and t.gate is not None]
    wrong = [t for t in kept if answerable[t.qid]]
    assert unclear
    assert f"{len(unclear)} unclear: the gate failed" in said
    assert [int(n) for n in found.groups()] == [len(right), 8, len(wrong), 32]
    assert not (out / "gate").exists()

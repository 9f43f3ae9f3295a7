"""Gates through the runner, and floors found by ``ragablate calibrate``."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ragablate import session
from ragablate.cli import main
from ragablate.config import composing
from ragablate.errors import DesignError
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
    scores = bundle.study().scores

    def right(arm: str, answerable: bool) -> float:
        own = [v[0] or 0.0 for q, v in scores[arm]["correct"].items()
               if bundle.study().answerable[q] is answerable]  # fmt: skip
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
    assert set(found["calibrated_for"]) == {"chunker", "rewriter", "retriever", "reranker"}
    assert found["floor"] > 0

    search = f"hydra.searchpath=[file://{out}]"
    outcome = run(tmp_path, search, "gate=calibrated_floor", "experiment=oracle_context")
    assert outcome.comparison.conclusions
    for swap in ("experiment=swap_retriever", "retriever.k1=1.2"):
        also = [] if swap.startswith("experiment") else ["experiment=oracle_context"]
        with pytest.raises(DesignError, match="calibrated for another retriever"):
            run(tmp_path, search, "gate=calibrated_floor", swap, *also)


def test_segments_and_a_held_out_half_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = calibrated(
        tmp_path, "calibration.gate=gap", "calibration.held_out=true", "calibration.segment=hops"
    )
    said = capsys.readouterr().out
    assert code == 0
    assert "On the half it was not tuned on: correct refusals" in said
    assert "±11 points" in said
    assert (out / "gate" / "calibrated_gap.yaml").is_file()


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("calibration.gate=none", "calibration.gate is 'none'"),
        ("calibration.max_wrong_refusal=0", "Taken is the floor"),
    ],
)
def test_what_cannot_be_calibrated_is_said(
    tmp_path: Path, override: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = calibrated(tmp_path, override)
    said = capsys.readouterr()
    assert part in said.out + said.err
    assert code == (2 if "none" in override else 0)


def test_a_gate_that_refuses_nothing_withholds_no_effect_of_the_oracle(tmp_path: Path) -> None:
    outcome = run(tmp_path, "gate=floor", "gate.floor=0", "experiment=oracle_context")
    (oracle,) = (
        e for e in outcome.comparison.effects
        if e.contrast == "oracle_context/oracle" and e.role == "primary"
    )  # fmt: skip
    assert oracle.state == "up"
    (said,) = (c for c in outcome.comparison.conclusions if c.contrast == oracle.contrast)
    assert said.label in ("causal", "causal with limits")

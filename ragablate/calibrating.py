"""``ragablate calibrate``: the floors of a gate, from the questions of a plan's control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ragablate import calibrate
from ragablate.calibrate import Scored, Sweep
from ragablate.checked import Checked
from ragablate.design import CONTROL
from ragablate.errors import AdapterError, DesignError
from ragablate.gate.fitting import fused_searches, misfits
from ragablate.gate.segments import segment_problem
from ragablate.gate.signals import SIGNALS
from ragablate.gate.stamps import STAMPED, searched_digest
from ragablate.pipeline import Upstream
from ragablate.protocols import GateRequest
from ragablate.report.calibration import plot, print_segments, print_sweep
from ragablate.report.page import Page
from ragablate.stages import Progress
from ragablate.store import Store

OF_GATE = {"floor": "top", "gap": "gap", "relevance": "relevance"}
"""The signal each gate with one floor decides on."""


def scores(checked: Checked, signal: str, segment: str, progress: Progress) -> tuple[Scored, ...]:
    """Search and rerank every question as control does, and read a signal of it.

    Raises:
        DesignError: The signal does not exist, or means nothing behind control's stages.
        AdapterError: A stage cannot be run.
    """
    if signal not in SIGNALS:
        raise DesignError([f"calibration.signal is '{signal}': give one of {', '.join(SIGNALS)}"])
    wrong = misfits([signal], checked.pipelines[CONTROL])
    if wrong:
        raise DesignError(wrong)
    store = Store(checked.outputs / ".store")
    upstream = Upstream(checked.dataset, store, progress)
    found = upstream.prepare(CONTROL, checked.pipelines[CONTROL])
    fused = fused_searches([signal], (len(one.searches) for one in found.values()))
    if fused:
        raise DesignError([fused])
    rows = []
    for question in checked.dataset.questions:
        one = found[question.qid]
        if one.failure is not None:
            raise AdapterError(f"question '{question.qid}': {one.failure.message}")
        request = GateRequest(question.qid, question, one.candidates, one.retrieved, one.signals)
        rows.append(
            Scored(
                question.qid,
                SIGNALS[signal](request),
                checked.dataset.gold[question.qid].answerable,
                question.slices.get(segment, "") if segment else "",
            )
        )
    return tuple(rows)


def stamp(checked: Checked) -> dict[str, str]:
    """What the floors hold for: the stages the scores came from, and what was searched."""
    fingerprints = checked.pipelines[CONTROL].fingerprints
    stages = {stage: fingerprints[stage] for stage in STAMPED}
    return {**stages, "corpus": searched_digest(checked.dataset)}


def gate_yaml(gate: str, found: Sweep, by_segment: dict[str, Sweep], segment: str,
              stamped: dict[str, str]) -> str:  # fmt: skip
    """The gate as a file for ``conf/gate``."""
    floors = {
        name: s.picked.floor for name, s in by_segment.items() if name and s.picked is not None
    }
    names = {"floor": "Floor", "gap": "Gap", "relevance": "Relevance"}
    content: dict[str, Any] = {
        "_target_": f"ragablate.gate.{gate}.{names[gate]}",
        "floor": None if found.picked is None else found.picked.floor,
        "segment": segment if floors else "",
        "floors": floors,
        "below": "refuse",
        "calibrated_for": stamped,
    }
    return str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


def run(checked: Checked, options: dict[str, Any], progress: Progress, page: Page) -> None:
    """Sweep, print, and write the gate's YAML and a plot of the sweep.

    Raises:
        DesignError: An option has no meaning, or no floor keeps under the cap.
    """
    gate = str(options["gate"])
    if gate not in OF_GATE:
        raise DesignError([f"calibration.gate is '{gate}': give one of {', '.join(OF_GATE)}"])
    segment = str(options["segment"] or "")
    wrong = segment_problem(segment, checked.dataset)
    if wrong:
        raise DesignError([f"calibration.{wrong}"])
    questions = scores(checked, OF_GATE[gate], segment, progress)
    cap = float(options["max_wrong_refusal"])
    tune: tuple[Scored, ...] = questions
    held: tuple[Scored, ...] = ()
    if options["held_out"]:
        tune, held = calibrate.halves(questions, int(checked.plan.control["seed"]))
    found = calibrate.sweep(tune, cap)
    split = calibrate.segments(tune) if segment else {}
    by_segment = {name: calibrate.sweep(own, cap) for name, own in split.items()}
    print_sweep(page, f"{checked.name}: floors of gate={gate}", found, cap, held)
    print_segments(page, by_segment, cap, calibrate.segments(held))
    if found.picked is None:
        raise DesignError(
            [f"no floor refuses at most {cap:.0%} of the answerable questions and any other: this "
             "signal does not tell them apart"]
        )  # fmt: skip
    out = Path(str(options["out"] or checked.outputs / "calibration"))
    _write(out, gate, found, gate_yaml(gate, found, by_segment, segment, stamp(checked)), page)


def _write(out: Path, gate: str, found: Sweep, content: str, page: Page) -> None:
    folder = out / "gate"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"calibrated_{gate}.yaml"
    file.write_text(content, encoding="utf-8")
    page.line(
        page.text(
            f"Written: {file}. Use it with "
            f"hydra.searchpath=[file://{out.resolve()}] gate=calibrated_{gate}"
        )
    )
    try:
        plot(out / f"calibration_{gate}.svg", found)
    except ImportError:
        page.line(page.text("No plot: pip install 'ragablate[plots]'"))

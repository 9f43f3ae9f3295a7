"""``ragablate calibrate``: the floors of a gate, from the questions of a plan's control."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from ragablate import calibrate
from ragablate.adapters import Pipeline
from ragablate.budget import Budget
from ragablate.calibrate import Decided, Scored, Sweep
from ragablate.checked import Checked
from ragablate.design import CONTROL
from ragablate.errors import AdapterError, DesignError
from ragablate.execute import lend
from ragablate.gate.fitting import fused_searches, misfits
from ragablate.gate.none import NoGate
from ragablate.gate.segments import segment_problem
from ragablate.gate.signals import SIGNALS
from ragablate.gate.stamps import STAMPED, searched_digest
from ragablate.lending import Lending
from ragablate.pipeline import Upstream
from ragablate.prepared import Prepared
from ragablate.protocols import GateRequest
from ragablate.report.calibration import plot, print_decisions, print_segments, print_sweep
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
    # What the gate of the plan decides is not asked for.
    arm = checked.pipelines[CONTROL]
    ungated = replace(arm, stages={**arm.stages, "gate": NoGate()},
                      fingerprints={**arm.fingerprints, "gate": ""})  # fmt: skip
    found = _prepared(checked, ungated, progress)
    fused = fused_searches([signal], (len(one.searches) for one in found.values()))
    if fused:
        raise DesignError([fused])
    rows = []
    for question in checked.dataset.questions:
        one = found[question.qid]
        if one.failure is not None:
            raise AdapterError(f"question '{question.qid}': {one.failure.message}")
        request = GateRequest(question.qid, question, one.candidates, one.retrieved, one.signals)
        answerable = checked.dataset.gold[question.qid].answerable
        own = question.slices.get(segment, "")
        rows.append(Scored(question.qid, SIGNALS[signal](request), answerable, own))
    return tuple(rows)


def decisions(checked: Checked, segment: str, progress: Progress) -> tuple[Decided, ...]:
    """What the gate of the plan decides about every question; a reply of its reader that cannot
    be used is unclear.

    Raises:
        AdapterError: A stage before the gate failed, or the gate's reader could not be asked.
    """
    found = _prepared(checked, checked.pipelines[CONTROL], progress)
    rows = []
    for question in checked.dataset.questions:
        one = found[question.qid]
        if one.failure is not None and not (one.gate_failed and one.failure.kind == "pipeline"):
            raise AdapterError(f"question '{question.qid}': {one.failure.message}")
        outcome = one.gate.outcome if one.gate is not None else "unclear"
        answerable = checked.dataset.gold[question.qid].answerable
        rows.append(Decided(question.qid, outcome, answerable, question.slices.get(segment, "")))
    return tuple(rows)


def _prepared(checked: Checked, arm: Pipeline, progress: Progress) -> dict[str, Prepared]:
    store = Store(checked.outputs / ".store")
    try:
        lend({CONTROL: arm}, {}, Lending(store, Budget(checked.settings.limits), progress))
        return Upstream(checked.dataset, store, progress).prepare(CONTROL, arm)
    finally:
        store.close()


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
    """Sweep, print, and write the gate's YAML and a plot of the sweep; of a gate without a floor
    to find, count what it decides.

    Raises:
        DesignError: An option has no meaning, or no floor keeps under the cap.
    """
    gate = str(options["gate"])
    chosen = checked.plan.choices["gate"]
    if gate not in OF_GATE and (gate != chosen or gate == "none"):
        raise DesignError(
            [f"calibration.gate is '{gate}': give one of {', '.join(OF_GATE)}; or the plan's own "
             "gate, to count what it decides: gate=relevance_read calibration.gate=relevance_read"]
        )  # fmt: skip
    segment = str(options["segment"] or "")
    wrong = segment_problem(segment, checked.dataset)
    if wrong:
        raise DesignError([f"calibration.{wrong}"])
    if gate not in OF_GATE:
        heading = f"{checked.name}: what gate={gate} decides"
        cap = float(options["max_wrong_refusal"])
        print_decisions(page, heading, decisions(checked, segment, progress), cap)
        return
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

"""``ragablate calibrate``: the floors of a gate, from the questions of a plan's control."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from ragablate import calibrate
from ragablate.calibrate import Scored, Sweep
from ragablate.checked import Checked
from ragablate.design import CONTROL
from ragablate.errors import AdapterError, DesignError
from ragablate.gate.signals import SIGNALS
from ragablate.pipeline import Upstream
from ragablate.protocols import GateRequest
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table
from ragablate.stages import Progress
from ragablate.store import Store

OF_GATE = {"floor": "top", "gap": "gap", "relevance": "relevance"}
"""The signal each gate with one floor decides on."""
STAMPED = ("chunker", "rewriter", "retriever", "reranker")
_SHOWN = 12


def scores(checked: Checked, signal: str, segment: str, progress: Progress) -> tuple[Scored, ...]:
    """Search and rerank every question as control does, and read a signal of it.

    Raises:
        DesignError: The signal does not exist.
        AdapterError: A stage cannot be run.
    """
    if signal not in SIGNALS:
        raise DesignError([f"calibration.signal is '{signal}': give one of {', '.join(SIGNALS)}"])
    store = Store(checked.outputs / ".store")
    upstream = Upstream(checked.dataset, store, progress)
    found = upstream.prepare(CONTROL, checked.pipelines[CONTROL])
    rows = []
    for question in checked.dataset.questions:
        one = found[question.qid]
        if one.failure is not None:
            raise AdapterError(f"question '{question.qid}': {one.failure.message}")
        request = GateRequest(question.qid, question, one.candidates, one.retrieved)
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
    """What the floors hold for: the stages the scores came from."""
    fingerprints = checked.pipelines[CONTROL].fingerprints
    return {stage: fingerprints[stage] for stage in STAMPED}


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
    questions = scores(checked, OF_GATE[gate], segment, progress)
    cap = float(options["max_wrong_refusal"])
    tune: tuple[Scored, ...] = questions
    held: tuple[Scored, ...] = ()
    if options["held_out"]:
        tune, held = calibrate.halves(questions, int(checked.plan.control["seed"]))
    found = calibrate.sweep(tune, cap)
    split = calibrate.segments(tune) if segment else {}
    by_segment = {name: calibrate.sweep(own, cap) for name, own in split.items()}
    _print(page, checked, gate, found, cap, held)
    for name, own in by_segment.items():
        _segment(page, name or "no segment", own)
    if found.picked is None:
        raise DesignError(
            [f"no floor refuses at most {cap:.0%} of the answerable questions and any other: this "
             "signal does not tell them apart"]
        )  # fmt: skip
    out = Path(str(options["out"] or checked.outputs / "calibration"))
    _write(out, gate, found, gate_yaml(gate, found, by_segment, segment, stamp(checked)), page)


def _print(
    page: Page, checked: Checked, gate: str, found: Sweep, cap: float, held: Sequence[Scored]
) -> None:
    page.heading(f"{checked.name}: floors of gate={gate}")
    columns = (
        Column("floor", right=True),
        Column("correct refusals", right=True),
        Column("95 % interval", right=True),
        Column("wrong refusals", right=True),
        Column("95 % interval", right=True),
        Column(""),
    )
    shown = _some(found)
    page.table(Table(columns, tuple(_row(f, f is found.picked) for f in shown)))
    if len(shown) < len(found.floors):
        page.line(page.text(f"{len(shown)} of {len(found.floors)} floors shown."))
    page.line(page.text(f"Taken is the floor with the most correct refusals among those that "
                        f"refuse at most {cap:.1%} of the answerable questions."))  # fmt: skip
    for warning in found.warnings:
        page.bullet(page.text(warning))
    if held and found.picked is not None:
        again = calibrate.at(held, found.picked.floor)
        page.line(page.text(
            f"On the half it was not tuned on: correct refusals {again.refused}/"
            f"{again.unanswerable}, wrong refusals {again.wrong}/{again.answerable}."
        ))  # fmt: skip


def _some(found: Sweep) -> list[calibrate.Floor]:
    """A dozen floors over the whole range, the one that is taken among them."""
    floors = found.floors
    step = max(1, len(floors) // _SHOWN)
    kept = {*range(0, len(floors), step), *((floors.index(found.picked),) if found.picked else ())}
    return [floors[i] for i in sorted(kept)]


def _row(floor: calibrate.Floor, taken: bool) -> tuple[str, ...]:
    cells = [f"{floor.floor:.4g}"]
    for kind, count, n in (
        ("correct", floor.refused, floor.unanswerable),
        ("wrong", floor.wrong, floor.answerable),
    ):
        interval = floor.interval(kind)
        cells.append(f"{count}/{n}")
        cells.append("–" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}")
    return (*cells, "taken" if taken else "")


def _segment(page: Page, name: str, found: Sweep) -> None:
    taken = found.picked
    text = "no floor keeps under the cap" if taken is None else (
        f"floor {taken.floor:.4g}: correct refusals {taken.refused}/{taken.unanswerable}, wrong "
        f"refusals {taken.wrong}/{taken.answerable}"
    )  # fmt: skip
    page.line(page.join((f"{name}:", "bold"), (text, "")))
    for warning in found.warnings:
        page.bullet(page.text(warning), 2)


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
        _plot(out / f"calibration_{gate}.svg", found)
    except ImportError:
        page.line(page.text("No plot: pip install 'ragablate[plots]'"))


def _plot(path: Path, found: Sweep) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "ragablate", "svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 3.6))
        axes = figure.subplots()
        floors = [f.floor for f in found.floors]
        axes.step(floors, [f.correct_rate for f in found.floors], color="#0072B2",
                  label="unanswerable refused")  # fmt: skip
        axes.step(floors, [f.wrong_rate for f in found.floors], color="#D55E00", linestyle="--",
                  label="answerable refused")  # fmt: skip
        if found.picked is not None:
            axes.axvline(found.picked.floor, color="#555555", linewidth=1)
        axes.set_xlabel("floor")
        axes.set_ylabel("share refused")
        axes.legend(frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})

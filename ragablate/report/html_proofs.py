"""What backs the claims up: proofs, limits, the plan, and how to get all of it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragablate.bundle.read import Bundle
from ragablate.records import Comparison, Proof
from ragablate.report import figures, plans
from ragablate.report.findings import Compared, Finding
from ragablate.report.html_grid import Cell, Grid
from ragablate.report.tables import NOTHING, Column

_SETTLED = {"retrieve": "retrieval", "assemble": "assembly", "read": "reading"}
_NO_PLACEBO = (
    "Control was not asked again, so how much asking again changes by itself is not known: "
    "add experiment=placebo."
)


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant."""

    mark: str
    """Its outcome as a sign."""
    status: str
    """Its outcome."""
    text: str
    """What was found."""


@dataclass(frozen=True, slots=True)
class Proven:
    """The checks of one claim."""

    name: str
    """The experiment."""
    held: tuple[str, ...]
    """What was shown to be held fixed, with counts."""
    acted: tuple[str, ...]
    """What shows that the treatment was applied."""
    tally: str
    """How many checks passed."""
    whole: bool
    """Whether all did."""
    failed: tuple[Check, ...]
    """Those that did not pass, and those that were not made."""
    checks: tuple[Check, ...]
    """All."""


def proven(finding: Finding) -> Proven:
    """What was byte-identical, what took effect and what was not checked, counted."""
    failed = figures.failed(finding.proofs)
    tally = [figures.tally(finding.proofs), figures.unmoved(finding.effects)]
    return Proven(
        finding.name,
        figures.gathered(figures.proved(finding.proofs, figures.HELD_FIXED)),
        figures.gathered(figures.proved(finding.proofs, figures.TOOK_EFFECT)),
        "; ".join(text for text in tally if text),
        not failed,
        tuple(map(_check, failed)),
        tuple(map(_check, finding.proofs)),
    )


def _check(proof: Proof) -> Check:
    after = f" ({proof.consequence})" if proof.consequence else ""
    return Check(
        figures.MARKS[proof.status], proof.status, f"{proof.invariant}: {proof.text}{after}"
    )


def placebo(found: Sequence[Finding]) -> tuple[str, ...]:
    """What nothing but asking again changed."""
    measured = tuple(
        sentence
        for f in found
        if isinstance(f, Compared) and f.contrast.kind == "placebo"
        for sentence in f.sentences
    )
    return measured or (_NO_PLACEBO,)


# ── limits ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Limits:
    """What weakens the claims."""

    own: tuple[tuple[str, str], ...]
    """Experiment and limit."""
    notes: tuple[str, ...]
    """What concerns the whole set."""
    gaps: tuple[str, ...]
    """Questions that are in no number."""
    settle: tuple[tuple[str, str], ...]
    """Experiment, and what would decide what is open."""


def limits(bundle: Bundle, comparison: Comparison, found: Sequence[Finding]) -> Limits:
    """What weakens the claims, what would strengthen them, and which questions are left out."""
    return Limits(
        tuple((f.name, limit) for f in found for limit in f.conclusion.limits),
        comparison.notes,
        tuple(q.qid for q in bundle.questions.values() if q.eval_gap),
        tuple((f.name, f.conclusion.settle) for f in found if f.conclusion.settle),
    )


# ── the plan ────────────────────────────────────────────────────────────────────────────


def arms(bundle: Bundle) -> Grid:
    """Every leaf of the config in which an arm differs from control."""
    rows = []
    for arm in bundle.arms.values():
        moved = [plans.change(leaf) for leaf in arm.changes]
        lines = tuple(f"{key}: {old} → {new}" for key, old, new in moved)
        rows.append((Cell(arm.name, look="code"), Cell("" if lines else "nothing", lines)))
    columns = (Column("arm"), Column("differs from control in"))
    return Grid("Arms, and every leaf of the config in which they differ", columns, tuple(rows))


def measures(bundle: Bundle) -> Grid:
    """What is measured, and by which stage it is settled."""
    columns = (Column("measure"), Column("what it says"), Column("settled by"))
    rows = tuple(
        (Cell(m["name"], look="code"), Cell(m["label"] or NOTHING), Cell(_SETTLED[m["stage"]]))
        for m in bundle.plan["measures"]
    )
    return Grid("Measures", columns, rows)


def identity(bundle: Bundle, bundle_id: str) -> Grid:
    """What names the bundle, its plan and its data."""
    plan = bundle.plan
    values = (
        ("bundle id", bundle_id),
        ("plan", plan["plan_digest"]),
        ("question set", plan["dataset"]["digest"]),
        ("ragablate", plan["ragablate"]),
        ("seed", str(plan["seed"])),
    )
    rows = tuple((Cell(name), Cell(value, look="code")) for name, value in values)
    return Grid("What names this bundle", (Column("what"), Column("value")), rows)

"""Arms whose names have a meaning: the ladder they make, and the shape of every other one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ragablate.compare.populations import ANSWERABLE, KEPT_PRESENT
from ragablate.compare.scores import EVIDENCE_IN_CONTEXT, EVIDENCE_RETRIEVED, FAITHFULNESS
from ragablate.compare.shapes import Shape, shape
from ragablate.edges import Edge, edges
from ragablate.elsewhere.held import held
from ragablate.logs import Log
from ragablate.records import Analysis, Comparison, Proof

LADDER: Mapping[str, str] = {
    "control": "B", "A": "A", "D": "D", "S": "S", "oracle": "O", "closed_book": "N",
}  # fmt: skip
"""By the name of an arm, its rung: ``A`` shows all gold that was retrieved, ``D`` all gold, ``S``
the same with the gold first, ``oracle`` the gold alone, ``closed_book`` nothing."""
NEEDED = ("control", "A", "D", "S", "oracle")
_STEPS = ("A", "D", "S")
ID = "compare/ladder"


def ladder_of(logs: Mapping[str, Log], measure: str, margin: float) -> Analysis | None:
    """The ladder that the names of arms make; ``None`` where a rung is missing."""
    if any(role not in logs for role in NEEDED):
        return None
    return Analysis(
        id=ID, question="Which stage loses the answers?", kind="ladder",
        arms={rung: role for role, rung in LADDER.items() if role in logs},
        measure=measure, margin=margin,
    )  # fmt: skip


def missing_rungs(logs: Mapping[str, Log]) -> tuple[str, ...]:
    """What a ladder lacks that some of the arms are named for."""
    lacking = [role for role in NEEDED if role not in logs]
    if not lacking or not any(role in logs for role in _STEPS):
        return ()
    return (
        f"no ladder: it needs the arms {', '.join(NEEDED)}, and {', '.join(lacking)} "
        f"{'is' if len(lacking) == 1 else 'are'} not given",
    )


def ladder_proofs(analysis: Analysis, logs: Mapping[str, Log]) -> tuple[Proof, ...]:
    """What the logs show of every step, each text naming the step."""
    return tuple(
        replace(proof, text=f"{edge.roles[0]} to {edge.roles[1]}: {proof.text}")
        for edge in edges(analysis)
        for proof in _of_step(edge, logs)
    )


def _of_step(edge: Edge, logs: Mapping[str, Log]) -> tuple[Proof, ...]:
    before = {(e.qid, e.replicate): e for e in logs[edge.contrast.control].entries}
    treated = logs[edge.contrast.treatment].entries
    pairs = [(before[e.qid, e.replicate], e) for e in treated if (e.qid, e.replicate) in before]
    proofs = held(edge.contrast.treatment, pairs, reader_fixed=True).proofs
    if not edge.may_change_nothing:
        return proofs
    # A repair that finds nothing to repair leaves the contexts as they were.
    return tuple(p for p in proofs if not (p.invariant == "INV-12" and "identical" in p.text))


def shape_of(comparison: Comparison, contrast: str) -> Shape | None:
    """How evidence and faithfulness moved from control to an arm; ``None`` where neither is
    known in both.
    """
    found = {(e.measure, e.population): e for e in comparison.effects if e.contrast == contrast}
    evidence = found.get((EVIDENCE_IN_CONTEXT, ANSWERABLE))
    faithfulness = found.get((FAITHFULNESS, KEPT_PRESENT))
    if evidence is None or faithfulness is None:
        return None
    score = next((e for e in comparison.effects if e.contrast == contrast), None)
    return shape(evidence, faithfulness, score, found.get((EVIDENCE_RETRIEVED, ANSWERABLE)))

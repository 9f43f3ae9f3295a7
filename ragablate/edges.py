"""The steps of a design of several arms: pairs of arms exactly one change apart.

A claim about a ladder, a factorial or a mediation rests on every one of its steps, so each
is proven like a contrast of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ragablate.records import Analysis, Arm, Change, Contrast, ContrastKind

UNRETRIEVED = "A'"
"""The role of the arm that is given the gold that was not retrieved, and nothing else."""
_LADDER = ("B", "B'", "A", "D", "S", "O")
STAGE_KINDS: Mapping[str, ContrastKind] = {
    "chunker": "upstream",
    "rewriter": "upstream",
    "retriever": "upstream",
    "reranker": "upstream",
    "gate": "gate",
    "assembler": "assembler",
    "context": "context",
    "reader": "reader",
}
"""What a change of each stage intervenes on."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of an analysis."""

    roles: tuple[str, str]
    """From and to."""
    contrast: Contrast
    """The step as a contrast; its id is ``<analysis>:<from>><to>``."""
    may_change_nothing: bool
    """A repair that finds nothing to repair is no missing treatment."""


def edges(analysis: Analysis) -> tuple[Edge, ...]:
    """Every step of an analysis, in a fixed order."""
    steps = {
        "ladder": _ladder,
        "mediation": _mediation,
        "factorial": _hypercube,
        "attribution": _hypercube,
    }[analysis.kind]
    return tuple(steps(analysis))


def _ladder(analysis: Analysis) -> Iterator[Edge]:
    rungs = [role for role in _LADDER if role in analysis.arms]
    for before, after in pairwise(rungs):
        stage = "gate" if after == "B'" else "context"
        kind: ContrastKind = "oracle" if after == "O" else STAGE_KINDS[stage]
        yield _edge(analysis, before, after, stage, kind, after != "O")
    ungated = "B'" if "B'" in analysis.arms else "B"
    if UNRETRIEVED in analysis.arms:
        for before, after in ((ungated, UNRETRIEVED), (UNRETRIEVED, "D")):
            yield _edge(analysis, before, after, "context", STAGE_KINDS["context"], True)
    if "N" in analysis.arms:
        yield _edge(analysis, ungated, "N", "context", "closed_book", False)


def _mediation(analysis: Analysis) -> Iterator[Edge]:
    variable = analysis.factors[0].variable
    yield _edge(analysis, "B", "R", variable, STAGE_KINDS[variable.split(".")[0]], False)
    for before, after in (("B", "c01"), ("R", "c10")):
        if after in analysis.arms:
            yield _edge(analysis, before, after, "context", "context", True)


def _hypercube(analysis: Analysis) -> Iterator[Edge]:
    """Cells that differ in one factor. That a stage in which two pipelines differ changes
    nothing is an answer of an attribution, and so is that a factor changes nothing once
    another was changed; a factor that changes nothing in control was never applied.
    """
    for before in sorted(analysis.arms):
        may_change_nothing = analysis.kind == "attribution" or "1" in before
        for place, factor in enumerate(analysis.factors):
            after = before[:place] + "1" + before[place + 1 :]
            if before[place] == "0" and after in analysis.arms:
                kind = STAGE_KINDS[factor.variable.split(".")[0]]
                yield _edge(analysis, before, after, factor.variable, kind, may_change_nothing)


def _edge(
    analysis: Analysis,
    before: str,
    after: str,
    variable: str,
    kind: ContrastKind,
    may_change_nothing: bool,
) -> Edge:
    contrast = Contrast(
        id=f"{analysis.id}:{before}>{after}",
        experiment=analysis.id.split("/")[0],
        question=analysis.question,
        kind=kind,
        variable=variable,
        level=after,
        control=analysis.arms[before],
        treatment=analysis.arms[after],
        measure=analysis.measure,
        margin=analysis.margin,
    )
    return Edge((before, after), contrast, may_change_nothing)


def changes_between(before: Arm, after: Arm) -> tuple[Change, ...]:
    """Leaves that differ between two arms, from how each differs from control."""
    left = {c.key: c for c in before.changes}
    right = {c.key: c for c in after.changes}
    found = []
    for key in sorted(left.keys() | right.keys()):
        one = left[key].treatment if key in left else right[key].control
        other = right[key].treatment if key in right else left[key].control
        if one != other:
            found.append(Change(key, one, other))
    return tuple(found)

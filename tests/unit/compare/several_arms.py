"""Designs of several arms written down by hand, with a proof for every step."""

from __future__ import annotations

from itertools import product

from ragablate.edges import edges
from ragablate.records import Analysis, Factor, Proof

VARIABLES = ("retriever", "reader", "assembler", "reranker", "rewriter")
LEVELS = {
    "retriever": ("bm25", "dense"),
    "reader": ("small", "large"),
    "assembler": ("ranked", "sides"),
    "reranker": ("none", "cross_encoder"),
    "rewriter": ("none", "hyde"),
}


def cells(m):
    return ["".join(bits) for bits in product("01", repeat=m)]


def crossed(m=2, kind="factorial", margin=0.05, measure="correct", order=(), only=None):
    """All combinations of m variables; the arm of a cell is called like the cell."""
    names = cells(m) if only is None else only
    return Analysis(
        id=f"{kind}_of_{m}",
        question="?",
        kind=kind,
        arms={name: name for name in names},
        measure=measure,
        margin=margin,
        factors=tuple(Factor(v, *LEVELS[v]) for v in VARIABLES[:m]),
        order=tuple(order),
    )


def mediated(margin=0.05, roles=("B", "R", "c01", "c10"), measure="correct"):
    """A swapped retriever with its edited contexts; the arm of a role is called like it."""
    return Analysis(
        id="mediation",
        question="?",
        kind="mediation",
        arms={role: role for role in roles},
        measure=measure,
        margin=margin,
        factors=(Factor("retriever", "bm25", "dense"),),
    )


def proven(*analyses):
    """One passed proof a step, named as a bundle names them."""
    return {
        a.id: tuple(
            Proof("INV-4", "pass", "", f"{' to '.join(edge.roles)}: one variable changed")
            for edge in edges(a)
        )
        for a in analyses
    }


def filled(sheet, patterns, arms, measure="correct", **more):
    """A sheet from patterns such as ``{"0101": 5}``: one digit an arm, how many questions."""
    made = sheet()
    for pattern, times in patterns.items():
        scores = {(a, measure): float(digit) for a, digit in zip(arms, pattern, strict=True)}
        made.add({**scores, **more.get(pattern, {})}, times=times)
    return made


def studied(made, *analyses, **changes):
    """The study of a sheet under these analyses."""
    return made.study(analyses=tuple(analyses), **{"proofs": proven(*analyses), **changes})

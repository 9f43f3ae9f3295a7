"""The machine-readable record of one claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragablate import __version__
from ragablate.codec import plain
from ragablate.compare.arms import proofs_of
from ragablate.records import Conclusion, Contrast, Effect, Proof, Study

_WORST_FIRST = ("fail", "warn", "not_checked", "pass")


def claim_record(
    effect: Effect,
    contrast: Contrast,
    study: Study,
    conclusion: Conclusion,
    hashes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Everything one number claims and rests on, as plain values.

    Args:
        effect: The number.
        contrast: The contrast it belongs to.
        study: The study it was computed from.
        conclusion: The contrast's conclusion, for label and limits.
        hashes: Digests of the question set, contexts, readers and plan, by those names.
    """
    return {
        "claim_id": effect.id,
        "estimand": f"{effect.measure} on {effect.population}, {effect.arms[1]} minus "
        f"{effect.arms[0]}",
        "arms": list(effect.arms),
        "factor": contrast.variable,
        **_numbers(effect),
        "label": "exploratory" if _exploratory(effect, conclusion) else conclusion.label,
        "limits": list(conclusion.limits),
        "invariants": _invariants(proofs_of(study, contrast)),
        "hashes": dict(sorted((hashes or {}).items())),
        "seed": study.seed,
        "version": __version__,
    }


def _numbers(effect: Effect) -> dict[str, Any]:
    return {
        "n": effect.n,
        "unmeasured": effect.unmeasured,
        "clusters": effect.clusters,
        "K": effect.replicates,
        "changed": {"up": effect.better, "down": effect.worse},
        "effect": effect.effect,
        "ci95": plain(effect.ci95),
        "ci90": plain(effect.ci90),
        "se": {"super": effect.se_super, "set": effect.se_set},
        "p": effect.p,
        "p_exact": effect.p_exact,
        "p_adj": effect.p_adjusted,
        "family": effect.role,
        "margin": effect.margin,
        "state": effect.state,
        "detail": effect.detail,
        "needed_n": effect.needed_n,
    }


def _exploratory(effect: Effect, conclusion: Conclusion) -> bool:
    return effect.role == "slice" and conclusion.label in ("causal", "causal with limits")


def _invariants(proofs: tuple[Proof, ...]) -> dict[str, str]:
    """Status by invariant, the worst where one was checked more than once."""
    found: dict[str, str] = {}
    for proof in proofs:
        known = found.get(proof.invariant, "pass")
        found[proof.invariant] = min(known, proof.status, key=_WORST_FIRST.index)
    return dict(sorted(found.items()))

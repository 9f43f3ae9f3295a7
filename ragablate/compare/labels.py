"""How strongly a conclusion may speak: the weakest of what its invariants allow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragablate.records import Label, Proof

STRENGTH: tuple[Label, ...] = (
    "refused",
    "confounded",
    "descriptive",
    "exploratory",
    "causal with limits",
    "causal",
)
"""Weakest first."""

CAUSAL: tuple[Label, ...] = ("causal with limits", "causal")
"""Labels under which a difference may be put down to what was changed."""

_AFTER_FAILURE: dict[str, Label] = {
    "refuse": "refused",
    "confounded": "confounded",
    "descriptive": "descriptive",
    "exploratory": "exploratory",
    "warn": "causal with limits",
}

REPAIR = "remove the cause that is named, and run the plan again"

_CONFIRM = (
    "declare this measure and its judge in a plan, and run that on questions whose results nobody "
    "has seen"
)

_UNATTRIBUTED: dict[Label, tuple[str, str]] = {
    "confounded": ("no attribution", "This cannot be put down to {}"),
    "exploratory": (
        "exploratory",
        "It was chosen after results were seen, so it is a hint about {} to be tested",
    ),
}

_ASSOCIATED = ("association only", "This is an association, not the effect of {}")


@dataclass(frozen=True, slots=True)
class Licence:
    """What may be said of a contrast, and why not more."""

    label: Label
    """The strongest label that every finding allows."""
    reasons: tuple[str, ...]
    """The findings that set the label, where it is weaker than causal with limits."""
    limits: tuple[str, ...]
    """All findings that weaken the claim, each a phrase."""

    @property
    def causal(self) -> bool:
        """Whether a difference may be put down to the variable."""
        return self.label in CAUSAL


def unattributed(label: Label) -> str:
    """The verdict under a label that puts nothing down to what was changed."""
    return _UNATTRIBUTED.get(label, _ASSOCIATED)[0]


def denial(label: Label, what: str) -> str:
    """The clause that says why a number is not the effect of ``what``."""
    return _UNATTRIBUTED.get(label, _ASSOCIATED)[1].format(what)


def way_out(label: Label) -> str:
    """What would give a claim its causal label."""
    return _CONFIRM if label == "exploratory" else REPAIR


def weakest(labels: Iterable[Label]) -> Label:
    """The label that claims least; ``causal`` of none."""
    return min(labels, key=STRENGTH.index, default="causal")


def licence(proofs: Sequence[Proof], findings: Sequence[tuple[Label, str]] = ()) -> Licence:
    """Judge proofs and further findings together.

    A failed proof whose consequence is not said confounds; a proof that was not checked is a
    limit; a contrast without any proof is an association.
    """
    ruled = [*(_ruled(proof) for proof in proofs if proof.status != "pass"), *findings]
    if not proofs:
        ruled.append(("descriptive", "no invariant was checked for this contrast"))
    label = weakest(rule[0] for rule in ruled)
    strong = label in CAUSAL
    texts = tuple(dict.fromkeys(text for _, text in ruled))
    reasons = () if strong else tuple(dict.fromkeys(t for rank, t in ruled if rank == label))
    return Licence(label, reasons, texts)


def _ruled(proof: Proof) -> tuple[Label, str]:
    text = proof.text.rstrip(".")
    if proof.status == "not_checked":
        return "causal with limits", f"{proof.invariant} not checked: {text}"
    if proof.status == "warn":
        return "causal with limits", text
    return _AFTER_FAILURE.get(proof.consequence, "confounded"), text

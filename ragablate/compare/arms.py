"""What a contrast holds fixed and what its arms are: stages, placebos, the arm without a gate."""

from __future__ import annotations

from ragablate.records import Contrast, ContrastKind, MeasureStage, Proof, Study

_ORDER: tuple[MeasureStage, ...] = ("retrieve", "assemble", "read")

_STAGE: dict[ContrastKind, MeasureStage] = {
    "upstream": "retrieve",
    "assembler": "assemble",
    "gate": "assemble",
    "oracle": "assemble",
    "closed_book": "assemble",
    "necessity": "assemble",
    "context": "assemble",
    "reader": "read",
    "placebo": "read",
}


def is_upstream(measure: MeasureStage, kind: ContrastKind) -> bool:
    """Whether a measure of that stage is settled before the contrast's variable acts."""
    return _ORDER.index(measure) < _ORDER.index(_STAGE[kind])


def family(study: Study) -> tuple[Contrast, ...]:
    """The contrasts that share one Holm adjustment: all declared ones but placebos."""
    return tuple(c for c in study.contrasts if c.kind != "placebo")


def without_gate(study: Study, contrast: Contrast) -> Contrast | None:
    """The contrast that takes the gate out of the same control, where the plan has one.

    An oracle context overrides a gate's refusals, so with a gate in control it is compared
    with the control without its gate, and the gate's own loss is shown beside it.
    """
    if contrast.kind != "oracle":
        return None
    for other in study.contrasts:
        if other.kind == "gate" and other.level == "none" and other.control == contrast.control:
            return other
    return None


def compared(study: Study, contrast: Contrast) -> tuple[str, str]:
    """The two arms the primary effect of a contrast rests on."""
    gate = without_gate(study, contrast)
    return (contrast.control if gate is None else gate.treatment, contrast.treatment)


def sibling(study: Study, contrast: Contrast, kind: ContrastKind) -> Contrast | None:
    """The first contrast of another kind with the same control, such as its placebo."""
    for other in study.contrasts:
        if other.kind == kind and other.control == contrast.control:
            return other
    return None


def proofs_of(study: Study, contrast: Contrast) -> tuple[Proof, ...]:
    """The proofs a contrast stands on, those of its arm without the gate included.

    That taking the gate out changed nothing says that it refused nothing: then the arm without
    it is control, and nothing is held against what is compared with it.
    """
    gate = without_gate(study, contrast)
    own = study.proofs.get(contrast.id, ())
    if gate is None:
        return own
    beside = study.proofs.get(gate.id, ())
    return (*own, *(p for p in beside if not (p.invariant == "INV-12" and p.status == "fail")))

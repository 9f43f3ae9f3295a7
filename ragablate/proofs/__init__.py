"""What really crossed the seams: the invariants of a claim, checked on digests.

The word *causal* is earned here. Every check compares control and treatment question by
question on what the runner recorded, counts what it compared, and says what a failure
does to the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ragablate.proofs import asking as asking
from ragablate.proofs import fixed as fixed
from ragablate.proofs import questions as questions
from ragablate.proofs import reading as reading
from ragablate.proofs import treatment as treatment
from ragablate.proofs.exhibit import Beside, Exhibit, Side
from ragablate.records import Proof

Check = Callable[[Exhibit], Proof | None]

_PAIRWISE: tuple[Check, ...] = (
    fixed.same_questions,
    fixed.same_contexts,
    fixed.same_reader,
    fixed.one_change,
    fixed.same_frames,
    fixed.same_corpus,
    fixed.no_errors,
    fixed.same_judges,
    reading.replicates_apart,
    treatment.took_effect,
    asking.interleaved,
    fixed.sound_scores,
    reading.nothing_cut,
    fixed.same_evidence,
)
"""Of every pair of arms a claim rests on."""

_PLANWIDE: tuple[Check, ...] = (
    reading.reader_repeats,
    questions.gold_resolves,
    questions.memory_is_known,
    questions.nothing_leaked,
    questions.plan_came_first,
    questions.not_chosen_by_failure,
)
"""Of a claim as a whole, however many arms it rests on."""


def prove(exhibit: Exhibit) -> tuple[Proof, ...]:
    """Every invariant that applies to a contrast, in the order of their numbers."""
    return _ordered([*_checked(_PAIRWISE, exhibit), *_checked(_PLANWIDE, exhibit)])


def prove_steps(steps: Sequence[tuple[str, Exhibit]]) -> tuple[Proof, ...]:
    """Every invariant of a design of several arms; the text of a step's proof names the step.

    Args:
        steps: Name and exhibit of every pair of arms that is exactly one change apart.
    """
    found: list[Proof] = []
    for name, exhibit in steps:
        found += [replace(p, text=f"{name}: {p.text}") for p in _checked(_PAIRWISE, exhibit)]
    whole = [proof for _, exhibit in steps for proof in _checked(_PLANWIDE, exhibit)]
    return _ordered([*found, *dict.fromkeys(whole)])


def _checked(checks: Sequence[Check], exhibit: Exhibit) -> list[Proof]:
    return [proof for check in checks if (proof := check(exhibit)) is not None]


def _ordered(proofs: Sequence[Proof]) -> tuple[Proof, ...]:
    return tuple(sorted(proofs, key=lambda proof: int(proof.invariant.removeprefix("INV-"))))


__all__ = ["Beside", "Exhibit", "Side", "prove", "prove_steps"]

"""Whether a slice can be the segment that a gate has floors for."""

from __future__ import annotations

from ragablate.records import Dataset


def segment_problem(segment: str, dataset: Dataset) -> str:
    """What is wrong with a segment, in a sentence; empty for nothing.

    Args:
        segment: Name of a slice; empty for none.
        dataset: The questions that have it.
    """
    if not segment:
        return ""
    kinds: dict[str, set[bool]] = {}
    for question in dataset.questions:
        if segment in question.slices:
            answerable = dataset.gold[question.qid].answerable
            kinds.setdefault(question.slices[segment], set()).add(answerable)
    if not kinds:
        names = sorted({name for q in dataset.questions for name in q.slices})
        return f"segment is '{segment}', a slice no question has; they have {_listed(names)}"
    if len(set().union(*kinds.values())) == 2 and all(len(found) == 1 for found in kinds.values()):
        return (
            f"segment is '{segment}', which tells answerable questions from unanswerable ones by "
            "itself: no system knows that when it is asked; give a slice that is known then"
        )
    return ""


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "none"

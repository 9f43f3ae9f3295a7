"""How answers move between two arms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ragablate.bundle.read import Bundle
from ragablate.records import Comparison, Verdict
from ragablate.report.transitions import buckets, by_evidence, matrix

Study = tuple[Bundle, Comparison]


def test_answers_are_counted_by_what_they_were_and_what_they_became() -> None:
    before = {("a", 1): "retrieval", ("b", 1): "ok", ("c", 1): "retrieval", ("d", 1): "ok",
              ("e", 1): "gate", ("gone", 1): "ok"}  # fmt: skip
    after = {("a", 1): "ok", ("b", 1): "assembly", ("c", 1): "assembly", ("d", 1): "ok",
             ("e", 1): "gate"}  # fmt: skip
    found = matrix(before, after, ("retrieval", "gate", "assembly", "ok"))
    assert (found.before, found.after) == (("retrieval", "gate", "ok"), ("gate", "assembly", "ok"))
    assert found.counts["retrieval", "assembly"] == 1
    assert (found.total, found.stayed) == (5, 2)
    assert (found.fixed, found.broken, found.moved) == (1, 1, 1)


def _with(bundle: Bundle, arm: str, **values: float | None) -> Bundle:
    own = tuple(Verdict("q0", 1, name, value) for name, value in values.items())
    return replace(bundle, verdicts={**bundle.verdicts, arm: own})


def test_evidence_and_faithfulness_make_a_state(
    study: Study, add_questions: Callable[..., Study], tmp_path: Path
) -> None:
    bundle = add_questions(study, "Who?", tmp_path)[0]
    key = ("q0", 1)

    def state(**values: float | None) -> str | None:
        return by_evidence(_with(bundle, "control", **values), "control").get(key)

    assert state(evidence_in_context=1.0, faithfulness=0.8) == "evidence in context, faithful"
    assert state(evidence_in_context=1.0, faithfulness=0.5) == "evidence in context, not faithful"
    assert state(evidence_in_context=0.5, faithfulness=None) == "evidence lacking, unmeasured"
    assert state(evidence_in_context=0.0, abstained=1.0) == "evidence lacking, declined"
    assert state(faithfulness=1.0) is None


def test_an_eval_gap_has_no_state(
    study: Study, add_questions: Callable[..., Study], tmp_path: Path
) -> None:
    bundle = _with(add_questions(study, "Who?", tmp_path)[0], "control", evidence_in_context=1.0)
    gap = replace(bundle.questions["q0"], eval_gap=True)
    other = replace(bundle, questions={**bundle.questions, "q0": gap})
    assert by_evidence(other, "control") == {}


def test_failures_move_between_buckets(
    study: Study, add_questions: Callable[..., Study], tmp_path: Path
) -> None:
    bundle = add_questions(study, "Who?", tmp_path)[0]
    failed = _with(bundle, "control", correct=0.0, faithfulness=1.0)
    found = buckets(failed, "control", "correct", "placebo")
    # One of two gold parts was shown.
    assert dict(found.counts) == {("partial evidence", "ok"): 1}
    assert (found.fixed, found.broken, found.moved) == (1, 0, 0)

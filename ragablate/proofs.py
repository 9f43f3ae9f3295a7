"""What really crossed the seams: the invariants of a contrast, checked on digests.

The word *causal* is earned here. Every check compares control and treatment question by
question on what the runner recorded, counts what it compared, and says what a failure
does to the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragablate.edges import changes_between
from ragablate.gold import present
from ragablate.records import Arm, Contrast, Proof
from ragablate.traces import ContextLine, QuestionLine, TraceLine, context_of, gold_parts

Consequence = Literal["refuse", "confounded", "descriptive", "warn"]
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What the proofs of one contrast are made from."""

    contrast: Contrast
    """The contrast."""
    control: Arm
    """With the fingerprints of its adapters."""
    treatment: Arm
    """With the fingerprints of its adapters and the leaves that moved."""
    before: Mapping[Key, TraceLine]
    """Control's traces by qid and replicate."""
    after: Mapping[Key, TraceLine]
    """The treatment's."""
    questions: Mapping[str, QuestionLine]
    """By qid."""
    contexts: Mapping[str, ContextLine]
    """By digest."""
    corpora: Mapping[str, str]
    """By arm name, digest of what was searched."""
    may_change_nothing: bool = False
    """A step of a ladder that finds nothing to repair is no missing treatment."""

    @property
    def shared(self) -> list[tuple[TraceLine, TraceLine]]:
        """Traces of the same question in both arms; a placebo pairs with another replicate."""
        pairs: dict[str, tuple[TraceLine, TraceLine]] = {}
        first = {qid: line for (qid, _), line in sorted(self.before.items(), reverse=True)}
        for (qid, _), line in sorted(self.after.items(), reverse=True):
            if qid in first:
                pairs[qid] = (first[qid], line)
        return [pairs[qid] for qid in sorted(pairs)]


def prove(exhibit: Exhibit) -> tuple[Proof, ...]:
    """Every invariant that applies to the contrast, in the order of their numbers."""
    checks: list[Callable[[Exhibit], Proof | None]] = [
        _questions, _contexts, _reader, _one_change, _frames, _corpus, _errors, _gold,
        _effect_took_place, _finished,
    ]  # fmt: skip
    return tuple(proof for check in checks if (proof := check(exhibit)) is not None)


def _passed(invariant: str, text: str) -> Proof:
    return Proof(invariant, "pass", "", text)


def _failed(invariant: str, consequence: Consequence, text: str) -> Proof:
    status: Literal["fail", "warn"] = "warn" if consequence == "warn" else "fail"
    return Proof(invariant, status, consequence, text)


def _first(qids: Sequence[str]) -> str:
    return f"first: {min(qids)}"


def _questions(x: Exhibit) -> Proof:
    asked = {qid for qid, _ in x.after}
    missing = sorted(asked - {qid for qid, _ in x.before})
    if x.contrast.kind != "placebo":
        missing += sorted({qid for qid, _ in x.before} - asked)
    reworded = [b.qid for b, a in x.shared if b.question != a.question]
    wrong = sorted({*missing, *reworded})
    if wrong:
        text = f"{len(wrong)} questions differ between the arms ({_first(wrong)})"
        return _failed("INV-1", "refuse", text)
    return _passed("INV-1", f"{len(x.shared)} questions, the same texts and gold in both arms")


def _contexts(x: Exhibit) -> Proof | None:
    """Fixed context: byte-identical passages in the same order."""
    if x.contrast.kind not in ("reader", "placebo"):
        return None
    differ = [b.qid for b, a in x.shared if b.context_digest != a.context_digest]
    total = len(x.shared)
    if differ:
        text = (
            f"context differs on {len(differ)} of {total} questions ({_first(differ)}); this is "
            "not an effect of the reader alone"
        )
        return _failed("INV-2", "refuse", text)
    return _passed("INV-2", f"{total}/{total} contexts byte-identical")


def _reader(x: Exhibit) -> Proof | None:
    """Fixed reader: the same fingerprint."""
    if x.contrast.kind == "reader":
        return None
    before, after = x.control.fingerprints["reader"], x.treatment.fingerprints["reader"]
    if before != after:
        return _failed("INV-3", "refuse", f"the reader differs: {before[:12]} and {after[:12]}")
    return _passed("INV-3", f"reader {before[:12]} in both arms")


def _one_change(x: Exhibit) -> Proof:
    if x.contrast.kind == "placebo":
        return _passed("INV-4", "no leaf of the resolved config differs")
    changes = changes_between(x.control, x.treatment)
    variable = x.contrast.variable
    outside = [c.key for c in changes if c.key != variable and not c.key.startswith(variable + ".")]
    if outside:
        return _failed("INV-4", "refuse", f"also changed: {', '.join(outside)}")
    leaves = f"{len(changes)} {'leaf' if len(changes) == 1 else 'leaves'}"
    whole = "" if len(changes) == 1 else "; the claim is about the stage as a whole"
    return _passed("INV-4", f"one variable changed: {variable} ({leaves} of the config){whole}")


def _frames(x: Exhibit) -> Proof | None:
    """Fixed reader: the prompt around the evidence is byte-identical."""
    if x.contrast.kind == "reader":
        return None
    both = [(b, a) for b, a in x.shared if b.prompt_digest and a.prompt_digest]
    differ = [b.qid for b, a in both if b.frame_digest != a.frame_digest]
    if differ:
        text = (
            f"the prompt changed outside the evidence on {len(differ)} of {len(both)} questions "
            f"({_first(differ)})"
        )
        return _failed("INV-5", "confounded", text)
    return _passed("INV-5", f"{len(both)}/{len(both)} prompt frames byte-identical")


def _corpus(x: Exhibit) -> Proof:
    before, after = x.corpora[x.control.name], x.corpora[x.treatment.name]
    if before == after:
        return _passed("INV-6", f"corpus {before[:12]} in both arms")
    if x.contrast.variable.split(".")[0] == "chunker":
        return _passed("INV-6", "the chunker is the variable; the documents are the same")
    return _failed("INV-6", "confounded", "the corpus differs between the arms")


def _errors(x: Exhibit) -> Proof:
    before = sum(line.error is not None for line in x.before.values())
    after = sum(line.error is not None for line in x.after.values())
    text = f"{before} errors in {x.control.name}, {after} in {x.treatment.name}"
    return _failed("INV-7", "warn", text) if before or after else _passed("INV-7", text)


def _gold(x: Exhibit) -> Proof:
    gaps = [q.qid for q in x.questions.values() if q.eval_gap]
    if gaps:
        text = f"{len(gaps)} eval gaps (no usable gold) left out ({_first(gaps)})"
        return _passed("INV-11", text)
    return _passed("INV-11", "the gold of every answerable question resolves to passages")


# ── manipulation checks ─────────────────────────────────────────────────────────────────


def _effect_took_place(x: Exhibit) -> Proof | None:
    kind = x.contrast.kind
    if kind == "placebo":
        return None
    if kind == "reader":
        before, after = x.control.fingerprints["reader"], x.treatment.fingerprints["reader"]
        if before == after:
            return _failed("INV-12", "refuse", "both arms have the same reader: no treatment")
        changed = sum(b.answer != a.answer for b, a in x.shared)
        return _passed("INV-12", f"another reader; {changed} of {len(x.shared)} answers changed")
    broken = _broken(x)
    if broken:
        what = {
            "oracle": "the oracle context does not hold all gold and only gold",
            "closed_book": "the closed book holds passages",
            "necessity": "gold is left in the context without gold",
        }[kind]
        text = f"{what} on {len(broken)} of {len(x.shared)} questions ({_first(broken)})"
        return _failed("INV-12", "refuse", text)
    return _changed(x)


def _broken(x: Exhibit) -> list[str]:
    """Questions on which an intervention did not do what its name says."""
    test = {"oracle": _only_gold, "closed_book": _empty, "necessity": _no_gold}.get(x.contrast.kind)
    if test is None:
        return []
    wrong = []
    for _, line in x.shared:
        question = x.questions[line.qid]
        if not test(line, question, x.contexts):
            wrong.append(line.qid)
    return wrong


def _only_gold(
    line: TraceLine, question: QuestionLine, contexts: Mapping[str, ContextLine]
) -> bool:
    if not question.gold.answerable or question.eval_gap or line.error is not None:
        return True
    covered, total = present(question.resolved, context_of(line, contexts).passages)
    gold = {pid for part in gold_parts(question.resolved) for pid in part}
    return covered == total and set(line.prompt_pids) <= gold


def _empty(line: TraceLine, question: QuestionLine, contexts: Mapping[str, ContextLine]) -> bool:
    return not line.prompt_pids


def _no_gold(line: TraceLine, question: QuestionLine, contexts: Mapping[str, ContextLine]) -> bool:
    gold = {pid for part in gold_parts(question.resolved) for pid in part}
    return not gold & set(line.prompt_pids)


def _changed(x: Exhibit) -> Proof:
    changed = sum(b.context_digest != a.context_digest for b, a in x.shared)
    total = len(x.shared)
    if not changed and x.may_change_nothing:
        return _passed("INV-12", f"nothing to edit: contexts are identical on {total}/{total}")
    if not changed:
        text = f"contexts are identical on {total}/{total} questions: no treatment was applied"
        return _failed("INV-12", "refuse", text)
    return _passed("INV-12", f"the treatment changed {changed} of {total} contexts")


def _finished(x: Exhibit) -> Proof:
    before = sum(line.finish_reason == "length" for line in x.before.values())
    after = sum(line.finish_reason == "length" for line in x.after.values())
    if before or after:
        text = (
            f"answers cut off at the length limit: {before} in {x.control.name}, {after} in "
            f"{x.treatment.name}"
        )
        return _failed("INV-19", "warn", text)
    return _passed("INV-19", "no answer was cut off at the length limit")

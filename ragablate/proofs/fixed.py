"""What a contrast holds fixed: questions, contexts, reader, frames, corpus, judges, evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest

from ragablate.gold import present
from ragablate.observed import SearchedAgain
from ragablate.proofs.exhibit import Exhibit, Side, failed, first, passed, questions, unchecked
from ragablate.records import Change, Proof
from ragablate.traces import QuestionLine, context_of

FIXED_CONTEXT = ("reader", "placebo")
"""Kinds of contrast that hold the context fixed; all others hold the reader fixed."""


def same_questions(x: Exhibit) -> Proof:
    """INV-1: the same questions, texts and gold, each once."""
    before, after = ({qid for qid, _ in side.traces} for side in x.sides)
    missing = after - before
    if x.contrast.kind != "placebo":
        missing = before ^ after
    text = set(x.where(lambda b, a: (b.question, b.history) != (a.question, a.history)))
    text |= _recorded(x, lambda line: line.digest)
    gold = _recorded(x, lambda line: line.gold_digest)
    wrong = {qid: "missing" for qid in missing} | dict.fromkeys(gold, "gold")
    wrong |= dict.fromkeys(text, "text")
    if wrong:
        named = ", ".join(f"{qid}: {wrong[qid]}" for qid in sorted(wrong)[:3])
        more = ", …" if len(wrong) > 3 else ""
        return failed(
            "INV-1",
            "refuse",
            f"{questions(len(wrong))} differ{'s' * (len(wrong) == 1)} between arms "
            f"{x.contrast.control} and {x.contrast.treatment} ({named}{more}); paired effects "
            "need the same questions",
        )
    return passed("INV-1", f"{questions(x.asked)}, the same texts and gold in both arms")


def _recorded(x: Exhibit, content: Callable[[QuestionLine], str]) -> set[str]:
    """Questions of both arms whose recorded content is not the same."""
    before, after = (side.questions for side in x.sides)
    both = before.keys() & after.keys()
    return {qid for qid in both if content(before[qid]) != content(after[qid])}


def same_contexts(x: Exhibit) -> Proof | None:
    """INV-2: byte-identical passages in the same order, where the context is held fixed."""
    if x.contrast.kind not in FIXED_CONTEXT:
        return None
    differ = x.where(lambda b, a: b.context_digest != a.context_digest)
    if differ:
        return failed(
            "INV-2",
            "refuse",
            f"the context differs on {len(differ)} of {questions(x.asked)} (first: "
            f"{first(differ, 1)}); this is not an effect of the reader alone: replay the stored "
            "contexts",
        )
    return passed("INV-2", f"{x.asked}/{x.asked} contexts byte-identical")


def same_reader(x: Exhibit) -> Proof | None:
    """INV-3: the same reader, where it is held fixed: prompt, model, decoding and code."""
    if x.contrast.kind == "reader":
        return None
    before, after = (side.arm.fingerprints["reader"] for side in x.sides)
    if before != after:
        moved = _listed([c for c in x.changes if c.key.split(".")[0] == "reader"])
        detail = moved or f"fingerprint {before[:12]} vs {after[:12]}"
        return failed("INV-3", "refuse", f"the reader differs: {detail}")
    return passed("INV-3", f"reader {before[:12]} in both arms")


def one_change(x: Exhibit) -> Proof:
    """INV-4: exactly one variable differs between the resolved configs."""
    if x.contrast.kind == "placebo":
        return passed("INV-4", "no leaf of the resolved config differs")
    variable = x.contrast.variable
    outside = [c for c in x.changes if c.key != variable and not c.key.startswith(f"{variable}.")]
    if outside:
        return failed(
            "INV-4",
            "confounded" if x.elsewhere else "refuse",
            f"more than {variable} changed: {_listed(x.changes)}; the single difference cannot be "
            f"split. Missing arms: {_alone(x.changes)}",
        )
    if len(x.changes) < 2:
        return passed("INV-4", f"one variable changed: {variable} (1 leaf of the config)")
    leaves = f"{variable} ({len(x.changes)} leaves of the config"
    if any(c.key.endswith("._target_") for c in x.changes):
        text = f"one variable changed: {leaves}); the claim is about the stage as a whole"
        return passed("INV-4", text)
    # The same adapter with several knobs turned at once: a second change may hide among them.
    return failed(
        "INV-4",
        "warn",
        f"one variable changed: {leaves}: {_listed(x.changes)}); the claim is about all of them "
        "together",
    )


def _listed(changes: Sequence[Change]) -> str:
    shown = [f"{c.key} ({c.control} -> {c.treatment})" for c in changes[:6]]
    return ", ".join(shown) + (", …" if len(changes) > 6 else "")


def _alone(changes: Sequence[Change]) -> str:
    stages = dict.fromkeys(c.key.split(".")[0] for c in changes)
    if len(stages) == 1:
        return ", ".join(f"{c.key} only" for c in changes[:6])
    return ", ".join(f"{stage} only" for stage in stages)


def same_frames(x: Exhibit) -> Proof | None:
    """INV-5: the prompt around the evidence is byte-identical, where the reader is fixed."""
    if x.contrast.kind == "reader":
        return None
    both = [(b, a) for b, a in x.pairs if b.prompt_digest and a.prompt_digest]
    asked = len({b.qid for b, _ in both})
    differ = {
        b.qid: (b.prompt_digest, a.prompt_digest)
        for b, a in reversed(both)
        if b.frame_digest != a.frame_digest
    }
    if differ:
        quote = _moved_line(x, *differ[min(differ)])
        return failed(
            "INV-5",
            "confounded",
            f"the prompt changed outside the evidence on {len(differ)} of {questions(asked)} "
            f"(first: {min(differ)}{quote})",
        )
    return passed("INV-5", f"{asked}/{asked} prompt frames byte-identical")


def _moved_line(x: Exhibit, before: str, after: str) -> str:
    """The first line that differs between the frames of two prompts, as it can be shown."""
    if x.frame is None:
        return ""
    lines = [x.frame(digest).splitlines() for digest in (before, after)]
    for number, (old, new) in enumerate(zip_longest(*lines, fillvalue=""), start=1):
        if old != new:
            return f", line {number}: '{old[:60]}' and '{new[:60]}'"
    return ""


def same_corpus(x: Exhibit) -> Proof:
    """INV-6: one corpus in both arms, and the same at the end as at the beginning."""
    before, after = x.before.corpus, x.after.corpus
    if before != after and x.contrast.variable.split(".")[0] != "chunker":
        return failed("INV-6", "confounded", "the corpus differs between the arms")
    broken = [text for side in x.sides for text in _during(side)]
    if broken:
        return failed("INV-6", "confounded", "; ".join(dict.fromkeys(broken)))
    what = f"corpus {before[:12]} in both arms"
    if before != after:
        what = "the chunker is the variable; the documents are the same"
    if any(side.observed is None for side in x.sides):
        return unchecked("INV-6", f"{what}; whether it changed during the run was not recorded")
    again = [_again(side) for side in x.sides]
    asked = min(a.asked for a in again)
    return passed("INV-6", f"{what}, unchanged at the end; {questions(asked)} searched again alike")


def _again(side: Side) -> SearchedAgain:
    if side.observed is None:
        return SearchedAgain()
    return side.observed.searched_again.get(side.arm.name, SearchedAgain())


def _during(side: Side) -> list[str]:
    """What did not stay the same while an arm was run."""
    found: list[str] = []
    name = side.arm.name
    if side.observed is None:
        return found
    if name in side.observed.corpora_changed:
        found.append(f"the corpus of {name} was changed during the run")
    if side.observed.inputs_changed.get(name):
        stages = ", ".join(side.observed.inputs_changed[name])
        found.append(f"files or code of {stages} changed while {name} was run")
    again = _again(side)
    if again.differ:
        found.append(
            f"the index changed during the run of {name}, or its searches cannot be repeated: "
            f"{len(again.differ)} of {questions(again.asked)} searched again got another ranking "
            f"(first: {first(again.differ, 1)})"
        )
    return found


def no_errors(x: Exhibit) -> Proof:
    """INV-7: no failures in either arm; what those do to the effect is the comparator's."""
    counts = [sum(line.error is not None for line in side.traces.values()) for side in x.sides]
    text = ", ".join(
        f"{count} error{'' if count == 1 else 's'} in {side.arm.name}"
        for count, side in zip(counts, x.sides, strict=True)
    )
    return failed("INV-7", "warn", text) if any(counts) else passed("INV-7", text)


def same_judges(x: Exhibit) -> Proof:
    """INV-8: the same judges in both arms; the runner shows them no arm's name."""
    before, after = (side.judges for side in x.sides)
    differ = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    if differ:
        return failed("INV-8", "confounded", f"judges differ between the arms: {', '.join(differ)}")
    text = f"the same {len(before)} judges and references in both arms, blind to the arm"
    return passed("INV-8", text)


def sound_scores(x: Exhibit) -> Proof | None:
    """INV-16: scores are finite and in [0, 1], with the same decodes for every question."""
    arms = [side.scores for side in x.sides]
    for scores in arms:
        for (qid, _), value in sorted(scores.items()):
            if value is not None and not (math.isfinite(value) and 0.0 <= value <= 1.0):
                return failed("INV-16", "refuse", f"score {value:g} on {qid}: scores lie in [0, 1]")
    if not any(arms):
        return None
    counts = [set(Counter(qid for qid, _ in scores).values()) for scores in arms]
    uneven = len(counts[0] | counts[1]) > 1 and x.contrast.kind != "placebo"
    if uneven or any(len(c) > 1 for c in counts):
        text = "arms and questions have different numbers of decodes: every one needs the same"
        return failed("INV-16", "refuse", text)
    decodes = f"{max(counts[0] or {0})} decode{'s' if max(counts[0] or {0}) != 1 else ''}"
    return passed("INV-16", f"every score lies in [0, 1]; {decodes} a question")


def same_evidence(x: Exhibit) -> Proof | None:
    """INV-20: the evidence a reader was shown cannot move where the context is fixed."""
    if x.contrast.kind not in FIXED_CONTEXT:
        return None
    counts = [0, 0]
    moved = set()
    for qid, pair in {b.qid: (b, a) for b, a in x.pairs}.items():
        gold = x.before.questions[qid].gold_in(x.before.corpus)
        shown = [present(gold, context_of(line, x.contexts).passages) for line in pair]
        if shown[0] != shown[1]:
            moved.add(qid)
        for place, (there, parts) in enumerate(shown):
            counts[place] += bool(parts) and there == parts
    if moved:
        return failed(
            "INV-20",
            "refuse",
            f"the evidence moved on {questions(len(moved))} in an arm whose contexts are fixed "
            f"(first: {first(moved, 1)}): impossible, so the replay is broken",
        )
    return passed("INV-20", f"all the evidence is in {counts[0]} contexts of either arm")

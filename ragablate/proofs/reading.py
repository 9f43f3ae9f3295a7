"""What is shown of the reader: that it repeats itself, that no cache answers for it, that
nothing was cut off on its way in or out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragablate.proofs.exhibit import Exhibit, Key, Side, failed, first, passed, questions, unchecked
from ragablate.records import Proof
from ragablate.traces import ContextLine, TraceLine, context_of

ENOUGH = 20
"""Fewest questions on which equal answers are too many to be chance."""
DECODES = 3
"""Fewest decodes that say something of a single question."""


def reader_repeats(x: Exhibit) -> Proof | None:
    """INV-9: what asking again changes, from the plan's placebo."""
    placebo, decodes = x.beside.placebo, x.beside.decodes
    readers = [side.arm.fingerprints["reader"] for side in x.sides]
    if placebo is None or placebo.fingerprints["reader"] not in readers:
        whom = "the reader" if placebo is None else f"reader {readers[0][:12]}"
        return unchecked("INV-9", f"{whom} was not asked again; add experiment=placebo")
    asked = _asked_again(x, placebo.name)
    if not asked:
        return unchecked("INV-9", "the placebo has no answer that control has too")
    changed = [qid for qid, (b, a) in asked.items() if b.answer != a.answer]
    if not changed:
        upper = 1 - 0.05 ** (1 / len(asked))
        return passed(
            "INV-9",
            f"asked again, 0 of {len(asked)} answers changed (95 % upper limit {upper:.1%})",
        )
    scored = sum(_score(x, asked[qid][0]) != _score(x, asked[qid][1]) for qid in changed)
    found = (
        f"asked again, {len(changed)} of {len(asked)} answers changed on identical prompts (the "
        f"score changed on {scored})"
    )
    if decodes >= DECODES:
        return passed("INV-9", f"{found}; every question was decoded {decodes} times")
    return failed(
        "INV-9",
        "warn",
        f"{found}: the cause of a single failure needs at least {DECODES} replicates; claims "
        f"about the whole set stand. {_advice(x.before)}",
    )


def _advice(side: Side) -> str:
    """What makes answers stay the same, or their changing harmless, by what the reader says."""
    several = f"or average over replicates={DECODES}"
    if _samples(side):
        return f"The reader samples: set its temperature to 0, {several}"
    return (
        "The reader does not sample by its settings, and still varies: give it a fixed seed and no "
        f"batching where it has them, {several}"
    )


def _asked_again(x: Exhibit, placebo: str) -> dict[str, tuple[TraceLine, TraceLine]]:
    control = {line.qid: line for line in _first_decodes(x.beside.traces.get("control", {}))}
    again = x.beside.traces.get(placebo, {}).values()
    return {
        line.qid: (control[line.qid], line)
        for line in sorted(again, key=lambda line: line.qid)
        if line.qid in control and line.answer is not None and control[line.qid].answer is not None
    }


def _first_decodes(traces: Mapping[Key, TraceLine]) -> Sequence[TraceLine]:
    return [line for (_, replicate), line in sorted(traces.items()) if replicate == 1]


def _score(x: Exhibit, line: TraceLine) -> float | None:
    return x.beside.scores.get(line.arm, {}).get((line.qid, line.replicate))


def replicates_apart(x: Exhibit) -> Proof:
    """INV-10: answers are shared by equal requests only, and repeats are decoded anew."""
    shared = _shared(x)
    if isinstance(shared, Proof):
        return shared
    for side in x.sides:
        repeats = _repeats(x, side)
        equal = [qid for qid, answers in repeats.items() if len(set(answers)) == 1]
        if not repeats or len(equal) < len(repeats):
            continue
        each = f"on {len(equal)}/{questions(len(repeats))} of {side.arm.name}"
        found = f"all repeated answers are byte-identical {each}, of a reader that samples"
        if len(repeats) < ENOUGH:
            return failed("INV-10", "warn", f"{found}: too few to rule out a cache")
        return failed("INV-10", "refuse", f"{found}: a cache is serving replicates")
    if x.contrast.kind == "closed_book" and _blind(x):
        return failed(
            "INV-10",
            "warn",
            f"all {x.asked} answers are the same with and without passages: a cache that knows "
            "the question alone, or a reader that ignores what it is shown",
        )
    sampling = [side.arm.name for side in x.sides if _samples(side)]
    if x.contrast.kind == "reader" and sampling and _deaf(x):
        return failed(
            "INV-10",
            "warn",
            f"all {x.asked} answers to the same prompts are byte-identical in both arms, although "
            f"{' and '.join(sampling)} sample{'s' * (len(sampling) == 1)}: a cache that knows "
            "nothing but the prompt looks the same",
        )
    return passed("INV-10", f"{shared} answers shared, each by two byte-identical requests")


def _shared(x: Exhibit) -> int | Proof:
    """How many answers both arms share; where equal requests got unequal ones, the failure."""
    before, after = (_by_request(side) for side in x.sides)
    both = before.keys() & after.keys()
    unequal = sorted(before[key].qid for key in both if before[key].answer != after[key].answer)
    if unequal:
        return failed(
            "INV-10",
            "refuse",
            f"equal requests have different answers on {questions(len(unequal))} (first: "
            f"{first(unequal, 1)}): answers were not reused as they must be",
        )
    return len(both)


def _by_request(side: Side) -> dict[tuple[object, ...], TraceLine]:
    reader = side.arm.fingerprints["reader"]
    return {
        (reader, line.prompt_digest, line.decoding.get("seed"), line.replicate): line
        for line in side.traces.values()
        if line.prompt_digest and line.error is None
    }


def _repeats(x: Exhibit, side: Side) -> dict[str, list[str]]:
    """Answers to prompts that a sampling reader was given more than once, by qid."""
    if not _samples(side):
        return {}
    found: dict[str, list[str]] = {}
    for line in side.traces.values():
        if line.answer is not None and line.prompt_digest:
            found.setdefault(line.qid, []).append(line.answer)
    if x.contrast.kind == "placebo" and side is x.after:
        # Its only decode is control's first repeat.
        for before, after in x.pairs:
            if before.answer is not None and after.qid in found:
                found[after.qid].append(before.answer)
    return {qid: answers for qid, answers in found.items() if len(answers) > 1}


def _samples(side: Side) -> bool:
    facts = side.observed.readers.get(side.arm.name) if side.observed is not None else None
    return facts is not None and facts.stochastic


def _deaf(x: Exhibit) -> bool:
    """Whether two readers say the same to the same prompts on enough questions."""
    both = [(b, a) for b, a in x.pairs if b.prompt_digest == a.prompt_digest and b.answer]
    return len({b.qid for b, _ in both}) >= ENOUGH and all(b.answer == a.answer for b, a in both)


def _blind(x: Exhibit) -> bool:
    both = [(b, a) for b, a in x.pairs if b.prompt_pids and b.answer and a.answer]
    return len({b.qid for b, _ in both}) >= ENOUGH and all(b.answer == a.answer for b, a in both)


def nothing_cut(x: Exhibit) -> Proof:
    """INV-19: whole passages in the prompt, a whole prompt read, a whole answer given."""
    found: list[str] = []
    uneven = False
    for what, cut in (
        ("answers ended by the length limit", _ended_by_length),
        ("prompts do not hold every passage in full", _not_shown),
        ("prompts of unequal length were counted as one largest number of tokens", _capped),
    ):
        before, after = (cut(x, side) for side in x.sides)
        if before or after:
            found.append(
                f"{what}: {len(before)} in {x.before.arm.name}, {len(after)} in "
                f"{x.after.arm.name} (first: {first(before | after, 1)})"
            )
            uneven |= _depends_on_arm(before, after)
    if not found:
        counted = any(
            line.usage.get("prompt_tokens") for s in x.sides for line in s.traces.values()
        )
        told = "" if counted else "; no count of prompt tokens was reported"
        return passed("INV-19", f"nothing was cut off in prompts or answers{told}")
    return failed("INV-19", "confounded" if uneven else "warn", "; ".join(found))


def _depends_on_arm(before: set[str], after: set[str]) -> bool:
    """Exact McNemar test at 0.05 on which questions were cut off."""
    from math import comb

    only = sorted((len(before - after), len(after - before)))
    m = sum(only)
    return m > 0 and 2 * sum(comb(m, j) for j in range(only[0] + 1)) <= 0.05 * 2**m


def _ended_by_length(x: Exhibit, side: Side) -> set[str]:
    return {line.qid for line in side.traces.values() if line.finish_reason == "length"}


def _not_shown(x: Exhibit, side: Side) -> set[str]:
    return set(side.observed.not_shown.get(side.arm.name, ())) if side.observed else set()


def _capped(x: Exhibit, side: Side) -> set[str]:
    """Questions whose longer and shorter contexts were counted as one same largest number.

    A model that reads no more than its window reports the window for every longer prompt.
    """
    reader = side.arm.fingerprints["reader"]
    counts = [
        (line.usage["prompt_tokens"], line)
        for each in x.sides
        for line in each.traces.values()
        if each.arm.fingerprints["reader"] == reader
        and line.usage.get("prompt_tokens")
        and line.context_digest in x.contexts
    ]
    most = max((tokens for tokens, _ in counts), default=0)
    at_most = {line.context_digest: line for tokens, line in counts if tokens == most}
    lengths = [_characters(line, x.contexts) for line in at_most.values()]
    if len(at_most) < DECODES or max(lengths) < 1.1 * min(lengths):
        return set()
    return {line.qid for tokens, line in counts if tokens == most and line.arm == side.arm.name}


def _characters(line: TraceLine, contexts: Mapping[str, ContextLine]) -> int:
    return sum(len(p.text) for p in context_of(line, contexts).passages)

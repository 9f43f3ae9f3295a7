"""What is shown of how the reader was asked: both arms in one shuffled order."""

from __future__ import annotations

from collections.abc import Sequence

from ragablate.observed import AskedAgain
from ragablate.proofs.exhibit import Exhibit, Side, failed, passed, unchecked
from ragablate.records import Proof
from ragablate.seeds import derive
from ragablate.traces import TraceLine

APART = 0.25
"""How far the order in which answers came may be from the shuffled one, as the share of pairs
of answers, one of each arm, that the treatment's comes first in."""


def interleaved(x: Exhibit) -> Proof:
    """INV-15: nothing that drifts with time can line up with an arm.

    Answers of a model elsewhere must have come in the plan's shuffled order. Those that an
    earlier plan asked for came before all others, and then the arms stand apart in time.
    """
    changed = _models(x) or _drifted(x)
    if changed:
        return changed
    if any(side.observed is None for side in x.sides):
        return unchecked("INV-15", "in which order the reader was asked was not recorded")
    remote = [_remote(side) for side in x.sides]
    if not all(remote):
        what = "only one arm asks" if any(remote) else "no arm asks"
        return passed("INV-15", f"{what} a model elsewhere: no drift can line up with an arm")
    before, after = _own(x.before, x.after), _own(x.after, x.before)
    if not before or not after:
        return passed("INV-15", "an arm has no answers of its own")
    if any(line.timestamp is None for line in (*before, *after)):
        return unchecked("INV-15", "when the answers came was not recorded")
    came = _treatment_first([str(b.timestamp) for b in before], [str(a.timestamp) for a in after])
    meant = _treatment_first(_order(x.before, before), _order(x.after, after))
    if abs(came - meant) > APART:
        early, late = x.contrast.control, x.contrast.treatment
        if came > meant:
            early, late = late, early
        return failed(
            "INV-15",
            "warn",
            f"the answers of {early} came before those of {late}, not in one shuffled order; the "
            "model may have changed in between: ask again in an outputs folder of its own",
        )
    again = max((a.asked for a in _again(x).values()), default=0)
    told = f"; {again} stored ones came out the same again" if again else ""
    return passed("INV-15", f"the answers of both arms came in one shuffled order{told}")


def _models(x: Exhibit) -> Proof | None:
    """Another model name under one reader: the server replaced it."""
    by_reader: dict[str, set[str]] = {}
    for side in x.sides:
        names = {line.model for line in side.traces.values() if line.model}
        by_reader.setdefault(side.arm.fingerprints["reader"], set()).update(names)
    for names in by_reader.values():
        if len(names) > 1:
            text = f"the model changed during the plan: {', '.join(sorted(names))}"
            return failed("INV-15", "confounded", text)
    return None


def _drifted(x: Exhibit) -> Proof | None:
    """What came of answers stored by an earlier plan when they were asked for once more."""
    for again in _again(x).values():
        if len(again.models) > 1:
            names = ", ".join(sorted(again.models))
            text = f"answers stored by an earlier plan are of another model: {names}"
            return failed("INV-15", "confounded", text)
    for arm, again in _again(x).items():
        if not again.differ:
            continue
        what = (
            f"{len(again.differ)} of {again.asked} answers of {arm}'s reader that an earlier plan "
            f"stored came out differently when they were asked for again (first: "
            f"{again.differ[0]}); "
        )
        side = next(s for s in x.sides if s.arm.name == arm)
        facts = side.observed.readers.get(arm) if side.observed is not None else None
        why = (
            "the reader samples, so whether the model changed meanwhile cannot be told"
            if facts is not None and facts.stochastic
            else "the model may have changed meanwhile, or its answers are not repeatable"
        )
        return failed(
            "INV-15", "warn", f"{what}{why}: ask everything again in an outputs folder of its own"
        )
    return None


def _again(x: Exhibit) -> dict[str, AskedAgain]:
    sides = [(side, side.observed) for side in x.sides if side.observed is not None]
    found = {side.arm.name: seen.asked_again.get(side.arm.name) for side, seen in sides}
    return {arm: again for arm, again in found.items() if again is not None and again.asked}


def _remote(side: Side) -> bool:
    facts = side.observed.readers.get(side.arm.name) if side.observed is not None else None
    return facts is not None and facts.remote


def _own(side: Side, other: Side) -> list[TraceLine]:
    """Answers that the other arm does not share."""
    shared = {_request(other, line) for line in other.traces.values()}
    return [
        line
        for _, line in sorted(side.traces.items())
        if line.answer is not None and line.prompt_digest and _request(side, line) not in shared
    ]


def _request(side: Side, line: TraceLine) -> str:
    """What an answer is stored under, which its place in the shuffled order depends on."""
    reader = side.arm.fingerprints["reader"]
    return f"{reader}/{line.prompt_digest}:{line.decoding.get('seed')}:{line.replicate}"


def _order(side: Side, lines: Sequence[TraceLine]) -> list[int]:
    seed = side.observed.decoding_seed if side.observed is not None else 0
    return [derive(seed, "order", _request(side, line)) for line in lines]


def _treatment_first(before: Sequence[str | int], after: Sequence[str | int]) -> float:
    """Share of pairs, one of each arm, in which the treatment's is smaller; ties count half."""
    merged = sorted([*((value, 0) for value in before), *((value, 1) for value in after)])
    wins, seen, start = 0.0, 0, 0
    while start < len(merged):
        end = start
        while end < len(merged) and merged[end][0] == merged[start][0]:
            end += 1
        treated = sum(arm for _, arm in merged[start:end])
        controls = end - start - treated
        wins += controls * (seen + treated / 2)
        seen, start = seen + treated, end
    return wins / (len(before) * len(after))

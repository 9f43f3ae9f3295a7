"""Moves between failure buckets: did a change reduce failures, or rename them?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragablate.compare.inference.intervals import mean_interval
from ragablate.compare.inference.multiplicity import holm
from ragablate.compare.inference.randomization import SignFlip, sign_flip
from ragablate.compare.inference.states import Decision, decide
from ragablate.compare.numbers import between, confidence_text, count, margin_text, p_text, signed
from ragablate.errors import EvidenceError
from ragablate.records import Interval

OK = "ok"
"""The bucket of answers that did not fail."""


@dataclass(frozen=True, slots=True)
class Swap:
    """Questions that moved between two failure buckets, both ways."""

    source: str
    """The bucket most of them left."""
    target: str
    """The bucket most of them came to."""
    there: int
    """From source to target."""
    back: int
    """From target to source."""
    p: float
    """Exact sign-flip test of there against back."""
    p_adjusted: float
    """After Holm, over the pairs of buckets with any move."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What became of every question's bucket; a description of two logs, not a cause."""

    n: int
    """Questions in both."""
    counts: Mapping[tuple[str, str], int]
    """How many went from one bucket (before) to one (after); those that stayed included."""
    fixed: int
    """From a failure to OK."""
    broken: int
    """From OK to a failure."""
    moved: int
    """From one failure bucket to another."""
    change: float
    """Failure rate after minus before."""
    ci95: Interval
    """Of ``change``, at 1 - alpha."""
    ci90: Interval
    """Of ``change``, at 1 - 2 alpha: what shows that it is flat."""
    p: float
    """Of ``change``."""
    decision: Decision
    """The state of ``change``: *down* means fewer failures."""
    swaps: tuple[Swap, ...]
    """Pairs of failure buckets with any move, the largest net move first."""
    verdict: str
    """In a few words."""
    sentence: str
    """With the numbers."""


def moves(
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    margin: float = 0.05,
    alpha: float = 0.05,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
) -> Moves:
    """Compare the failure buckets of the same questions before and after a change.

    1. A net reduction or increase that is detected is called that.
    2. A total that is flat, with one pair of failure buckets whose moves there and back
       differ (exact, Holm over the pairs with any move): the problem was *renamed*.
    3. A total that is flat, with some fixed and some broken: *traded*.
    4. A total that is not decided is said to be so, and nobody is accused.

    Args:
        before: Bucket of each qid; ``ok`` where the answer did not fail.
        after: The same for the changed pipeline.
        margin: Smallest difference of the failure rate that matters.
        alpha: Level of the tests.
        clusters: Cluster of each question, in the order of its sorted qids.
        seed: Of the sign flips, where there are too many to count.

    Raises:
        EvidenceError: The two hold different questions, or fewer than two.
    """
    qids = _same(before, after)
    pairs = [(before[qid], after[qid]) for qid in qids]
    change = [float(b != OK) - float(a != OK) for a, b in pairs]
    flip = sign_flip(change, clusters=clusters, seed=seed)
    ci95, ci90 = (
        mean_interval(change, clusters=clusters, confidence=1 - tails * alpha) for tails in (1, 2)
    )
    found = Moves(
        n=len(qids),
        counts=dict(sorted(Counter(pairs).items())),
        fixed=sum(a != OK and b == OK for a, b in pairs),
        broken=sum(a == OK and b != OK for a, b in pairs),
        moved=sum(a != b and OK not in (a, b) for a, b in pairs),
        change=sum(change) / len(qids),
        ci95=ci95,
        ci90=ci90,
        p=flip.p,
        decision=_decision(flip, ci95, ci90, margin, alpha, len(qids)),
        swaps=_swaps(pairs, clusters, seed),
        verdict="",
        sentence="",
    )
    return _told(found, margin, alpha)


def _same(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    if set(before) != set(after):
        lone = sorted(set(before) ^ set(after))
        raise EvidenceError(
            f"the two hold different questions ({count(len(lone), 'qid')} in one only, such as "
            f"'{lone[0]}'): compare the same questions before and after."
        )
    if len(before) < 2:
        raise EvidenceError("moves between buckets need at least two questions.")
    return sorted(before)


def _decision(
    flip: SignFlip, ci95: Interval, ci90: Interval, margin: float, alpha: float, n: int
) -> Decision:
    return decide(
        ci95=ci95,
        ci90=ci90,
        p_adjusted=flip.p,
        changed=flip.changed,
        margin=margin,
        n=n,
        alpha=alpha,
        clusters_changed=flip.clusters_changed,
    )


def _swaps(
    pairs: Sequence[tuple[str, str]], clusters: Sequence[str] | None, seed: int
) -> tuple[Swap, ...]:
    """Every unordered pair of failure buckets with a move, tested both ways at once."""
    counted = Counter(pair for pair in pairs if pair[0] != pair[1] and OK not in pair)
    names = sorted({(min(pair), max(pair)) for pair in counted})
    ps = []
    for one, other in names:
        signs = {(one, other): 1.0, (other, one): -1.0}
        ps.append(sign_flip([signs.get(p, 0.0) for p in pairs], clusters=clusters, seed=seed).p)
    found = []
    for (one, other), p, adjusted in zip(names, ps, holm(ps), strict=True):
        source, target = max(((one, other), (other, one)), key=lambda pair: counted[pair])
        found.append(
            Swap(source, target, counted[source, target], counted[target, source], p, adjusted)
        )
    return tuple(sorted(found, key=lambda s: (s.back - s.there, s.source, s.target)))


# ── the verdict ─────────────────────────────────────────────────────────────────────────


def _told(found: Moves, margin: float, alpha: float) -> Moves:
    verdict, text = _verdict(found, margin, alpha)
    tail = (
        f" Failure rate {signed(found.change)} ({confidence_text(found.ci95)} "
        f"{between(found.ci95)}; p = {p_text(found.p)}): "
        f"fixed {found.fixed}, broke {found.broken}, moved {found.moved} of "
        f"{count(found.n, 'question')}."
    )
    return Moves(
        **{name: getattr(found, name) for name in Moves.__slots__[:-2]},
        verdict=verdict,
        sentence=text + tail,
    )


def _verdict(found: Moves, margin: float, alpha: float) -> tuple[str, str]:
    state = found.decision.state
    if state == "down":
        return "failures reduced", f"Fewer failures{_where(found, fixed=True)}."
    if state == "up":
        return "failures increased", f"More failures{_where(found, fixed=False)}."
    within = f"the total is unchanged within {margin_text(margin)}"
    if state == "flat":
        named = [s for s in found.swaps if s.p_adjusted <= alpha and s.there > s.back]
        if named:
            what = "; ".join(f"{s.there - s.back} from {s.source} to {s.target}" for s in named)
            return "renamed the problem", f"Failures moved, net {what}; {within}."
        if found.fixed and found.broken:
            fixed, broken = _where(found, fixed=True), _where(found, fixed=False)
            return "traded", (
                f"Fixed {found.fixed}{fixed}, broke {found.broken}{broken}; {within}."
            )
        return "unchanged", f"As many failures as before; {within}."
    if found.moved:
        net = found.fixed - found.broken
        return (
            "total not decided",
            f"Moved {found.moved} between failure buckets, net {net:+d} fixed; whether the "
            "total changed is not decided.",
        )
    return "not enough evidence", "Whether the number of failures changed is not decided."


def _where(found: Moves, *, fixed: bool) -> str:
    """The bucket most fixed questions came from, or most broken ones went to."""
    counts: Counter[str] = Counter()
    for (source, target), n in found.counts.items():
        if source != target and OK in (source, target) and (target == OK) == fixed:
            counts[source if fixed else target] += n
    if not counts:
        return ""
    bucket, n = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return f" (most of them {bucket}: {n})"

"""F8: questions of several parts of which the evidence of some did not arrive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import CUT, PARTIAL
from ragablate.diagnose.guide.finding import Evidence
from ragablate.logs.entry import pid_of

_QUOTED = 160


def partial(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """What of the gold is in the context and what is not, part by part."""
    for case in cases:
        if case.label == PARTIAL:
            yield _evidence(case, known)


def _evidence(case: Case, known: Known) -> Evidence:
    shown = frozenset(case.entry.shown or ())
    seen = frozenset([*case.ranked, *(case.entry.candidates or ())])
    told = list(zip(case.parts, case.arrived, strict=True))
    there = [next(p for p in part if p in shown) for part, arrived in told if arrived]
    gone = [part for part, arrived in told if not arrived]
    cut = [p for part in gone for p in part if p in seen]
    never = [part[0] for part in gone if seen.isdisjoint(part)]
    says = f"in the context: {_list(there)}; not in it: " + _list(
        [*never, *(f"{p} (found, and cut)" for p in cut)]
    )
    missing = [*never, *cut]
    own = {pid_of(text): text for text in case.entry.gold_texts}
    texts = (known.text(pid) or own.get(pid, "") for pid in missing)
    return Evidence(
        (case.qid,), says, (*dict.fromkeys(there), *missing),
        {"recall": round(sum(case.arrived) / len(case.parts), 4), "cut": float(len(cut))},
        tuple(text[:_QUOTED] for text in texts if text),
    )  # fmt: skip


def _list(pids: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(pids))


def cut_away(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Gold that was found and did not reach the prompt, with where it stood."""
    for case in cases:
        if case.label != CUT:
            continue
        seen = [pid for pid in case.ranked if pid in case.gold]
        candidates = list(case.entry.candidates or ())
        ranks = {"rank": float(case.ranked.index(seen[0]) + 1)} if seen else {}
        earlier = [pid for pid in candidates if pid in case.gold]
        if earlier:
            ranks["candidate_rank"] = float(candidates.index(earlier[0]) + 1)
        where = "the ranking" if seen else "the candidates before the reranker"
        pids = tuple(seen or earlier)
        yield Evidence((case.qid,), f"{pids[0]} is in {where} and not in the prompt", pids, ranks)

"""Where answers failed by the logs of a bundle, and how failures moved between its arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ragablate.bundle.read import Bundle
from ragablate.compare.moves import Moves, moves
from ragablate.diagnose import BUCKETS
from ragablate.diagnose.traversal import OK
from ragablate.report.escape import code, inline
from ragablate.report.tables import Column, Table, pipes
from ragablate.report.transitions import by_bucket

TITLE = "## Where failures surfaced, by the logs"
"""Title of the section."""

_ARMS_SHOWN = 6
_INTRO = (
    "Questions by the first of their decodes that failed. Where a failure surfaced is an "
    "observation: two faults can end in the same place, and a log cannot tell them apart."
)


def surfaced(bundle: Bundle) -> dict[str, dict[str, str]]:
    """By arm and qid, where the first failed decode surfaced; ``ok`` where none failed.

    An answer that was not judged is in none.
    """
    found: dict[str, dict[str, str]] = {}
    for arm in bundle.arms:
        by_decode = by_bucket(bundle, arm, bundle.headline)
        own: dict[str, str] = {}
        for (qid, _), name in sorted(by_decode.items(), key=lambda item: item[0][1]):
            if own.get(qid, OK) == OK:
                own[qid] = name
        found[arm] = dict(sorted(own.items()))
    return found


def section(bundle: Bundle) -> str:
    """The section of ``report.md``, a row a bucket; empty where nothing failed."""
    by_arm = surfaced(bundle)
    counts = {arm: Counter(found.values()) for arm, found in by_arm.items()}
    shown = list(counts)[:_ARMS_SHOWN]
    named = [b for b in BUCKETS if any(counts[arm][b] for arm in shown)]
    if all(name == OK for name in named):
        return ""
    columns = (Column("surfaced at"), *(Column(code(arm), right=True) for arm in shown))
    rows = tuple((inline(b), *(f"{counts[arm][b]:,}" for arm in shown)) for b in named)
    rest = len(counts) - len(shown)
    more = f"\n\n{rest} more arms are in `diagnosis.json`." if rest else ""
    moved = [_moved(arm, found) for arm, found in moved_from_control(bundle, by_arm).items()]
    listed = "\n".join(moved)
    return f"{TITLE}\n\n{_INTRO}\n\n{pipes(Table(columns, rows))}{more}\n\n{listed}".rstrip()


def _moved(arm: str, found: Moves) -> str:
    return f"- control → {code(arm)}: **{inline(found.verdict)}**. {inline(found.sentence)}"


def moved_from_control(bundle: Bundle, found: Mapping[str, Mapping[str, str]]) -> dict[str, Moves]:
    """By arm, what became of control's failures on the questions that both were judged on.

    Args:
        bundle: The bundle.
        found: What ``surfaced`` says of it.
    """
    control, *others = found
    made: dict[str, Moves] = {}
    for arm in others:
        qids = sorted(found[control].keys() & found[arm].keys())
        if len(qids) > 1:
            made[arm] = _between(bundle, found[control], found[arm], qids)
    return made


def _between(
    bundle: Bundle, before: Mapping[str, str], after: Mapping[str, str], qids: list[str]
) -> Moves:
    keys = [bundle.questions[qid].cluster for qid in qids]
    declared: tuple[Any, ...] = (*bundle.analyses, *bundle.contrasts)
    return moves(
        {qid: before[qid] for qid in qids},
        {qid: after[qid] for qid in qids},
        margin=declared[0].margin if declared else 0.05,
        alpha=bundle.plan["level"],
        clusters=keys if len(set(keys)) < len(keys) else None,
        seed=bundle.plan["seed"],
    )


def diagnosis(bundle: Bundle) -> dict[str, Any]:
    """The content of ``diagnosis.json``: buckets by arm and question, and the moves."""
    by_arm = surfaced(bundle)
    return {
        "measure": bundle.headline,
        "buckets": by_arm,
        "moves": {
            arm: {
                "verdict": found.verdict,
                "sentence": found.sentence,
                "counts": [[a, b, n] for (a, b), n in found.counts.items()],
            }
            for arm, found in moved_from_control(bundle, by_arm).items()
        },
    }

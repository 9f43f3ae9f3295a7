"""What stands beside a ladder's losses: logs, evidence enough or needed, refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ragablate.compare.ladder_logs import (
    CORRECT_REFUSALS,
    INDUCED,
    NECESSITY,
    NONE,
    PREVENTED,
    SUFFICIENCY,
    SUFFICIENCY_IN_LOG,
    UNPROMPTED,
)
from ragablate.compare.ladder_sentences import Ladder, listed
from ragablate.compare.numbers import count, percent
from ragablate.records import Agreement, Share


def logs(ladder: Ladder) -> tuple[str, ...]:
    """What the logs alone say, beside what the repairs show."""
    found = []
    if ladder.case.study.buckets and ladder.agreement:
        by_bucket, by_rung = (_counted(ladder.agreement, side) for side in ("bucket", "rung"))
        total = sum(row.questions for row in ladder.agreement)
        found.append(
            f"By the log alone the {count(total, 'failure')} surfaced as: {by_bucket}. What "
            f"fixed them first: {by_rung}."
        )
    share = ladder.share(SUFFICIENCY_IN_LOG)
    if share is not None:
        found.append(
            f"Of the {count(share.of, _asked(ladder))} whose log says retrieval, supplying the "
            f"gold fixed {share.count} (PS = {share.count}/{share.of}){_again(share)}."
        )
    elif found:
        found.append("No log of a failure says retrieval.")
    return tuple(found)


def _counted(rows: Sequence[Agreement], side: str) -> str:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row.bucket if side == "bucket" else row.rung] += row.questions
    words = {NONE: "nothing"}
    return ", ".join(f"{words.get(name, name)} ({n})" for name, n in counts.most_common())


def _asked(ladder: Ladder) -> str:
    return "question" if ladder.climbed.replicates == 1 else "decode"


def _again(share: Share) -> str:
    if not share.placebo:
        return ""
    return f", where merely asking again turned {percent(share.placebo)}"


def evidence(ladder: Ladder) -> Iterator[str]:
    """Whether the evidence is enough, and whether it is needed."""
    enough, needed = ladder.share(SUFFICIENCY), ladder.share(NECESSITY)
    asked = _asked(ladder)
    if enough is not None:
        yield (
            f"Of the {count(enough.of, f'wrong {asked}')} that lacked evidence, supplying it alone "
            f"turned {enough.count} right (PS = {enough.count}/{enough.of}){_again(enough)}."
        )
    if needed is not None:
        yield (
            f"Of the {count(needed.of, f'right {asked}')} that had all the evidence, taking it "
            f"away turned {needed.count} wrong (PN = {needed.count}/{needed.of}){_again(needed)}."
        )


def unanswerables(ladder: Ladder) -> tuple[str, ...]:
    """What happens where the right answer is to abstain, never pooled with the rest."""
    right = ladder.share(CORRECT_REFUSALS)
    if right is None:
        return ()
    parts = [f"control abstains on {right.count}"]
    wording = {
        INDUCED: "invents an answer on {} only because of its context",
        UNPROMPTED: "invents one on {} even without any context",
        PREVENTED: "is kept from inventing one by its gate on {}",
    }
    parts += [
        text.format(share.count)
        for name, text in wording.items()
        if (share := ladder.share(name)) is not None
    ]
    induced = ladder.share(INDUCED)
    owner = (
        " That is for the reader's instruction or a gate to mend, not for retrieval."
        if induced is not None and induced.count
        else ""
    )
    return (
        f"On {count(right.of, f'unanswerable {_asked(ladder)}')}, where the right answer is to "
        f"abstain and which count apart, {listed(parts)}.{owner}",
    )

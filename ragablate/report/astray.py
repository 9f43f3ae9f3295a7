"""Wrong answers that were taken from passages without gold, as counts, and those passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ragablate.bundle.read import Bundle
from ragablate.judge.distractor import WRONG_PASSAGE
from ragablate.records import Verdict
from ragablate.report.escape import code
from ragablate.report.tables import NOTHING, Column, Table, pipes

TITLE = "Grounded in the wrong passage"
"""Title of the section."""

INTRO = (
    "Decodes that were wrong and say what a passage of the context without gold says, of those "
    "that were traced. The passages that misled most are named."
)
"""How to read it."""

_NAMED = 3
_COLUMNS = (Column("arm"), Column("taken from another passage", right=True), Column("passages"))


def misled(bundle: Bundle) -> Table | None:
    """A row per arm; ``None`` where no judge traced wrong answers."""
    return _table(bundle, str)


def section(bundle: Bundle) -> str:
    """The table as a section in Markdown; empty where there is none."""
    table = _table(bundle, code)
    return f"## {TITLE}\n\n{INTRO}\n\n{pipes(table)}" if table is not None else ""


def _table(bundle: Bundle, named: Callable[[str], str]) -> Table | None:
    own = {
        arm: [v for v in bundle.verdicts.get(arm, ()) if v.measure == WRONG_PASSAGE]
        for arm in bundle.arms
    }
    if not any(v.value is not None for verdicts in own.values() for v in verdicts):
        return None
    rows = ((named(arm), _count(own[arm]), _passages(own[arm], named)) for arm in own)
    return Table(_COLUMNS, tuple(rows))


def _count(verdicts: Sequence[Verdict]) -> str:
    traced = [v.value for v in verdicts if v.value is not None]
    return f"{sum(traced):,.0f} of {len(traced):,}" if traced else NOTHING


def _passages(verdicts: Sequence[Verdict], named: Callable[[str], str]) -> str:
    """The passages behind most wrong answers, each counted once an answer; ties by pid."""
    found = Counter(pid for v in verdicts if v.value for pid in {c.pid for c in v.claims})
    most = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    said = [f"{named(pid)} ({times})" for pid, times in most[:_NAMED]]
    others = len(most) - len(said)
    return ", ".join([*said, *([f"{others:,} more"] if others else [])]) or NOTHING

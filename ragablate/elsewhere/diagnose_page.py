"""What was found in a log, on a terminal page and as one JSON object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragablate.bundle.read import load
from ragablate.codec import plain
from ragablate.compare.moves import Moves
from ragablate.compare.numbers import percent
from ragablate.diagnose.guide import Guided
from ragablate.diagnose.tiers import TierReport
from ragablate.elsewhere.guide_page import print_guided
from ragablate.elsewhere.shaping import Shaped
from ragablate.elsewhere.sorting import Diagnosis, Sorted
from ragablate.elsewhere.stages import Stages, print_shapes, print_stages
from ragablate.elsewhere.tiered import print_tiers
from ragablate.report.moves_page import print_moves
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table

_SHOWN = 5


@dataclass
class Found:
    """What was found in one log, and in a second one of the same questions."""

    log: Diagnosis
    """Sorted."""
    stages: Stages
    """Side by side."""
    guide: Guided
    """What the field guide says of failed answers."""
    after: Diagnosis | None = None
    """The second log, sorted."""
    moves: Moves | None = None
    """What became of each failure."""
    shapes: Shaped | None = None
    """How the stages moved."""
    tiers: TierReport | None = None
    """What is suspected by tiers."""


def as_object(found: Found) -> dict[str, object]:
    """Everything, as JSON can hold it."""
    said: dict[str, object] = {"stages": plain(found.stages), "guide": plain(found.guide)}
    said["diagnosis" if found.after is None else "before"] = plain(found.log)
    if found.moves is not None:
        said |= {"after": plain(found.after), "moves": moves_object(found.moves)}
        said["shapes"] = plain(found.shapes)
    if found.tiers is not None:
        said["tiers"] = found.tiers.to_dict()
    return said


def show(page: Page, found: Found, log: Path, after: Path | None, evidence: int) -> None:
    """Everything, on a page.

    Args:
        page: What is printed on.
        found: What was found.
        log: The log, or the bundle.
        after: The second one.
        evidence: Pieces of evidence shown of a finding of the guide.
    """
    _print(page, str(log), found.log)
    print_stages(page, found.stages)
    print_guided(page, found.guide, evidence)
    if found.after is not None and found.moves is not None:
        _print(page, str(after), found.after)
        print_moves(page, "Before and after", found.moves)
        if found.shapes is not None:
            print_shapes(page, found.shapes)
    if found.tiers is not None:
        print_tiers(page, found.tiers)
    _agreement(page, log)


def _print(page: Page, name: str, found: Diagnosis) -> None:
    page.heading(f"{name}: where answers failed, by the log alone")
    failed = sum(len(one.qids) for one in found.failures)
    judged = f"{found.ok:,} OK, {failed:,} failed" if found.judged else f"{failed:,} sorted"
    page.line(page.text(f"{found.questions:,} questions: {judged}."))
    columns = (
        Column("surfaced at"),
        Column("questions", right=True),
        Column("share", right=True),
        Column("severity"),
        Column("such as", expendable=1),
    )
    rows = tuple(
        (
            one.bucket,
            f"{len(one.qids):,}",
            percent(len(one.qids) / failed),
            _suffered(one),
            ", ".join(one.qids[:_SHOWN]) + (", …" if len(one.qids) > _SHOWN else ""),
        )
        for one in found.failures
    )
    if rows:
        page.table(Table(columns, rows))
    for one in found.failures:
        if one.experiment:
            page.bullet(page.text(f"{one.bucket}: suspected, not proven. To prove it: ragablate "
                                  f"run {one.experiment}. If it is so: {one.fix}."))  # fmt: skip
        elif one.fix:
            page.bullet(page.text(f"{one.bucket}: {one.fix}."))
    for note in found.notes:
        page.line(page.text(note))


def _suffered(one: Sorted) -> str:
    """The severities of a bucket; a count where there are several."""
    several = len(one.severities) > 1
    said = [f"{s or '–'} {n:,}" if several else s or "–" for s, n in one.severities.items()]
    return ", ".join(said)


def _agreement(page: Page, path: Path) -> None:
    """Over a bundle whose ladder was run: what the logs say against what repairs showed."""
    if not path.is_dir():
        return
    from ragablate.compare import compare

    study = load(path).study()
    if not any(analysis.kind == "ladder" for analysis in study.analyses):
        return
    for result in compare(study).analyses:
        if not result.agreement:
            continue
        page.heading("By the log, and by intervention: which repair was the first to turn it right")
        rungs = list(dict.fromkeys(row.rung for row in result.agreement))
        buckets = list(dict.fromkeys(row.bucket for row in result.agreement))
        counts = {(row.bucket, row.rung): row.questions for row in result.agreement}
        columns = (Column("surfaced at"), *(Column(rung, right=True) for rung in rungs))
        rows = tuple(
            (name, *(f"{counts.get((name, rung), 0):,}" for rung in rungs)) for name in buckets
        )
        page.table(Table(columns, rows))


def moves_object(moved: Moves) -> dict[str, object]:
    """Moves, as JSON can hold them."""
    counts = [[before, after, n] for (before, after), n in moved.counts.items()]
    return {"verdict": moved.verdict, "sentence": moved.sentence, "counts": counts}

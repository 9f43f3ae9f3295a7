"""``ragablate diagnose LOG``: where failures surfaced, how bad that is, and what would prove it."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ragablate.bundle.read import load
from ragablate.codec import plain
from ragablate.compare.moves import Moves
from ragablate.compare.numbers import percent
from ragablate.diagnose.facts import Facts
from ragablate.diagnose.guide import Guided
from ragablate.diagnose.marking import Markers
from ragablate.elsewhere.buckets import moves_between
from ragablate.elsewhere.guide_page import print_guided
from ragablate.elsewhere.guiding import GuideBook, add_guide_options
from ragablate.elsewhere.settings import Settings, settings
from ragablate.elsewhere.sorting import Diagnosis, Sorted, collected, sort
from ragablate.elsewhere.tiered import add_tier_options, print_tiers, tiers
from ragablate.embed.progress import progress
from ragablate.errors import DatasetError
from ragablate.logs import FORMATS, LogStream, read_problems
from ragablate.report.page import Page
from ragablate.report.tables import Column, Table

_SHOWN = 5


def diagnose_command(arguments: Sequence[str]) -> int:
    """Sort a log, or two and what moved between them.

    Raises:
        DatasetError: A log cannot be read.
        EvidenceError: Two logs share fewer than two questions.
    """
    try:
        asked = _parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    how = settings(asked)
    book = GuideBook(asked, how)
    before = sort(_facts(asked.log, asked, how, book), how.supported)
    guide = book.look(_log_of(asked.log, asked.arm), before)
    after = None if asked.after is None else sort(_facts(asked.after, asked, how), how.supported)
    moved = None if after is None else moves_between(
        before.buckets, after.buckets, asked.margin
    )  # fmt: skip
    tiered = tiers(_log_of(asked.log, asked.arm), asked, how) if asked.tiers else None
    if asked.json:
        said = {"before" if after else "diagnosis": plain(before), "guide": plain(guide)}
        if after is not None and moved is not None:
            said |= {"after": plain(after), "moves": _moves(moved)}
        if tiered is not None:
            said["tiers"] = tiered.to_dict()
        print(json.dumps(said, ensure_ascii=False, sort_keys=True))
    elif asked.csv:
        sys.stdout.write(_csv(before, guide))
    else:
        page = Page()
        _print(page, str(asked.log), before)
        print_guided(page, guide, book.cuts.shown)
        if after is not None and moved is not None:
            _print(page, str(asked.after), after)
            _print_moves(page, moved)
        if tiered is not None:
            print_tiers(page, tiered)
        _agreement(page, asked.log)
    return 0


def _facts(
    path: Path, asked: argparse.Namespace, how: Settings, book: GuideBook | None = None
) -> Facts:
    file = _log_of(path, asked.arm)
    problems = read_problems(str(file), how.format, how.fields, "diagnose")
    if problems:
        raise DatasetError(problems)
    with progress("bytes read", file.stat().st_size) as watch:
        log = LogStream(str(file), how.format, how.fields, asked.keep_going, watch)
        read = log if book is None else book.counted(log)
        return collected(read, how.all_phrases, Markers(how.markers), how.measure)


def _log_of(path: Path, arm: str) -> Path:
    """The log itself, or that of an arm of a bundle."""
    if not path.is_dir():
        return path
    from ragablate.bundle.write import arm_folder

    name = arm or next(iter(load(path).arms))
    return path / "arms" / arm_folder(name) / "traces.jsonl"


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


def _print_moves(page: Page, moved: Moves) -> None:
    page.heading("Before and after")
    page.line(page.text(f"{moved.verdict}: {moved.sentence}"))
    befores = sorted({before for before, _ in moved.counts})
    afters = sorted({after for _, after in moved.counts})
    columns = (Column("before \\ after"), *(Column(after, right=True) for after in afters))
    rows = tuple(
        (before, *(f"{moved.counts.get((before, after), 0):,}" for after in afters))
        for before in befores
    )
    page.table(Table(columns, rows))


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


def _csv(found: Diagnosis, guide: Guided) -> str:
    from ragablate.report.export import cell

    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(("qid", "bucket", "severity", "experiment", "fix", "guide", "modes"))
    labels = {qid: label for label, qids in guide.labels.items() for qid in qids}
    for one in found.failures:
        for qid in one.qids:
            modes = dict.fromkeys(f.mode for f in guide.findings if qid in f.qids)
            row = (qid, one.bucket, one.severity, one.experiment, one.fix, labels.get(qid, ""),
                   " ".join(modes))  # fmt: skip
            writer.writerow([cell(value) for value in row])
    return written.getvalue()


def _moves(moved: Moves) -> dict[str, object]:
    counts = [[before, after, n] for (before, after), n in moved.counts.items()]
    return {"verdict": moved.verdict, "sentence": moved.sentence, "counts": counts}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ragablate diagnose",
        description="Sort a log's failures by where they surfaced, say how bad each is, and name "
        "the experiment that would prove it. Nothing here says what brought a failure about.",
    )
    add = parser.add_argument
    add("log", type=Path, metavar="LOG", help="a log in any known format, or a bundle")
    add("--after", type=Path, metavar="LOG", help="the same questions after a change")
    add("--arm", default="", help="which arm of a bundle (control)")
    add("--settings", type=Path, metavar="YAML", help="how this log is to be read, in a file")
    add("--format", choices=FORMATS)
    add("--field", action="append", default=[], metavar="OURS=YOURS", help="name of a field")
    add("--phrase", action="append", default=[], help="what counts as declining, besides ours")
    add(
        "--marker",
        action="append",
        default=[],
        metavar="[{n}]",
        help="how answers cite: {n} in the prompt, {pid} or {page}; none, if they do not",
    )
    add("--supported", type=float, help="share of supported claims of a supported answer (0.8)")
    add("--measure", help="the verdict that says whether an answer failed")
    add("--margin", type=float, default=0.05, help="smallest change of the failure rate")
    add("--keep-going", action="store_true", help="leave out broken lines, and count them")
    add_tier_options(parser)
    add_guide_options(parser)
    add("--json", action="store_true", help="print one JSON object")
    add("--csv", action="store_true", help="print one row a failed question")
    return parser

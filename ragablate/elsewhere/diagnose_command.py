"""``ragablate diagnose LOG``: where failures surfaced, how bad that is, and what would prove it."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ragablate.bundle.read import load
from ragablate.diagnose.facts import Facts
from ragablate.diagnose.guide import Guided
from ragablate.diagnose.marking import Markers
from ragablate.elsewhere.buckets import moves_between
from ragablate.elsewhere.bundle_entries import log_of, with_verdicts
from ragablate.elsewhere.diagnose_page import Found, as_object, show
from ragablate.elsewhere.guiding import GuideBook, add_guide_options
from ragablate.elsewhere.settings import Settings, settings
from ragablate.elsewhere.shaping import shaped
from ragablate.elsewhere.sorting import Diagnosis, collected, sort, standing
from ragablate.elsewhere.stages import stages
from ragablate.elsewhere.tiered import add_tier_options, tiers
from ragablate.embed.progress import progress
from ragablate.errors import DatasetError
from ragablate.logs import FORMATS, Entry, LogStream, read_problems
from ragablate.report.page import Page


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
    facts = _facts(asked.log, asked, how, book)
    before = sort(facts, how.supported)
    guide = book.look(asked.log, asked.arm, before)
    found = Found(before, stages(facts, how.supported), guide)
    if asked.after is not None:
        later = _facts(asked.after, asked, how)
        found.after = sort(later, how.supported)
        found.shapes = shaped(facts, later, asked.margin)
        found.moves = moves_between(standing(before), standing(found.after), asked.margin)
    if asked.tiers:
        found.tiers = tiers(log_of(asked.log, asked.arm), asked, how)
    if asked.json:
        print(json.dumps(as_object(found), ensure_ascii=False, sort_keys=True))
    elif asked.csv:
        sys.stdout.write(_csv(before, guide))
    else:
        show(Page(), found, asked.log, asked.after, book.cuts.shown)
    return 0


def _facts(
    path: Path, asked: argparse.Namespace, how: Settings, book: GuideBook | None = None
) -> Facts:
    file = log_of(path, asked.arm)
    problems = read_problems(str(file), how.format, how.fields, "diagnose")
    if problems:
        raise DatasetError(problems)
    with progress("bytes read", file.stat().st_size) as watch:
        log = LogStream(str(file), how.format, how.fields, asked.keep_going, watch)
        entries: Iterable[Entry] = log
        if path.is_dir():
            entries = with_verdicts(log, load(path), asked.arm)
        read = entries if book is None else book.counted(entries)
        found = collected(read, how.all_phrases, Markers(how.markers), how.measure)
    return replace(found, notes=log.notes)


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

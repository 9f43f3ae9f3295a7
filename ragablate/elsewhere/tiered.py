"""The tiers over a log, as the command line asks for them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from ragablate.diagnose.tiers import TierReport, diagnose_tiers
from ragablate.diagnose.traversal import RIGHT
from ragablate.elsewhere.scoring import ruled
from ragablate.elsewhere.settings import Settings
from ragablate.errors import DatasetError
from ragablate.judge.endpoint import ChatEndpoint
from ragablate.logs import Entry, LogStream, read_log
from ragablate.logs.rows import Broken, rows
from ragablate.logs.values import as_text
from ragablate.report.page import Page

_PROGRAM = "diagnose"


def add_tier_options(parser: argparse.ArgumentParser) -> None:
    """Options of the tiers."""
    add = parser.add_argument_group("tiers").add_argument
    add("--tiers", action="store_true", help="what is suspected, by metrics of the ranking")
    add("--judge-url", default="", metavar="URL", help="endpoint that judges what metrics pass")
    add("--judge-model", default="", metavar="NAME", help="the model it knows")
    add("--judge-key-env", metavar="NAME", help="environment variable with its key")


def tiers(file: Path, asked: argparse.Namespace, how: Settings) -> TierReport:
    """What the tiers say of a log.

    Raises:
        DatasetError: The log or the corpus cannot be read, or the endpoint is half given.
        AdapterError: The library that asks is not installed.
    """
    endpoint = _endpoint(asked)
    entries: Iterable[Entry] = LogStream(str(file), how.format, how.fields, asked.keep_going)
    documents = {}
    if endpoint is not None:
        entries = read_log(str(file), how.format, how.fields, asked.keep_going).entries
        documents = {} if asked.corpus is None else _documents(asked.corpus)

    def right(entry: Entry) -> bool | None:
        score = entry.verdicts.get(how.measure)
        if score is None and entry.references:
            score = ruled(entry, how.all_phrases)
        return None if score is None else score >= RIGHT

    return diagnose_tiers(
        entries, thresholds=how.thresholds, right=right, endpoint=endpoint, documents=documents
    )


def print_tiers(page: Page, found: TierReport) -> None:
    """The report, on a page."""
    page.heading("What is suspected of each question, by tiers")
    for line in found.summary().splitlines():
        page.line(page.text(line))


def _endpoint(asked: argparse.Namespace) -> ChatEndpoint | None:
    if not asked.judge_url and not asked.judge_model:
        return None
    endpoint = ChatEndpoint(
        asked.judge_url, asked.judge_model, asked.judge_key_env, max_tokens=16,
        runtime={"retries": 1},
    )  # fmt: skip
    problems = endpoint.problems()
    if problems:
        raise DatasetError([f"{_PROGRAM} --judge-url, --judge-model: {p}" for p in problems])
    return endpoint


def _documents(path: Path) -> dict[str, str]:
    found = {}
    for _, row in rows(path, Broken(keep_going=False)):
        pid = next((row[n] for n in ("pid", "id", "_id", "doc_id") if row.get(n) is not None), None)
        text = next((as_text(row[n]) for n in ("text", "content", "body") if row.get(n)), None)
        if pid is not None and text is not None:
            found[str(pid)] = text
    if not found:
        raise DatasetError([f"{path} holds no passages: write an id and a text a line."])
    return found

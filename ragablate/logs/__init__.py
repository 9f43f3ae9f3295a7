"""Logs of somebody's pipeline, read into one shape whatever wrote them."""

from ragablate.logs.entry import Entry, GoldQuote, Log, LoggedPassage
from ragablate.logs.reading import FORMATS, read_log, read_problems
from ragablate.logs.streaming import LogStream

__all__ = [
    "FORMATS",
    "Entry",
    "GoldQuote",
    "Log",
    "LogStream",
    "LoggedPassage",
    "read_log",
    "read_problems",
]

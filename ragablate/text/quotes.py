"""Whether words that a model says it copied stand in a text."""

from __future__ import annotations

import re

MARKS = "\"“”„«»‘’'`「」"
"""Quotation marks."""
_LEFT_OUT = re.compile(rf"[·{MARKS}\u00ad\u200b-\u200f\u2060\ufeff]")


def bare(quote: str) -> str:
    """A quote without the marks and the full stop around it."""
    return quote.strip().strip(MARKS + ".").strip()


def quoted_in(quote: str, text: str) -> bool:
    """Whether a text holds a quote, but for case, white space, quotation marks and ``·``."""
    return _plain(quote) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(_LEFT_OUT.sub("", text).casefold().split())

"""Dates in running text: numeric, with month names, and in the East Asian form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# Latin names are matched as they are spelled: English and German ones are capitalised, which
# tells a month from a verb ("may 20 people").
_NAMES = (
    "January|Jan|Januar|Jänner|enero|ene|janvier|janv|يناير",
    "February|Feb|Februar|febrero|février|févr|فبراير",
    "March|Mar|März|marzo|mars|مارس",
    "April|Apr|abril|abr|avril|أبريل|ابريل|إبريل",
    "May|Mai|mayo|mai|مايو",
    "June|Jun|Juni|junio|juin|يونيو",
    "July|Jul|Juli|julio|juillet|juil|يوليو",
    "August|Aug|agosto|août|أغسطس|اغسطس",
    "September|Sept|Sep|septiembre|setiembre|septembre|سبتمبر",
    "October|Oct|Oktober|Okt|octubre|octobre|أكتوبر|اكتوبر",
    "November|Nov|noviembre|novembre|نوفمبر",
    "December|Dec|Dezember|Dez|diciembre|dic|décembre|déc|ديسمبر",
)
_MONTHS = {name: i for i, names in enumerate(_NAMES, 1) for name in names.split("|")}

Reading = tuple[int | None, int, int | None]
"""Year, month and day; without a year or without a day, never without both."""


@dataclass(frozen=True, slots=True)
class Date:
    """A day, a month of a year, or a day of a month; never a year alone."""

    start: int
    """Where it begins."""
    end: int
    """One past its end."""
    readings: tuple[Reading, ...]
    """Two where day and month cannot be told apart."""


def dates(text: str) -> Iterator[Date]:
    """The dates of ``text`` in order, without overlaps; digits must be 0 to 9."""
    for match in _pattern().finditer(text):
        readings = tuple(r for r in _readings(match) if _possible(r))
        if readings:
            yield Date(match.start(), match.end(), readings)


def _readings(match: re.Match[str]) -> list[Reading]:
    part = {name.rstrip("0123456789"): text for name, text in match.groupdict().items() if text}
    year = int(part["y"]) if "y" in part else None
    day = int(part["d"]) if "d" in part else None
    if "first" in part:
        first, second = int(part["first"]), int(part["second"])
        readings: list[Reading] = [(year, second, first)]
        if part["sep"] == "/" and first != second:
            readings.append((year, first, second))
        return readings
    month = _MONTHS.get(part["m"]) or int(part["m"])
    return [(year, month, day)]


def _possible(reading: Reading) -> bool:
    _, month, day = reading
    return 1 <= month <= 12 and (day is None or 1 <= day <= 31)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    names = "|".join(sorted(_MONTHS, key=len, reverse=True))
    month, of = rf"(?:{names})(?![^\W\d_])", r"(?:(?:of|de|del)\s+)?"
    day, year = r"\d{1,2}(?!\d)", r"\d{4}(?!\d)"
    edge = r"(?<![A-Za-z\u00c0-\u024f\d.,/-])"
    return re.compile(
        rf"{edge}(?P<y1>\d{{4}})(?P<sep1>[-/.])(?P<m1>\d{{1,2}})(?P=sep1)(?P<d1>{day})(?![-/.]\d)"
        rf"|{edge}(?P<first>\d{{1,2}})(?P<sep>[-/.])(?P<second>\d{{1,2}})(?P=sep)(?P<y2>{year})"
        rf"|(?<!\d)(?P<y3>\d{{4}})\s?年\s?(?P<m3>\d{{1,2}})\s?月(?:\s?(?P<d3>\d{{1,2}})\s?[日号號])?"
        rf"|(?<!\d)(?P<m4>\d{{1,2}})\s?月\s?(?P<d4>\d{{1,2}})\s?[日号號]"
        rf"|{edge}(?P<d5>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+{of}(?P<m5>{month})"
        rf"(?:\.?,?\s+{of}(?P<y5>{year}))?"
        rf"|(?<!\w)(?P<m6>{month})\.?\s+(?P<d6>{day})(?:st|nd|rd|th)?(?![.,]?\d)"
        rf"(?:,?\s+(?P<y6>{year}))?"
        rf"|(?<!\w)(?P<m7>{month})\.?,?\s+{of}(?P<y7>{year})"
    )

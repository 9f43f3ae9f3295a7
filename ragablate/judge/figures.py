"""The figures of a text, and what it takes to find them in another one.

A figure is a number, a percentage or a date written with digits. The digits of every script
count; digits that are part of a name (``B2``) do not. Signs and currencies are not compared,
because prose says "fell by 5 %" of what a table calls -5 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ragablate.judge.dates import Reading, dates
from ragablate.judge.numerals import HAN, SCALES, WORDS

Facts = frozenset[str]
"""What a text says in figures: values, dates and units, in one spelling."""

_PERCENT_WORDS = (
    r"per\s?cent|pct|prozent|por\s?ciento|pour\s?cents?|per\s?cento|por\s?cento"
    r"|بالمئة|بالمائة|في\s?المئة|في\s?المائة"
)
_SCALE_WORDS = "|".join(sorted(map(re.escape, SCALES), key=len, reverse=True))
_UNIT = (
    rf"(?P<percent>%|(?:{_PERCENT_WORDS})(?![^\W\d_]))"
    rf"|(?P<scale>(?:{_SCALE_WORDS})(?![A-Za-z\u00c0-\u024f\u0600-\u06ff]))"
)
_NUMBER = re.compile(
    rf"(?P<hundredth>百分之\s?)?(?<![A-Za-z\u00c0-\u024f\u0370-\u04ff\d_])(?P<value>"
    rf"\d{{1,3}}(?P<gap>[ '’\u00a0\u2009\u202f])\d{{3}}(?:(?P=gap)\d{{3}})*(?!\d)(?:[.,]\d+)?"
    rf"|\d+(?:[.,]\d+)*"
    rf"|(?<![\w.])\.\d+)"
    rf"(?:\s?(?:{_UNIT})|(?P<glued>(?-i:[kKMB]))(?![^\W_]))?",
    re.IGNORECASE,
)
_LONE = re.compile(rf"{_UNIT}|(?P<word>[^\W\d_]+)", re.IGNORECASE)
_HAN_ALONE = re.compile(f"(?<![{''.join(HAN)}])[{''.join(HAN)}](?![{''.join(HAN)}])|[千万萬亿億]")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_GLUED = {"k": (3,), "m": (6,), "b": (9,)}
_ENUMERATOR = re.compile(r"^([ \t]*)(\d{1,2})[.)](?=\s)", re.MULTILINE)
# Signs of other scripts, and letters that a case-insensitive pattern takes for ASCII ones.
_UNIFIED = {
    "٫": ".",
    "٬": ",",
    "．": ".",
    "％": "%",
    "٪": "%",
    "ſ": "s",
    "ı": "i",
    "İ": "i",
    "K": "k",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a text."""

    text: str
    """Verbatim."""
    ways: tuple[Facts, ...]
    """Each a set of facts that together show it; any one will do."""
    says: Facts
    """The facts a text states by it."""


def figures(text: str) -> list[Figure]:
    """The figures of ``text``, in order."""
    return [figure for _, figure in _scan(text)[0]]


def figures_at(text: str) -> list[tuple[int, Figure]]:
    """The figures of ``text``, in order, each with the place where it begins."""
    return _scan(text)[0]


def bulleted(text: str) -> str:
    """``text`` with dashes for the numbers of a list that counts 1, 2, … by line."""
    counted = [int(match[2]) for match in _ENUMERATOR.finditer(text)]
    if len(counted) < 2 or counted != list(range(1, len(counted) + 1)):
        return text
    return _ENUMERATOR.sub(r"\1-", text)


@lru_cache(maxsize=4096)
def facts(text: str) -> Facts:
    """Everything ``text`` says in figures, small numbers in words included."""
    found, rest = _scan(text)
    said = {fact for _, figure in found for fact in figure.says}
    for match in _LONE.finditer(rest):
        word = match[0].lower()
        if match["percent"] or word == "percentage":
            said.add("%")
        said.update(f"e{power}" for power in SCALES.get(word, ()))
        if word in WORDS:
            said.add(WORDS[word])
    for sign in _HAN_ALONE.findall(rest):
        said.update([HAN[sign]] if sign in HAN else [f"e{power}" for power in SCALES[sign]])
    return frozenset(said)


def stated(figure: Figure, said: Facts) -> bool:
    """Whether ``said`` shows ``figure``: equal value and unit, or an equal date."""
    return any(way <= said for way in figure.ways)


def unfigured(text: str) -> str:
    """``text`` with a blank in place of each figure, the month of a date included."""
    return _scan(text)[1]


def kinds(figure: Figure) -> frozenset[str]:
    """What a figure may be: a year, a date, a percentage, a number; a date with a year is both."""
    found: set[str] = set()
    for fact in frozenset().union(*figure.ways):
        if fact.count("-") == 2:
            found.add("date")
        elif fact.endswith("%"):
            found.add("percentage")
    if not found:
        found.add("number")
    plain = figure.says if found == {"date"} else frozenset().union(*figure.ways)
    if "percentage" not in found and any(_YEAR.fullmatch(fact) for fact in plain):
        found = (found - {"number"}) | {"year"}
    return frozenset(found)


def _scan(text: str) -> tuple[list[tuple[int, Figure]], str]:
    """The figures and where they begin, and the text with a blank in place of each."""
    form = text if text.isascii() else "".join(map(_ascii_sign, text))
    found: list[tuple[int, Figure]] = []
    spans: list[tuple[int, int]] = []
    for date in dates(form):
        verbatim = text[date.start : date.end]
        ways = tuple(way for reading in date.readings for way in _date_ways(reading))
        says = frozenset(f for reading in date.readings for f in _date_facts(reading))
        found.append((date.start, Figure(verbatim, ways, says)))
        spans.append((date.start, date.end))
    form = _blank(form, spans)
    spans = []
    for match in _NUMBER.finditer(form):
        found.extend((match.start(), figure) for figure in _numbers(match, text))
        spans.append(match.span())
    return sorted(found, key=lambda pair: pair[0]), _blank(form, spans)


def _ascii_sign(char: str) -> str:
    return str(int(char)) if char.isdecimal() else _UNIFIED.get(char, char)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces += [text[done:start], "\n" * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def _date_ways(reading: Reading) -> Iterator[Facts]:
    year, month, day = reading
    if year is not None and day is not None:
        yield frozenset({f"{year}-{month}-{day}"})
        yield frozenset({f"*-{month}-{day}", str(year)})
    elif day is not None:
        yield frozenset({f"*-{month}-{day}"})
    else:
        yield frozenset({f"{year}-{month}-*"})


def _date_facts(reading: Reading) -> Iterator[str]:
    year, month, day = reading
    if year is not None:
        yield from (f"{year}-{month}-*", str(year))
    if day is not None:
        yield from (f"*-{month}-{day}", str(day))
    if year is not None and day is not None:
        yield f"{year}-{month}-{day}"


def _numbers(match: re.Match[str], text: str) -> Iterator[Figure]:
    verbatim = text[match.start() : match.end()].strip()
    values = _readings(match["value"])
    if not values:
        for part in re.findall(r"\d+", match["value"]):
            yield Figure(part, (frozenset({_plain(part)}),), frozenset({_plain(part)}))
    elif match["percent"] or match["hundredth"]:
        percents = [f"{value}%" for value in values]
        ways = [*({p} for p in percents), *({value, "%"} for value in values)]
        yield Figure(verbatim, _sets(ways), frozenset([*values, *percents]))
    elif match["scale"] or match["glued"]:
        powers = (
            _GLUED[match["glued"].lower()] if match["glued"] else SCALES[match["scale"].lower()]
        )
        scaled = [_shift(value, power) for value in values for power in powers]
        loose = [{value, f"e{power}"} for value in values for power in powers]
        yield Figure(verbatim, _sets([*({s} for s in scaled), *loose]), frozenset(scaled))
    else:
        parts = re.findall(r"\d+", match["value"]) if match["gap"] == " " else []
        ways = [{value} for value in values]
        if parts:
            ways.append({_plain(part) for part in parts})
        yield Figure(verbatim, _sets(ways), frozenset([*values, *map(_plain, parts)]))


def _sets(ways: list[set[str]]) -> tuple[Facts, ...]:
    return tuple(frozenset(way) for way in ways)


def _readings(number: str) -> list[str]:
    """The values a number may have; none where it is several, such as a version.

    One separator before three digits may mark thousands or decimals. Read as decimals it
    keeps its zeros, so that ``1.000`` is not found where a text says 1.
    """
    number = re.sub("[ '’\u00a0\u2009\u202f]", "", number)
    marks = re.findall("[.,]", number)
    if not marks:
        return [_plain(number)]
    groups = re.split("[.,]", number)
    thousands = 1 <= len(groups[0]) <= 3 and groups[0] != "0"
    grouped = thousands and all(len(group) == 3 for group in groups[1:])
    if len(set(marks)) == 1:
        if grouped:
            whole = _plain("".join(groups))
            return [whole, ".".join(groups)] if len(marks) == 1 else [whole]
        return [_plain(".".join(groups))] if len(marks) == 1 else []
    body, last = groups[:-1], groups[-1]
    if thousands and marks.count(marks[-1]) == 1 and all(len(g) == 3 for g in body[1:]):
        return [_plain("".join(body) + "." + last)]
    return []


def _plain(number: str) -> str:
    whole, _, decimals = number.partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{decimals}" if decimals else "")


def _shift(number: str, power: int) -> str:
    whole, _, decimals = number.partition(".")
    decimals = decimals.ljust(power, "0")
    return _plain(f"{whole}{decimals[:power]}.{decimals[power:]}")

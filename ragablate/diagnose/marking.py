"""What an answer cites, in the way its log writes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ragablate.judge.figures import figures
from ragablate.judge.markers import find_markers, resolve, without_markers

NONE = "none"
"""Given as the only template: answers of this log do not cite."""
PLACES = ("{n}", "{pid}", "{page}")
"""What a citation marker may name: a position in the prompt from 1, a passage, a page."""

_PAGE = re.compile(
    r"[\[【](?:pages?|pp?\.|seiten?|s\.)\s*\d{1,6}(?:\s*[-–,;]\s*\d{1,6})*[\]】]", re.IGNORECASE
)
_FORMS = {
    "{n}": r"(?P<n>\d{1,4}(?:\s*[,;]\s*\d{1,4})*)",
    "{pid}": r"(?P<pid>[^\s\[\]]{1,300})",
    "{page}": r"\d{1,6}(?:\s*[-–,;]\s*\d{1,6})*",
}


@dataclass(frozen=True, slots=True)
class Cited:
    """What one answer cites."""

    any: bool
    """Whether it cites anything at all."""
    astray: tuple[str, ...]
    """What it cites that is not in the prompt."""
    figure: bool
    """Whether it states a figure, its markers apart."""


class Markers:
    """How a log's answers cite.

    Args:
        templates: Each with one of ``PLACES``, such as ``[{n}]``, ``[page {page}]``,
            ``({pid})``. None: positions and pids in brackets, in every spelling that the
            judge of citations knows, and pages. ``none`` alone: answers of this log do not
            cite. What a page holds is in no log, so a page
            never points astray.

    Raises:
        ValueError: A template has none of the places, or several.
    """

    def __init__(self, templates: Sequence[str] = ()) -> None:
        self.templates = tuple(templates)
        self.cites = self.templates != (NONE,)
        self._patterns = [_compiled(t) for t in self.templates if self.cites]

    def read(self, answer: str, shown: Sequence[str], known: Collection[str]) -> Cited:
        """What an answer cites.

        Args:
            answer: Its text.
            shown: Pids in the prompt, in its order.
            known: Every pid it could name.
        """
        if not self.cites:
            return Cited(False, (), False)
        if not self._patterns:
            return _by_rule(answer, shown, known)
        items: list[str] = []
        for place, pattern in self._patterns:
            for match in pattern.finditer(answer):
                items += _items(place, match)
            answer = pattern.sub(" ", answer)
        astray = tuple(dict.fromkeys(i for i in items if i and resolve(i, shown) is None))
        return Cited(bool(items), astray, bool(figures(answer)))


def _by_rule(answer: str, shown: Sequence[str], known: Collection[str]) -> Cited:
    if "[" not in answer and "【" not in answer and "［" not in answer:
        return Cited(False, (), bool(figures(answer)))
    rest = _PAGE.sub(" ", answer)
    items = [marker.item for marker in find_markers(rest, known)]
    astray = tuple(dict.fromkeys(i for i in items if resolve(i, shown) is None))
    said = without_markers(rest, known)
    return Cited(bool(items) or rest != answer, astray, bool(figures(said)))


def _items(place: str, match: re.Match[str]) -> list[str]:
    if place == "{n}":
        return re.split(r"\s*[,;]\s*", match["n"])
    return [match["pid"] if place == "{pid}" else ""]


def _compiled(template: str) -> tuple[str, re.Pattern[str]]:
    found = [place for place in PLACES if place in template]
    if len(found) != 1 or template.count(found[0]) != 1 or not template.replace(found[0], ""):
        raise ValueError(
            f"citation marker '{template}' must hold exactly one of {', '.join(PLACES)} "
            "and something around it, such as [{n}]"
        )
    before, _, after = template.partition(found[0])
    pattern = re.escape(before) + _FORMS[found[0]] + re.escape(after)
    return found[0], re.compile(pattern, re.IGNORECASE)

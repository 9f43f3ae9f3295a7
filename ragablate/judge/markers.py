"""Citation markers in an answer: ``[1]``, ``[2, 3]``, ``[source 4]``, ``【5】``, ``[pid]``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragablate.records import Trace
from ragablate.text.sentences import sentences

_BRACKETS = re.compile(r"[\[【［]([^\[\]【】［］]{1,300})[\]】］]")
_PREFIX = re.compile(
    r"(?:pages?|pp?\.|doc(?:ument)?s?|sources?|passages?|refs?\.?|seiten?|quellen?|nr\.|"
    r"fuentes?|来源|资料|文档|المصدر)\s*[:#]?\s*(?=\d)",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"†.*", re.DOTALL)
_SEPARATORS = re.compile(r"\s*[,;、，；،]\s*")
_RANGE = re.compile(r"(\d{1,4})\s*[-–—]\s*(\d{1,4})")
_LONGEST_RANGE = 50


@dataclass(frozen=True, slots=True)
class Marker:
    """One thing an answer cites; ``[2, 3]`` is two."""

    start: int
    """Where its brackets begin, with the white space before them."""
    end: int
    """One past its closing bracket."""
    item: str
    """What is cited, as written: ``2`` or a pid."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer without its markers."""

    text: str
    """Verbatim but for the markers."""
    items: tuple[str, ...]
    """What its markers cite, in order."""


def find_markers(text: str, pids: Collection[str] = ()) -> list[Marker]:
    """Every citation marker of ``text``, in order.

    A pair of brackets is one if all it holds, split at commas, are numbers, ranges of numbers
    or pids. A word that is one of ``pids`` but for its digits is taken for a pid that points
    nowhere. A pid with brackets in it can only be cited by number.
    """
    if not _BRACKETS.search(text):
        return []
    masks = _masks(frozenset(pids))
    found = []
    for match in _BRACKETS.finditer(text):
        items = _items(match[1].strip(), pids, masks)
        start = match.start()
        while items and start and text[start - 1] in " \t":
            start -= 1
        found += [Marker(start, match.end(), item) for item in items]
    return found


def resolve(item: str, context_pids: Sequence[str]) -> str | None:
    """The pid a marker points to, or ``None`` where it points to nothing in the context.

    A number that is a position in the context, from 1, is one; only otherwise a pid.
    """
    if item.isdecimal() and len(item) <= len(str(len(context_pids))):
        position = int(item)
        if 1 <= position <= len(context_pids):
            return context_pids[position - 1]
    return item if item in context_pids else None


def known_pids(trace: Trace) -> frozenset[str]:
    """Every pid an answer could name: those of the context and of both rankings."""
    hits = [hit.pid for hit in (*trace.candidates, *trace.retrieved)]
    return frozenset([*(p.pid for p in trace.context.passages), *hits])


def marked_pids(trace: Trace) -> frozenset[str]:
    """``known_pids`` where an answer has brackets at all; nothing elsewhere, which is quicker."""
    if trace.answer is None or not _BRACKETS.search(trace.answer.text):
        return frozenset()
    return known_pids(trace)


def cited_pids(trace: Trace) -> tuple[str, ...]:
    """The passages of the context that the answer's markers point to, as they are cited."""
    if trace.answer is None:
        return ()
    shown = [passage.pid for passage in trace.context.passages]
    cited = (resolve(m.item, shown) for m in find_markers(trace.answer.text, marked_pids(trace)))
    return tuple(dict.fromkeys(pid for pid in cited if pid is not None))


def without_markers(text: str, pids: Collection[str] = ()) -> str:
    """``text`` without its citation markers; as it is where it holds nothing else."""
    return _cut(text, find_markers(text, pids))[0].strip() or text.strip()


def statements(text: str, pids: Collection[str] = ()) -> list[Statement]:
    """The sentences of ``text``, each with what it cites.

    A marker that follows a full stop belongs to the sentence that ends there, one at the
    beginning of a line to the sentence that follows it.
    """
    markers = find_markers(text, pids)
    clean, places = _cut(text, markers)
    spans = sentences(clean)
    cited: list[list[str]] = [[] for _ in spans]
    for marker, place in zip(markers, places, strict=True):
        if spans:
            cited[_owner(clean, spans, place)].append(marker.item)
    return [
        Statement(clean[start:end], tuple(items))
        for (start, end), items in zip(spans, cited, strict=True)
    ]


def _owner(clean: str, spans: Sequence[tuple[int, int]], place: int) -> int:
    opens_line = clean[:place].rstrip(" \t").endswith("\n") or not clean[:place].strip()
    if opens_line:
        return next((i for i, (_, end) in enumerate(spans) if end > place), len(spans) - 1)
    return max((i for i, (start, _) in enumerate(spans) if start < place), default=0)


def _cut(text: str, markers: Sequence[Marker]) -> tuple[str, list[int]]:
    """``text`` without ``markers``, and where in the rest each of them was."""
    pieces: list[str] = []
    places: list[int] = []
    done = length = 0
    for marker in markers:
        if marker.start >= done:
            pieces.append(text[done : marker.start])
            length += marker.start - done
            done = marker.end
            if text[done : done + 1].isalnum():
                pieces.append(" ")
                length += 1
        places.append(length)
    pieces.append(text[done:])
    return "".join(pieces), places


def _items(content: str, pids: Collection[str], masks: Collection[str]) -> list[str]:
    if content in pids:
        return [content]
    bare = _SUFFIX.sub("", _PREFIX.sub("", content, count=1)).strip()
    items: list[str] = []
    for piece in _SEPARATORS.split(bare):
        found = _item(_PREFIX.sub("", piece, count=1), pids, masks)
        if not found:
            return []
        items.extend(found)
    return items


def _item(piece: str, pids: Collection[str], masks: Collection[str]) -> list[str]:
    if piece in pids or piece.isdecimal() or _mask(piece) in masks:
        return [piece]
    match = _RANGE.fullmatch(piece)
    if match and 0 <= int(match[2]) - int(match[1]) < _LONGEST_RANGE:
        return [str(n) for n in range(int(match[1]), int(match[2]) + 1)]
    return []


@lru_cache(maxsize=512)
def _masks(pids: frozenset[str]) -> frozenset[str]:
    return frozenset(_mask(pid) for pid in pids if any(c.isdecimal() for c in pid))


@lru_cache(maxsize=1 << 16)
def _mask(pid: str) -> str:
    return "".join("0" if c.isdecimal() else c for c in pid)

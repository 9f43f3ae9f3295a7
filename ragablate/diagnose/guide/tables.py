"""F6: passages whose structure or letters did not survive extraction."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ragablate.diagnose.guide.case import Case, Known
from ragablate.diagnose.guide.cuts import Cuts
from ragablate.diagnose.guide.decision import ERROR, REFUSED_RIGHTLY
from ragablate.diagnose.guide.finding import Evidence
from ragablate.text.scripts import HANGUL, SPACELESS

_MOJIBAKE = "[ÃÂ][\u0080-\u00bf€™œ‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜š›žŸ]|â€.?"
_SIGNS = (
    ("replacement characters", re.compile("[\ufffd\u25a1\u25af]|\\(cid:\\d+\\)")),
    ("letters read in the wrong encoding", re.compile(_MOJIBAKE)),
    ("digits inside words", re.compile(r"(?<!\w)(?:[^\W\d_]+[01358|!$][^\W\d_]+)+(?!\w)")),
    ("words without a vowel", re.compile(r"(?<![\w&'’.-])[bcdfghjklmnpqrstvwxz]{4,}(?![\w.'’-])")),
)  # fmt: skip
_WORD = re.compile(r"\S+")
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile(f"[{SPACELESS}{HANGUL}]")
_RUN = 4
_LOOSE = 6
_QUOTED = 160


def broken(cases: Sequence[Case], known: Known, cuts: Cuts) -> Iterator[Evidence]:
    """Gold passages of failed answers that hold what no extraction should leave."""
    needed: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        if case.label not in (ERROR, REFUSED_RIGHTLY):
            for pid in case.gold:
                needed[pid].append(case.qid)
    for pid, qids in sorted(needed.items()):
        share, signs, quote = damage(known.text(pid), cuts.broken_words)
        if share >= cuts.broken_share:
            says = f"{share:.0%} of the words of {pid} are damaged: {', '.join(signs)}"
            yield Evidence(
                tuple(sorted(qids)), says, (pid,), {"damaged": round(share, 3)}, (quote,)
            )


def damage(text: str, fewest: int) -> tuple[float, tuple[str, ...], str]:
    """Share of a text's words that look damaged, by which signs, and the worst stretch.

    Signs are characters that stand for none, letters read in another encoding, digits inside
    words, words of consonants alone, letters set apart, and figures in a row that no heading or
    separator tells apart, as a table leaves them. 0 for a text of fewer than ``fewest`` words.
    """
    words = [(m.start(), m[0]) for m in _WORD.finditer(text)]
    if len(words) < fewest or len(_UNSPACED.findall(text)) > len(text) / 4:
        return 0.0, (), ""
    marked: dict[int, str] = {}
    for n, (_, word) in enumerate(words):
        for name, pattern in _SIGNS:
            if pattern.search(word):
                marked.setdefault(n, name)
    for name, start, end in (*_apart(words), *_loose_figures(text, words)):
        for n in range(start, end):
            marked.setdefault(n, name)
    if not marked:
        return 0.0, (), ""
    first = words[min(marked)][0]
    signs = tuple(dict.fromkeys(marked[n] for n in sorted(marked)))
    return len(marked) / len(words), signs, text[first : first + _QUOTED]


def _apart(words: Sequence[tuple[int, str]]) -> Iterator[tuple[str, int, int]]:
    """Runs of single letters."""
    yield from (
        ("letters set apart", start, end)
        for start, end in _runs([len(w) == 1 and bool(_LETTER.match(w)) for _, w in words], _RUN)
    )


def _loose_figures(text: str, words: Sequence[tuple[int, str]]) -> Iterator[tuple[str, int, int]]:
    """Runs of figures that neither a line, a bar, a comma nor a tab tells apart."""
    bare = [re.fullmatch(r"[€$£]?[\d.,/%–-]*\d%?[€$£]?", w) is not None for _, w in words]
    for start, end in _runs(bare, _LOOSE):
        last = words[end - 1]
        stretch = text[words[start][0] : last[0] + len(last[1])]
        if not re.search(r"[|\t\n;]|, ", stretch):
            yield "figures in a row without a column", start, end


def _runs(marks: Sequence[bool], least: int) -> Iterator[tuple[int, int]]:
    start = 0
    for n, mark in enumerate([*marks, False]):
        if mark:
            continue
        if n - start >= least:
            yield start, n
        start = n + 1

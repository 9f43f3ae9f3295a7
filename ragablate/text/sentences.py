"""Where the sentences of a text are."""

from __future__ import annotations

import re

from ragablate.text.scripts import SPACELESS

_CLOSERS = r"[\"'”’»›)\]}」』）】》〉]*(?: ?\[\d+(?:[,–-] ?\d+)*\])*"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STOPS = re.compile(
    rf"(?P<wide>(?:[。！？｡]|．(?!\d))+{_CLOSERS}|[!?]+{_CLOSERS}(?=[{SPACELESS}]))"
    rf"|(?P<plain>[.!?؟۔।॥…]+{_CLOSERS})(?=\s|$)"
    r"|(?P<block>\n[ \t\r]*\n\s*|\n(?=[ \t]*(?:[-*•#|>]|\d+[.)])\s))"
)
_ABBREVIATIONS = _set(
    # English
    "mr mrs ms dr prof sr jr st mt ft gen col lt sgt capt cmdr adm rev hon pres gov sen rep "
    "vs etc eg ie cf al ed eds approx est ca inc ltd "
    "co corp dept univ assn bros ave blvd rd jan feb mar apr jun jul aug sep sept oct nov dec "
    # German, Spanish, French, Italian
    "bzw usw evtl ggf inkl str hr fr hrsg jh ing phil sog vgl zb dh ua "
    "sra srta dña ud uds aprox avda mme mlle mm av env éd sig dott ecc"
)
_STARTERS = _set(
    "the a an he she it they we you this that these those in on at as for from after before "
    "but and or when while however although his her its their there if since by with to "
    "der die das ein eine er sie es wir in im am el la los las un una le les il"
)
_MONTHS = _set(
    "januar februar märz april mai juni juli august september oktober november dezember "
    "jänner jahrhundert jahrhunderts"
)
_TITLES = _set("mr mrs ms dr prof st mt vs hr fr sra srta mme mlle")
_NUMBERED = _set("no nos nr fig figs eq vol vols p pp pág págs núm art sec ch abs bd")
_OPENERS = "([{\"“„'‘«‹¿¡「『（【《〈"
_LONGEST = 24
_NEXT_WORD = re.compile(r"\s*[\"“„'‘«(\[]*([^\W_]*)")


def sentences(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences, in order, without surrounding white space.

    Every character that is not white space is in exactly one span. Full stops of CJK end a
    sentence wherever they stand; those of other scripts (Latin, Arabic, Devanagari, …) only
    before white space and not after abbreviations, initials, ordinals or before a lower-case
    letter. A blank line, and a line that begins a list item, heading or table row, starts a
    new sentence. Citation markers after the stop, as in ``[2]``, belong to the sentence before.
    Thai, which marks no sentence ends, is cut at these only.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _STOPS.finditer(text):
        if match["plain"] and not _ends_sentence(text, start, match):
            continue
        _add(spans, text, start, match.end())
        start = match.end()
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left < len(piece):
        spans.append((start + left, start + len(piece.rstrip())))


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    follows = _NEXT_WORD.match(text, match.end())
    after = follows[1] if follows else ""
    if after[:1].islower():
        return False
    if match["plain"] != ".":
        return True
    word = _last_word(text, start, match.start())
    if word.isdigit():
        return not _is_ordinal(text[start : match.start()].strip(), word, after)
    name = word.replace(".", "").lower()
    if name in _TITLES:
        return not after
    if name in _NUMBERED:
        return not after[:1].isdigit()
    if name in _ABBREVIATIONS or _is_initials(word):
        return not after or after.lower() in _STARTERS
    return True


def _last_word(text: str, start: int, end: int) -> str:
    begin = end
    while begin > max(start, end - _LONGEST) and not _separates(text[begin - 1]):
        begin -= 1
    return text[begin:end]


def _separates(char: str) -> bool:
    return char.isspace() or char in _OPENERS


def _is_ordinal(sentence: str, word: str, after: str) -> bool:
    return sentence == word or (len(word) <= 2 and after.lower() in _MONTHS)


def _is_initials(word: str) -> bool:
    return re.fullmatch(r"(?:[^\W\d_]\.)*[^\W\d_]", word) is not None

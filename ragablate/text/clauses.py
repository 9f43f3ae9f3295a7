"""Where a sentence says two things, one after the other."""

from __future__ import annotations

import re
from functools import lru_cache

from ragablate.text.scripts import SPACELESS

_FEWEST_WORDS = 3
_FEWEST_LETTERS = 4
_LETTER = re.compile(f"[{SPACELESS}]")
# A comma and "and" also join what is listed, so a subject of its own has to follow there.
_PRONOUNS = (
    "it|he|she|they|we|you|this|these|there|es|er|sie|wir|dies|diese|ella|ello|ellos|ellas|"
    "il|elle|ils|elles|on|cela"
)
_BETWEEN = re.compile(
    rf"\s*[;；؛]\s*"
    rf"|,\s+(?:but|while|whereas|although|though|aber|während|wohingegen|pero|mientras|aunque|mais|"
    rf"tandis\s+que|alors\s+que)\s+"
    rf"|,?\s+(?:and|so|und|y|et)\s+(?=(?:{_PRONOUNS})\s)"
    rf"|\s*[，,]\s*(?:但是|但|而且|并且|並且|不过|不過|然而|同时|同時)"
    rf"|(?<=が)[、，]"
    rf"|\s*،\s*(?:ولكن|لكن|بينما|في\s+حين)\s*",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def clauses(sentence: str) -> tuple[str, ...]:
    """The clauses of one sentence, in order, each with a subject of its own as far as one can see.

    Cut at semicolons, at a comma before a word that contrasts (but, während, pero, mais, 但, لكن),
    and at "and" before a pronoun, where at least three words, or four letters of a script without
    spaces, stand on both sides; the joining word is left out. What shares its subject with the
    clause before stays with it: alone it would say nothing that can be checked.
    """
    found: list[str] = []
    start = 0
    for match in _BETWEEN.finditer(sentence):
        if _long(sentence[start : match.start()]) and _long(sentence[match.end() :]):
            found.append(sentence[start : match.start()].strip())
            start = match.end()
    return (*found, sentence[start:].strip())


def _long(piece: str) -> bool:
    return len(piece.split()) >= _FEWEST_WORDS or len(_LETTER.findall(piece)) >= _FEWEST_LETTERS

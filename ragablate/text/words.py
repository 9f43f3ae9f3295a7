"""The words of a text, for counting what two texts share."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from ragablate.text.scripts import SPACELESS, marks


def words(text: str) -> list[str]:
    """Case-folded runs of letters and digits; single letters in scripts without spaces.

    Unlike the tokens of a budget these leave punctuation and symbols out.
    """
    form = unicodedata.normalize("NFKC", text).casefold()
    return [match[0] for match in _pattern().finditer(form)]


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    m = marks()
    return re.compile(rf"(?=\w)[{SPACELESS}][{m}]*|(?:(?![{SPACELESS}])[^\W_][{m}]*)+")

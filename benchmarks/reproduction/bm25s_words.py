"""The tokenizer that bm25s has by default, as a function ``retriever.analyzer.tokenizer`` can name.

bm25s drops stop words and stems after it, as ours does: ``stopwords: lucene`` is its English
list, ``stemmer: snowball`` is PyStemmer's ``english``.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"(?u)\b\w\w+\b")


def words(text: str) -> list[str]:
    """Runs of at least two letters, digits or underscores."""
    return _WORD.findall(text)

"""Stemmers and stop word lists by language, from libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version

Stem = Callable[[str], str]

SNOWBALL = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian",
    "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
"""Snowball's algorithms by language code."""

LUCENE_STOPWORDS = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
        "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
        "these", "they", "this", "to", "was", "will", "with",
    }
)  # fmt: skip
"""The 33 English stop words of Lucene's ``EnglishAnalyzer``."""

_VOWEL_CONSONANT = re.compile(r"[aeiou][^aeiou]|[^aeiouy]y[^aeiou]|^yy[^aeiou]")


def has_snowball(language: str) -> bool:
    """Whether the installed Snowball has an algorithm for a language code."""
    from Stemmer import algorithms

    return SNOWBALL.get(language) in algorithms()


def snowball(language: str) -> Stem:
    """Snowball's stemmer of a language it has; for English that is "Porter 2"."""
    from Stemmer import Stemmer

    stem: Stem = Stemmer(SNOWBALL[language], 0).stemWord
    return stem


def porter() -> Stem:
    """The original stemmer of Porter (1980) as Lucene has it.

    That is with the departures of Porter's own implementation: words of one or two letters
    stay, and step 2 has ``bli`` → ``ble`` and ``logi`` → ``log`` (*assembly* and *assemble*,
    *ecology* and *ecologist* meet). Snowball's ``porter`` is the published
    algorithm without them.
    """
    from Stemmer import Stemmer

    published: Stem = Stemmer("porter", 0).stemWord

    def stem(word: str) -> str:
        if len(word) <= 2:
            return word
        root = published(word)
        if root.endswith("logi") and _VOWEL_CONSONANT.search(root[:-4]):
            return root[:-1]
        if root.endswith("bli") and _VOWEL_CONSONANT.search(root[:-3]):
            return published(f"{root[:-1]}e")
        return root

    return stem


def has_stopwords(language: str) -> bool:
    """Whether the package ``stop-words`` has a list for a language code."""
    from stop_words import LANGUAGE_MAPPING

    return language in LANGUAGE_MAPPING


@lru_cache(maxsize=8)
def stopwords(language: str) -> frozenset[str]:
    """The stop words of a language that ``stop-words`` has."""
    from stop_words import get_stop_words

    return frozenset(get_stop_words(language))


def release(package: str) -> str:
    """A package's name and installed version, for fingerprints."""
    return f"{package} {version(package)}"
